// SPDX-License-Identifier: Apache-2.0
// Calibration with the npm package in Chromium: 2 workers against onnxruntime-web with 2 threads that only runs the same
// samples, and against 1 worker, whose row says what two native processes make of the same machine. Whole jobs by default in
// the tab against the program's with as many threads, and against 1 worker.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { npyBytes } from '../zoo/samples.mjs';
import { engineProgram, twoAgainstOne } from './engine_process.mjs';
import { withPages } from './pages.mjs';
import { row } from './rows.mjs';
import { sample } from './sample.mjs';

/** Samples of one round: as many as a calibration has, or what takes a few seconds. */
const nets = {
  'mobilenet-v2': { samples: 100, bar: 1.6, onPhotographs: true, whole: true },
  'resnet-50': { samples: 24, bar: 1.2 },
};

/** The page's samples (package_page.mjs) as files. */
function samplesAsFiles(folder, count) {
  mkdirSync(folder, { recursive: true });
  const dims = [1, 3, 224, 224];
  for (let k = 0; k < count; ++k) {
    const values = sample(dims.reduce((a, b) => a * b));
    values[k] += 1;
    writeFileSync(path.join(folder, `${String(k).padStart(3, '0')}.npy`), npyBytes(values, dims));
  }
  return folder;
}

/** Rows of whole jobs: milliseconds in the tab with two workers, with one, and of the program with two threads, in turns. */
async function wholeJobs(name, samples, rounds, ask, { root, folder }) {
  const data = samplesAsFiles(path.join(folder, 'samples-tab'), samples);
  const model = path.join(folder, `${name}.onnx`);
  const job = ['quantize', model, '--data', data, '--threads', '2', '-o', path.join(folder, `${name}.tab.onnx`)];
  const [two, one, program] = [[], [], []];
  for (let k = 0; k < Math.min(rounds, 3); ++k) {
    two.push(await ask('wholeJob', { workers: 2 }));
    const begun = performance.now();
    execFileSync(path.join(root, 'build/native/bin/tersor'), [...job, '--quiet']);
    program.push(performance.now() - begun);
    one.push(await ask('wholeJob', { workers: 1 }));
  }
  const note = `${samples} samples`;
  return [
    row(`whole job of ${name} in the tab, 2 workers, against the program with 2 threads`, two, program, 0.67, { note }),
    row(`whole job of ${name} in the tab, 2 workers, against 1 worker`, two, one, 1.85, { note }),
  ];
}

export async function benchWorkers({ root, nets: folder, names, rounds, report }) {
  return withPages({ root, nets: folder }, async (pages) => {
    const rows = [];
    for (const [name, { samples, bar, onPhotographs, whole }] of Object.entries(nets).filter(([one]) =>
      names.includes(one),
    )) {
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
      if (whole)
        for (const one of await wholeJobs(name, samples, rounds, ask, { root, folder })) (rows.push(one), report(one));
    }
    return rows;
  });
}
