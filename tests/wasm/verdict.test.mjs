// SPDX-License-Identifier: Apache-2.0
//
// Mistakes that no quantizer can mend, made with the demo: the verdict says that they are the cause, and is no better than "with care".
// Networks made to collapse are in tests/job/collapse_test.cpp.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Tersor } from '../../wasm/dist/index.js';
import { npy } from '../browser/files.mjs';
import { perceptron, waves } from '../zoo/protobuf.mjs';
import { demo, demoFiles } from './jobs.mjs';

let tersor, model;
beforeAll(async () => {
  tersor = await Tersor.create({ workers: 2 });
  model = await tersor.open(readFileSync(demo.model));
}, 60_000);
afterAll(() => tersor?.close());

/** The verdict on the demo with these files, prepared so for calibration and for evaluation. */
async function verdict(files, preprocessing) {
  const calibration = { preprocessing, selection: { part: 'calibration', count: 40 } };
  const statistics = await model.calibrate(files, calibration);
  const made = await model.quantize({ ...calibration, statistics });
  const evaluation = { preprocessing, selection: { part: 'evaluation', count: 80 } };
  const reference = await model.evaluate(files, 'folders', evaluation);
  await made.evaluate(files, 'folders', { ...evaluation, reference });
  await made.compare(files, { ...evaluation, limit: 16 });
  return made.report.verdict;
}

test('as it should be, nothing is blamed', async () => {
  const { usability, causes } = await verdict(demoFiles(), demo.preprocessing);
  expect(usability).toBe('usable');
  expect(causes).toEqual([]);
});

test('labels that are off by one are named', async () => {
  const folders = [...new Set(demoFiles().map((file) => file.path.split('/').at(-2)))].sort();
  const files = demoFiles().filter((file) => file.path.split('/').at(-2) !== folders.at(-1));
  const { usability, causes } = await verdict(files, { ...demo.preprocessing, label_offset: 1 });
  expect(usability).toBe('usable with care');
  expect(causes[0]).toMatch(/labels are off by one.*label_offset/);
});

test.each([
  ['pixels left at 0 to 255', { scale: 1, mean: [0], std: [1] }],
  ['pixels all but gone', { scale: 1e-4 / 255, mean: [0], std: [1] }],
])('wrong preprocessing is named: %s', async (_, wrong) => {
  const { usability, causes } = await verdict(demoFiles(), { ...demo.preprocessing, ...wrong });
  expect(usability).not.toBe('usable');
  expect(causes.join('\n')).toMatch(/preprocessing/);
});

test('a preprocessing that nobody said is named in the verdict, until somebody does', async () => {
  const files = demoFiles()
    .filter(({ path: name }) => name.endsWith('.png'))
    .filter((_, k) => k % 20 === 0)
    .map(({ data }, k) => ({ path: `${100 + k}.png`, data }));
  const guessed = /^How pictures become tensors is a guess/;
  const made = await model.quantize({ samples: files });
  await made.compare(files, { limit: 4 });
  expect(made.report.diagnostics.map(({ code }) => code)).toContain('preprocessing_guessed');
  expect(made.report.verdict.cautions.some((one) => guessed.test(one))).toBe(true);
  await made.compare(files, { limit: 4, preprocessing: demo.preprocessing });
  expect(made.report.diagnostics.map(({ code }) => code)).not.toContain('preprocessing_guessed');
  expect(made.report.verdict.cautions.some((one) => guessed.test(one))).toBe(false);
  made.close();
});

test('a file that is no smaller and not expected to run faster is not worth it', async () => {
  const tiny = await tersor.open(perceptron(1));
  const rows = [{ path: 'rows.npy', data: npy(waves(3, 6 * 12), [12, 6]) }];
  const made = await tiny.quantize({ samples: rows });
  await made.compare(rows);
  const { usability, reason, causes } = made.report.verdict;
  expect(usability).toBe('not worth it');
  expect(reason).toMatch(/^The file has \d\.\d of 0\.\d kB and is not expected to run faster/);
  expect(causes[0]).toMatch(/keep the float model/);
});
