// SPDX-License-Identifier: Apache-2.0
// Calibration with the npm package in Chromium: 2 workers against onnxruntime-web with 2 threads that only runs the same
// samples, and against 1 worker.
import { withPages } from './pages.mjs';
import { row } from './rows.mjs';

/** Samples of one round: as many as a calibration has, or what takes a few seconds. */
const nets = {
  'mobilenet-v2': { samples: 100, bar: 1.6 },
  'resnet-50': { samples: 24, bar: 1.2 },
};

export async function benchWorkers({ root, nets: folder, names, rounds, report }) {
  return withPages({ root, nets: folder }, async (pages) => {
    const rows = [];
    for (const [name, { samples, bar }] of Object.entries(nets).filter(([one]) => names.includes(one))) {
      const ask = (call) =>
        pages.with('package_page.mjs', (page) => {
          const options = { model: `/nets/${name}.onnx`, samples, rounds };
          return page.evaluate(([which, given]) => window[which](given), [call, options]);
        });
      const threads = await ask('calibrateAgainstThreads');
      const title = `calibrating ${name} with 2 workers, Chromium, against onnxruntime-web with 2 threads only running`;
      rows.push(row(title, threads.ours, threads.theirs, bar, { note: `${samples} samples` }));
      report(rows.at(-1));
      const workers = await ask('calibrateWithOneAndTwo');
      const other = `calibrating ${name} with 2 workers, Chromium, against 1 worker`;
      rows.push(row(other, workers.ours, workers.theirs, 1.9, { note: `${samples} samples` }));
      report(rows.at(-1));
    }
    return rows;
  });
}
