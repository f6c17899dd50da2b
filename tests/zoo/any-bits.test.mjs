// SPDX-License-Identifier: Apache-2.0
// The platform any: every method with 2 to 16 bits gives a file that ONNX Runtime runs with the values of the preview, and the worked
// example of the requirement documents has the bits that it asks for.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';

import { run } from '../cli/job.mjs';
import { tersor } from './runtime.mjs';
import { sharedFolder, zooSamples } from './samples.mjs';

const ort = await import('onnxruntime-node');
const model = path.join(sharedFolder, 'zoo/mlperf-ic-resnet8/model.onnx');
const here = existsSync(model);
if (!here) console.log('skipped: any bits (TERSOR_SHARED is not here)');

const methods = ['POWER_OF_TWO', 'SYMMETRIC', 'UNIFORM', 'LUT_POT_QUANTIZER', 'LUT_SYM_QUANTIZER'];
const bits = [2, 4, 5, 7, 12, 16];

let folder = '';
let samples;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'any-bits-'));
  if (here) samples = zooSamples(sharedFolder, 'mlperf-ic-resnet8', 4);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The file, or what is said in its place. */
function quantized(...sets) {
  const output = path.join(folder, 'q.onnx');
  const settings = sets.flatMap((set) => ['--set', set]);
  const usual = ['--limit', '16', '--effort', '0', '--set', 'holdout=false', '--platform', 'any'];
  const { status, stderr } = run('quantize', model, '--data', samples.calibration, ...usual, ...settings, '-o', output);
  return status === 0 ? { output } : { refusal: stderr };
}

/** The last `count` values of a .npy file of float32. */
function floats(file, count) {
  const bytes = new Uint8Array(readFileSync(file));
  return new Float32Array(bytes.buffer.slice(bytes.length - 4 * count));
}

/** The largest difference of the runtime's probabilities from those of the preview. */
async function apart(file) {
  const out = path.join(folder, 'preview');
  rmSync(out, { recursive: true, force: true });
  tersor('run', file, '--data', samples.calibration, '--limit', '4', '--output', out);
  const session = await ort.InferenceSession.create(readFileSync(file), { intraOpNumThreads: 1, logSeverityLevel: 4 });
  let most = 0;
  for (const sample of readdirSync(out)) {
    const [result] = readdirSync(path.join(out, sample));
    const wanted = floats(path.join(out, sample, result), 10);
    const inputFile = readdirSync(samples.calibration).find((name) => name.startsWith(`${sample}.`));
    const values = floats(path.join(samples.calibration, inputFile), 32 * 32 * 3);
    const [name] = session.inputNames;
    const outputs = await session.run({ [name]: new ort.Tensor('float32', values, [1, 32, 32, 3]) });
    const got = outputs[session.outputNames[0]].data;
    got.forEach((value, k) => (most = Math.max(most, Math.abs(value - wanted[k]))));
  }
  await session.release();
  return most;
}

describe.skipIf(!here)('any bits', () => {
  for (const method of methods) {
    test(`${method}, 2 to 16 bits`, async () => {
      for (const n of bits) {
        for (const [what, ...sets] of [
          ['activations', `activation_quantization_method=${method}`, `activation_n_bits=${n}`],
          [
            'weights by channel',
            `weights_quantization_method=${method}`,
            `weights_n_bits=${n}`,
            'weights_per_channel_threshold=true',
          ],
          [
            'weights by tensor',
            `weights_quantization_method=${method}`,
            `weights_n_bits=${n}`,
            'weights_per_channel_threshold=false',
          ],
        ]) {
          const { output, refusal } = quantized(...sets);
          assert.equal(refusal, undefined, `${what} ${n}`);
          // Products of 4-bit weights, of codes of 16 bits and of weights whose channels have zero points are summed in float, in an
          // order of the runtime's own.
          const inFloat = n > 8 || n <= 4 || (method === 'UNIFORM' && what === 'weights by channel');
          const most = await apart(output);
          assert.ok(most <= (inFloat ? 0.05 : 0), `${what}, ${n} bits: ${most} apart`);
        }
      }
    });
  }

  test('the worked example of the documents has weights of 7 bits and activations of 6', async () => {
    const { output, refusal } = quantized('weights_n_bits=7', 'activation_n_bits=6');
    assert.equal(refusal, undefined);
    const graph = tersor('inspect', output, '--graph');
    const bounds = [...graph.matchAll(/_highest: u?int8\[\] \{(-?\d+)\}/g)].map(([, code]) => Number(code));
    assert.ok(bounds.length > 10 && bounds.every((code) => code === 63 || code === 31), `${bounds}`);
    assert.equal(await apart(output), 0);
  });

  test('the preset of the documents goes to this platform', () => {
    const output = path.join(folder, 'preset.onnx');
    const recipe = path.join(folder, 'recipe.json');
    tersor(
      'quantize',
      model,
      '--data',
      samples.calibration,
      '--limit',
      '16',
      '--preset',
      'requirements',
      '-o',
      output,
      '--save-recipe',
      recipe,
    );
    assert.equal(JSON.parse(readFileSync(recipe, 'utf8')).platform.name, 'any');
  });
});
