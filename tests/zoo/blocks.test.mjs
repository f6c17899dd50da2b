// SPDX-License-Identifier: Apache-2.0
// Weights in blocks, of dense layers: files of every form run in ONNX Runtime as the preview says, with samples and without, and more bits and
// smaller blocks lose less.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import * as ort from 'onnxruntime-node';

import { tersor } from './preview.mjs';
import { readNpy, sharedFolder, zooSamples } from './samples.mjs';

const id = 'mlperf-ad-autoencoder';
const model = path.join(sharedFolder, 'zoo', id, 'model.onnx');
const here = existsSync(model);
if (!here) console.log('skipped: weights in blocks (TERSOR_SHARED is not here)');

let folder = '',
  samples;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'blocks-'));
  if (here) samples = zooSamples(sharedFolder, id, 24);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const made = new Map();

/** Path of the file, made once. */
function quantized(platform, bits, size, { free = false } = {}) {
  const name = `${platform}-${bits}-${size}${free ? '-free' : ''}`;
  const output = path.join(folder, `${name}.onnx`);
  if (made.has(name)) return output;
  const data = free ? [] : ['--data', samples.calibration];
  tersor(
    'quantize',
    model,
    ...data,
    '--platform',
    platform,
    '--set',
    `weights_n_bits=${bits}`,
    '--block-size',
    `${size}`,
    '--quiet',
    '-o',
    output,
  );
  made.set(name, true);
  return output;
}

const sqnr = (file) =>
  Math.min(
    ...JSON.parse(tersor('compare', model, file, '--data', samples.folder, '--json')).outputs.map((one) => one.sqnr_db),
  );

async function assertAsPreviewed(file, most) {
  const out = mkdtempSync(path.join(folder, 'run-'));
  tersor('run', file, '--data', samples.folder, '--limit', '4', '--output', out);
  const session = await ort.InferenceSession.create(readFileSync(file), { intraOpNumThreads: 1, logSeverityLevel: 3 });
  for (const sample of readdirSync(out).sort()) {
    const [first] = readdirSync(path.join(out, sample)).sort();
    const ours = readNpy(readFileSync(path.join(out, sample, first)));
    const input = readNpy(readFileSync(path.join(samples.folder, `${sample}.npy`)));
    const shape = input.shape.length < session.inputMetadata[0].shape.length ? [1, ...input.shape] : input.shape;
    const feed = { [session.inputNames[0]]: new ort.Tensor('float32', input.data, shape) };
    const theirs = (await session.run(feed))[session.outputNames[0]].data;
    const range = theirs.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
    const apart = theirs.reduce((largest, value, k) => Math.max(largest, Math.abs(value - ours.data[k])), 0);
    assert.ok(apart <= most * range, `${sample}: ${apart} apart, of ${range}`);
  }
}

describe('weights in blocks', () => {
  // Sums of floats in the runtime's own order; an input that is rounded to 8 bits may round the other way.
  test.skipIf(!here).each([
    ['weight-only-int8', 8, 32, 1e-4],
    ['weight-only-int4', 4, 32, 1e-4],
    ['weight-only-int4', 3, 16, 1e-4],
    ['weight-only-int4', 2, 16, 1e-4],
    ['ort-matmul-nbits', 4, 32, 1e-4],
    ['ort-matmul-nbits', 8, 64, 1e-4],
    ['weight-only-blocks', 4, 32, 3e-2],
    ['weight-only-blocks', 8, 32, 3e-2],
  ])('%s, %i bits in blocks of %i: the file computes what the preview says', (platform, bits, size, most) =>
    assertAsPreviewed(quantized(platform, bits, size), most),
  );

  test.skipIf(!here)('smaller blocks, more bits and samples lose less', () => {
    const rows = [
      ['weight-only-int4', 3, 32],
      ['weight-only-int4', 4, 32],
      ['weight-only-int8', 8, 32],
    ].map((row) => sqnr(quantized(...row)));
    assert.ok(rows[0] < rows[1] && rows[1] < rows[2], `${rows}`);
    assert.ok(sqnr(quantized('weight-only-int4', 4, 16)) > sqnr(quantized('weight-only-int4', 4, 64)));
    assert.ok(rows[1] > sqnr(quantized('weight-only-int4', 4, 32, { free: true })));
  });

  test.skipIf(!here)('few bits are packed', () => {
    const bytes = (bits) => statSync(quantized('weight-only-int4', bits, 32)).size;
    assert.ok(bytes(2) < bytes(4));
  });
});
