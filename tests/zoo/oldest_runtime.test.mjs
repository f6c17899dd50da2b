// SPDX-License-Identifier: Apache-2.0
// Every zoo model's file opens and runs in the oldest ONNX Runtime that the suite has as it does in the newest: operators and element types
// that only newer ones take are found here. scripts/runtimes looks at those between.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as oldest from 'onnxruntime-node-oldest';
import { describe, test } from 'vitest';

import { tensorProto } from './protobuf.mjs';
import { outputsOf, randomInputs, tersor, withFolder, zooInputs } from './runtime.mjs';
import { sharedFolder } from './samples.mjs';

const zoo = path.join(sharedFolder, 'zoo');
const here = existsSync(zoo);
if (!here) console.log('skipped: zoo files in the oldest runtime (TERSOR_SHARED is not here)');
const models = here ? readdirSync(zoo).filter((id) => existsSync(path.join(zoo, id, 'model.onnx'))) : [];

/** Platforms whose files are tried on a small model; int4, MatMulNBits and int16 activations are not known to the oldest runtime. */
const platforms = [...new Set(here ? JSON.parse(tersor('platforms', '--json')).map(({ name }) => name) : [])].filter(
  (name) => !['weight-only-blocks', 'ort-matmul-nbits', 'tflite-micro-16x8'].includes(name),
);

/** So far apart, as a part of the range: a code of 8 bits that rounds the other way is less, a file that is read otherwise more. */
const mostApart = 0.1;

/** The quantized file, calibrated on two random samples, and a third sample. */
function quantized(id, folder, platform, settings) {
  const model = path.join(zoo, id, 'model.onnx');
  const info = JSON.parse(tersor('inspect', model, '--json'));
  const inputs = (seed) => randomInputs(info, { ...zooInputs[`${id}/model.onnx`], seed });
  for (const seed of [1, 2]) {
    const sample = path.join(folder, 'samples', `${seed}`);
    mkdirSync(sample, { recursive: true });
    Object.entries(inputs(seed)).forEach(([name, { dims, data }], k) =>
      writeFileSync(path.join(sample, `input_${k}.pb`), tensorProto(name, { dims, data })),
    );
  }
  const output = path.join(folder, 'quantized.onnx');
  tersor('quantize', model, '--data', path.join(folder, 'samples'), '--platform', platform, ...settings, '-o', output);
  return { output, inputs: inputs(3) };
}

async function assertOpens(id, platform, ...settings) {
  await withFolder(async (folder) => {
    const { output, inputs } = quantized(id, folder, platform, settings);
    const [got, wanted] = [await outputsOf(output, inputs, { runtime: oldest }), await outputsOf(output, inputs)];
    assert.deepEqual(Object.keys(got), Object.keys(wanted));
    for (const [name, { type, dims, data }] of Object.entries(wanted)) {
      assert.equal(got[name].type, type, name);
      assert.deepEqual(got[name].dims, dims, name);
      if (type !== 'float32') continue;
      const range = data.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-3);
      const apart = data.reduce((most, value, k) => Math.max(most, Math.abs(value - got[name].data[k])), 0);
      assert(apart <= mostApart * range, `${name}: ${apart} apart, of ${range}`);
    }
  });
}

describe('zoo files in the oldest runtime', () => {
  test.skipIf(!here).each(models)('%s', (id) => assertOpens(id, 'ort-cpu'));
});

describe('files of every platform in the oldest runtime', () => {
  test.skipIf(!here).each(platforms)('mlperf-ic-resnet8 for %s', (platform) =>
    assertOpens('mlperf-ic-resnet8', platform),
  );
});

describe('packed weights in the oldest runtime', () => {
  test.skipIf(!here).each([2, 3, 4, 5, 6, 7])('mlperf-ic-resnet8 with weights of %i bits', (bits) =>
    assertOpens('mlperf-ic-resnet8', 'any', '--effort', '0', '--set', `weights_n_bits=${bits}`),
  );
});
