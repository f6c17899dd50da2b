// SPDX-License-Identifier: Apache-2.0
// The platform any: every selection method with every quantizer, below, at and above a byte, and with two of the methods every number of
// bits, gives a file that ONNX Runtime runs with the values of the preview, more bits come closer to the float model, for weights and for activations apart, and the worked example of the
// requirement documents has the bits that it asks for.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';

import { run } from '../cli/job.mjs';
import { exactSums } from '../cpu.mjs';
import { wholeSuite } from '../suite.mjs';
import { tersor } from './runtime.mjs';
import { sharedFolder, zooSamples } from './samples.mjs';

const ort = await import('onnxruntime-node');
const model = path.join(sharedFolder, 'zoo/mlperf-ic-resnet8/model.onnx');
const here = existsSync(model);
if (!here) console.log('skipped: any bits (TERSOR_SHARED is not here)');

const methods = ['POWER_OF_TWO', 'SYMMETRIC', 'UNIFORM', 'LUT_POT_QUANTIZER', 'LUT_SYM_QUANTIZER'];
const selections = ['NOCLIPPING', 'MSE', 'MAE', 'KL', 'Lp'];
const bits = [2, 3, 4, 5, 6, 7, 8, 12, 16];
const compared = [2, 4, 8, 16];
const weightsByChannel = (side, yes) => (side === 'weights' ? [`weights_per_channel_threshold=${yes}`] : []);
const sides = [
  ['activations', 'activation', false],
  ['weights by channel', 'weights', true],
  ['weights by tensor', 'weights', false],
];

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
  const session = await ort.InferenceSession.create(readFileSync(file), {
    intraOpNumThreads: 1,
    logSeverityLevel: 4,
    ...exactSums,
  });
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

/** SQNR of the probabilities on the calibration samples, whose ranges hold all of their values. */
async function sqnrOf(file) {
  const options = { intraOpNumThreads: 1, logSeverityLevel: 4, ...exactSums };
  const [exact, session] = await Promise.all(
    [model, file].map((one) => ort.InferenceSession.create(readFileSync(one), options)),
  );
  let [signal, noise] = [0, 0];
  for (const name of readdirSync(samples.calibration).slice(0, 16)) {
    const values = floats(path.join(samples.calibration, name), 32 * 32 * 3);
    const feeds = { [exact.inputNames[0]]: new ort.Tensor('float32', values, [1, 32, 32, 3]) };
    const [wanted, got] = (await Promise.all([exact.run(feeds), session.run(feeds)])).map(
      (outputs, k) => outputs[[exact, session][k].outputNames[0]].data,
    );
    wanted.forEach((value, k) => {
      signal += value ** 2;
      noise += (got[k] - value) ** 2;
    });
  }
  await Promise.all([exact.release(), session.release()]);
  return 10 * Math.log10(signal / Math.max(noise, 1e-30));
}

/**
 * What is tried: each selection method with each quantizer, and per pair these sides and numbers of bits. By default every two of selection, quantizer,
 * bits and side meet at least once, as faults have stood where two of them meet; in `./scripts/test all` all four do.
 */
const pairs = selections.flatMap((selection, s) =>
  methods.map((method, m) => ({
    selection,
    method,
    tried: wholeSuite
      ? sides.flatMap((side) => bits.map((n) => ({ side, n })))
      : bits.flatMap((n, k) => ((m + k) % 5 === s ? [{ side: sides[(m + 2 * k) % 3], n }] : [])),
    curves: wholeSuite ? sides : [sides[(s + m) % 3]],
  })),
);

describe.skipIf(!here)('any bits', () => {
  for (const { selection, method, tried } of pairs)
    test(`${selection} ${method}, in ONNX Runtime as in the preview`, async () => {
      for (const {
        side: [what, side, byChannel],
        n,
      } of tried) {
        const { output, refusal } = quantized(
          `${side}_threshold_method=${selection}`,
          `${side}_quantization_method=${method}`,
          `${side}_n_bits=${n}`,
          ...weightsByChannel(side, byChannel),
        );
        assert.equal(refusal, undefined, `${what} ${n}`);
        // Products of few-bit weights, of codes of 16 bits and of weights whose channels have zero points are summed in float, in an
        // order of the runtime's own.
        const inFloat = n > 8 || n <= 4 || (method === 'UNIFORM' && what === 'weights by channel');
        const most = await apart(output);
        assert.ok(most <= (inFloat ? 0.26 : 0), `${what}, ${n} bits: ${most} apart`);
      }
    });

  for (const { selection, method, curves } of pairs)
    test(`${selection} ${method}: more bits are closer, of weights and of activations alone`, async () => {
      for (const [what, side, byChannel] of curves) {
        const other = side === 'weights' ? 'activation' : 'weights';
        const reached = [];
        for (const n of compared) {
          const { output } = quantized(
            `enable_${other}_quantization=false`,
            `${side}_threshold_method=${selection}`,
            `${side}_quantization_method=${method}`,
            `${side}_n_bits=${n}`,
            ...weightsByChannel(side, byChannel),
          );
          reached.push(await sqnrOf(output));
        }
        const text = `${what}: ${reached.map((one) => one.toFixed(1)).join(' ')}`;
        // From 8 bits on KL keeps the range of 8 bits, and what it cuts off is most of the error.
        const least = selection === 'KL' ? -0.5 : 3;
        assert.ok(reached[1] > reached[0] && reached[2] > reached[1] + 3 && reached[3] > reached[2] + least, text);
      }
    });

  test('HMSE, which needs the importance of each weight, is refused with a sentence', () => {
    for (const side of ['activation', 'weights']) {
      const { refusal } = quantized(`${side}_threshold_method=HMSE`);
      assert.match(refusal, /threshold_method is HMSE, which does not act in this/);
    }
  });

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
