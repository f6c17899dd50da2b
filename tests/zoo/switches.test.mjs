// SPDX-License-Identifier: Apache-2.0
// Any two steps of the default recipe switched off, on models of the zoo: a file, numbers that are numbers, and a report that says what
// was left out.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';

import { makeSamples, sharedFolder } from './samples.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const program = path.join(root, 'build/native/bin/tersor');
const here = existsSync(path.join(sharedFolder, 'zoo'));
if (!here) console.log('skipped: steps switched off (TERSOR_SHARED is not here)');

const models = ['mlperf-ic-resnet8', 'mlperf-kws-dscnn', 'mlperf-ad-autoencoder', 'mnist-cntk'];
const steps = [
  'keep_float_automatically',
  'split_scales',
  'activation_channel_equalization',
  'weights_bias_correction',
];
const pairs = steps.flatMap((a, k) => steps.slice(k + 1).map((b) => [a, b]));

let folder = '';
beforeAll(() => (folder = mkdtempSync(path.join(tmpdir(), 'switches-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The report of a model quantized with 32 samples and those steps off. */
function report(id, off) {
  const file = path.join(folder, 'report.json');
  const data = path.join(makeSamples(sharedFolder, id), 'calib');
  const switches = off.flatMap((field) => ['--set', `${field}=false`]);
  const args = ['--data', data, '--limit', '32', '-o', path.join(folder, 'out.onnx'), '--report', file, ...switches];
  execFileSync(program, ['quantize', path.join(sharedFolder, 'zoo', id, 'model.onnx'), ...args], { stdio: 'pipe' });
  return JSON.parse(readFileSync(file, 'utf8'));
}

const leftOut = (made) =>
  made.corrections.filter((one) => one.gained.startsWith('Switched off: ')).map((one) => one.name);

/** The lowest SQNR among the model's outputs. */
const sqnr = (made) => Math.min(...made.comparison.outputs.map((one) => one.sqnr_db));

for (const id of models) {
  test.skipIf(!here)(`${id}: any two steps may be off, and the report says which`, () => {
    const whole = report(id, []);
    assert.deepEqual(leftOut(whole), []);
    for (const pair of pairs) {
      const made = report(id, pair);
      assert.deepEqual(leftOut(made), pair);
      for (const one of made.corrections) assert.equal(pair.includes(one.name), one.places === 0, one.name);
      assert.ok(Number.isFinite(sqnr(made)), `${pair}: ${sqnr(made)} dB`);
      assert.ok(sqnr(made) > sqnr(whole) - 15 && sqnr(made) > 10, `${pair}: ${sqnr(made)} dB, with all ${sqnr(whole)}`);
      assert.notEqual(made.verdict, null);
    }
  });
}
