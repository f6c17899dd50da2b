// SPDX-License-Identifier: Apache-2.0
// Bits within a budget on real models: the budget holds, the result is better than one number of bits for all, ONNX Runtime runs the
// file as the preview does, and --accuracy, --sqnr and tradeoff find what they are asked for.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';

import { run } from '../cli/job.mjs';
import { assertPreviewed } from './preview.mjs';
import { tersor } from './runtime.mjs';
import { sharedFolder, zooSamples } from './samples.mjs';

const here = existsSync(path.join(sharedFolder, 'zoo'));
if (!here) console.log('skipped: budgets (TERSOR_SHARED is not here)');
const models = ['mlperf-ic-resnet8', 'mlperf-kws-dscnn', 'mlperf-vww-mobilenetv1'];
const modelOf = (name) => path.join(sharedFolder, 'zoo', name, 'model.onnx');

let folder = '';
beforeAll(() => (folder = mkdtempSync(path.join(tmpdir(), 'budget-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function quantized(name, ...options) {
  const output = path.join(folder, 'q.onnx');
  const { calibration } = zooSamples(sharedFolder, name, 64);
  const text = tersor('quantize', modelOf(name), '--data', calibration, ...options, '--json', '-o', output);
  return { output, ...JSON.parse(text) };
}

/** SQNR of the outputs on samples that calibration has not seen. */
function sqnr(name, file) {
  const { folder: unseen } = zooSamples(sharedFolder, name, 64);
  const options = ['--metric', 'answers', '--reference', modelOf(name), '--json'];
  return JSON.parse(tersor('evaluate', file, '--data', unseen, ...options)).output_sqnr_db;
}

describe.skipIf(!here)('budgets', () => {
  test('weights within 60 % of their 8-bit size are better than 4 bits for all, by 3 dB on average', () => {
    const gains = models.map((name) => {
      const whole = quantized(name, '--platform', 'any', '--weights-memory', '1GB').trial.bits.taken.weights_memory;
      const { output, trial } = quantized(name, '--platform', 'any', '--weights-memory', String(0.6 * whole));
      assert.ok(trial.bits.taken.weights_memory <= 0.6 * whole);
      assert.equal(trial.bits.gap, 0);
      const within = sqnr(name, output);
      return within - sqnr(name, quantized(name, '--platform', 'any', '--set', 'weights_n_bits=4').output);
    });
    const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
    assert.ok(mean > 3, `${gains}`);
  });

  test('activations and bit operations are kept within their budgets, on the tables of IMX500 too', () => {
    for (const platform of ['any', 'imx500@v3']) {
      const free = quantized(models[0], '--platform', platform, '--bops', '1e15').trial.bits;
      const { trial } = quantized(models[0], '--platform', platform, '--bops', String(0.6 * free.taken.bops));
      assert.ok(trial.bits.taken.bops <= 0.6 * free.taken.bops);
      const used = new Set(trial.bits.operators.map(({ candidates, chosen }) => candidates[chosen].weights_n_bits));
      assert.ok(used.size > 1, `${[...used]}`);
    }
  });

  test('bit operations and activations are those that a count by hand has', () => {
    // Multiply-adds by hand, times 8 bits by 8; the largest step reads and writes 64 channels of 25 x 5 (DS-CNN) or 8 and 16 of 48 x 48.
    for (const [name, products, activations] of [
      ['mlperf-kws-dscnn', 2_656_768, 16_000],
      ['mlperf-vww-mobilenetv1', 7_489_664, 55_296],
    ]) {
      const { taken } = quantized(name, '--platform', 'any', '--bops', '1e15', '--effort', '0').trial.bits;
      assert.equal(taken.bops, 64 * products);
      assert.equal(taken.activation_memory, activations);
    }
  });

  test('the smallest file that is good enough, and a sentence where none is', () => {
    const { output, trial } = quantized(models[0], '--platform', 'any', '--sqnr', '20');
    const { taken, most } = trial.bits;
    assert.ok(taken.weights_memory < 0.8 * most.weights_memory, `${taken.weights_memory}`);
    assert.ok(sqnr(models[0], output) > 18);
    const { calibration } = zooSamples(sharedFolder, models[0], 64);
    const none = run(
      'quantize',
      modelOf(models[0]),
      '--data',
      calibration,
      '--sqnr',
      '90',
      '--platform',
      'any',
      '-o',
      output,
    );
    assert.equal(none.status, 1);
    assert.match(none.stderr, /--sqnr: No choice is as good as that: .* SQNR of \d+\.\d+ dB/);
    const unlabelled = run('quantize', modelOf(models[0]), '--data', calibration, '--accuracy', '1', '-o', output);
    assert.match(unlabelled.stderr, /There are no labels/);
  });

  test('a budget in bytes of the file is kept and nearly used up, and a sentence says where it cannot be', () => {
    const { calibration } = zooSamples(sharedFolder, models[0], 64);
    const bytes = (bits) => quantized(models[0], '--platform', 'any', '--set', `weights_n_bits=${bits}`).size_bytes;
    const [two, four, eight] = [2, 4, 8].map(bytes);
    for (const asked of [(two + four) / 2, (four + eight) / 2]) {
      const { size_bytes, weights, aim } = quantized(models[0], '--platform', 'any', '--file-size', String(asked));
      assert.ok(size_bytes <= asked && size_bytes > 0.9 * asked, `${size_bytes} of ${asked}`);
      assert.ok(weights.bytes_in_file < 1.1 * weights.bytes_of_their_bits, JSON.stringify(weights));
      assert.match(aim, /of at most .* is met/);
    }
    const device = quantized(models[0], '--platform', 'imx500', '--set', 'weights_n_bits=2', '--bops', '1e15');
    assert.ok(device.weights.bytes_in_file > 1.5 * device.weights.bytes_of_their_bits, JSON.stringify(device.weights));
    for (const [platform, size, said] of [
      ['any', 0.8 * two, /--file-size: With the fewest bits that the platform offers the file still has \d/],
      ['ort-cpu', two, /--file-size: The platform offers no fewer bits/],
    ]) {
      const options = ['--file-size', String(size), '--platform', platform, '-o', path.join(folder, 'none.onnx')];
      const none = run('quantize', modelOf(models[0]), '--data', calibration, ...options);
      assert.equal(none.status, 1);
      assert.match(none.stderr, said);
    }
  });

  test('the curve has a recipe for each point that makes the same file again', () => {
    const { calibration } = zooSamples(sharedFolder, models[0], 64);
    const curve = path.join(folder, 'curve.json');
    tersor('tradeoff', modelOf(models[0]), '--data', calibration, '--platform', 'imx500', '--points', '3', '-o', curve);
    const { resource, points } = JSON.parse(readFileSync(curve, 'utf8'));
    assert.equal(resource, 'weights_memory');
    assert.equal(points.length, 3);
    assert.ok(points[0].output_sqnr_db < points[2].output_sqnr_db);
    for (const platform of ['any', 'ort-cpu']) {
      const command = ['tradeoff', modelOf(models[1]), '--data', zooSamples(sharedFolder, models[1], 64).calibration];
      const { points: rising } = JSON.parse(tersor(...command, '--platform', platform, '--points', '4', '--json'));
      const decibels = rising.map(({ output_sqnr_db }) => output_sqnr_db ?? Infinity);
      assert.deepEqual(
        decibels,
        [...decibels].sort((a, b) => a - b),
        platform,
      );
    }
    const recipe = path.join(folder, 'recipe.json');
    assert.equal(points[1].recipe.format, 'tersor-recipe');
    writeFileSync(recipe, JSON.stringify(points[1].recipe));
    const { size_bytes } = quantized(models[0], '--recipe', recipe);
    assert.equal(size_bytes, points[1].size_bytes);
  });

  test('ONNX Runtime computes what the preview does', async () => {
    const { output } = quantized(
      models[0],
      '--platform',
      'any',
      '--weights-memory',
      '60kB',
      '--set',
      'mixed_precision_config={"weights_n_bits":[8,5]}',
    );
    await assertPreviewed(output, zooSamples(sharedFolder, models[0], 4), 'weights of 8 and 5 bits');
  });
});
