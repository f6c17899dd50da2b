// SPDX-License-Identifier: Apache-2.0
// Calibration with the npm package in Chromium: 2 workers against onnxruntime-web with 2 threads that only runs the same
// samples, and against 1 worker, whose row says what two native processes make of the same machine.
import path from 'node:path';

import { engineProgram, twoAgainstOne } from './engine_process.mjs';
import { withPages } from './pages.mjs';
import { row } from './rows.mjs';

/** Samples of one round: as many as a calibration has, or what takes a few seconds. */
const nets = {
  'mobilenet-v2': { samples: 100, bar: 1.6, onPhotographs: true },
  'resnet-50': { samples: 24, bar: 1.2 },
};

export async function benchWorkers({ root, nets: folder, names, rounds, report }) {
  return withPages({ root, nets: folder }, async (pages) => {
    const rows = [];
    for (const [name, { samples, bar, onPhotographs }] of Object.entries(nets).filter(([one]) => names.includes(one))) {
      const ask = (call, more = {}) =>
        pages.with('package_page.mjs', (page) => {
          const options = { model: `/nets/${name}.onnx`, samples, rounds, ...more };
          return page.evaluate(([which, given]) => window[which](given), [call, options]);
        });
      const threads = await ask('calibrateAgainstThreads');
      const title = `calibrating ${name} with 2 workers, Chromium, against onnxruntime-web with 2 threads only running`;
      rows.push(row(title, threads.ours, threads.theirs, bar, { note: `${samples} samples` }));
      report(rows.at(-1));
      if (onPhotographs) {
        const pictures = await ask('calibrateWithOneAndTwo', { asPhotographs: true });
        const third = `calibrating ${name} on photographs with 2 workers, Chromium, against 1 worker`;
        rows.push(row(third, pictures.ours, pictures.theirs, 1.9, { note: `${samples} JPEG files of 500x375` }));
        report(rows.at(-1));
      }
      const workers = await ask('calibrateWithOneAndTwo');
      const other = `calibrating ${name} with 2 workers, Chromium, against 1 worker`;
      const model = path.join(folder, `${name}.onnx`);
      const bound = await twoAgainstOne(engineProgram(root), model, 'observe', { runs: samples / 2, rounds });
      const note = `${samples} samples; two native processes that share nothing: ${bound.toFixed(2)}x`;
      rows.push(row(other, workers.ours, workers.theirs, 1.9, { note }));
      report(rows.at(-1));
    }
    return rows;
  });
}
