// SPDX-License-Identifier: Apache-2.0
// Float outputs of every model in the zoo, `tersor run` against ONNX Runtime: equal types and shapes, whole numbers equal, floats within a
// small part of the output's range. The inputs are random numbers of the size that the model is used to: both compute the same
// function on them, whatever they mean.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'vitest';

import { tensorProto } from './protobuf.mjs';
import { outputsOf, randomInputs, tersor, withFolder } from './runtime.mjs';
import { readNpy, sharedFolder } from './samples.mjs';

/** Of the output's range. Both runtimes round float sums in orders of their own. */
const usualTolerance = 1e-5;

/** What random numbers in [-1, 1) of the declared shape are not: `scale` multiplies floats; `tolerance` where it is another. */
const models = {
  // A logarithm of sums makes much of little: both runtimes are 2e-5 away from the exact result, each in its own direction.
  'basic-pitch': { tolerance: 4e-5 },
  'cifar10-resnet20': {},
  'dtln-1': {},
  'hand-keypoint-mlp': {},
  'imagenet-mobilenetv1-025-224': {},
  'kwt-1': {},
  'magika-v3-3': {},
  'mediapipe-selfie-seg': {},
  'mlperf-ad-autoencoder': {},
  'mlperf-ic-resnet8': { scale: 128 },
  'mlperf-kws-dscnn': { scale: 50 },
  'mlperf-vww-mobilenetv1': {},
  'mnist-cntk': { scale: 128 },
  'silero-vad-16k': { sizes: { input: [1, 576] }, values: { sr: 16000n } },
  'ultraface-slim-320': {},
  'yolox-nano-416': { scale: 128 },
  'yunet-n-320': { scale: 128 },
};

/** The program's outputs, in the order of their file names. */
function ours(model, info, inputs, folder) {
  const sample = path.join(folder, 'sample');
  mkdirSync(sample);
  info.inputs.forEach(({ name }, k) => {
    const { dims, data } = inputs[name];
    writeFileSync(path.join(sample, `input_${k}.pb`), tensorProto(name, { dims, data }));
  });
  const output = path.join(folder, 'output');
  tersor('run', model, '--data', sample, '--output', output, '--threads', '1');
  const [only] = readdirSync(output);
  const files = readdirSync(path.join(output, only));
  return Object.fromEntries(files.map((file) => [file, readNpy(readFileSync(path.join(output, only, file)))]));
}

/** Largest difference as a part of the range of `want`. */
function distance(got, want) {
  let [largest, least, most] = [0, Infinity, -Infinity];
  want.forEach((value, k) => {
    largest = Math.max(largest, Math.abs(got[k] - value));
    least = Math.min(least, value);
    most = Math.max(most, value);
  });
  return largest / (most - least || 1);
}

describe.each(Object.entries(models))('%s', (id, { scale = 1, tolerance = usualTolerance, sizes, values }) => {
  const model = path.join(sharedFolder, 'zoo', id, 'model.onnx');
  const here = existsSync(model);
  if (!here) console.log(`skipped: float outputs of ${id} (TERSOR_SHARED is not here)`);

  test.skipIf(!here)('float outputs are those of ONNX Runtime', () =>
    withFolder(async (folder) => {
      const info = JSON.parse(tersor('inspect', model, '--json'));
      const inputs = randomInputs(info, { sizes, values });
      for (const { type, data } of Object.values(inputs))
        if (type === 'float32') data.forEach((value, k) => (data[k] = value * scale));
      const wanted = await outputsOf(model, inputs);
      const got = ours(model, info, inputs, folder);
      assert.equal(Object.keys(got).length, Object.keys(wanted).length);
      for (const [name, want] of Object.entries(wanted)) {
        const found = got[`${name.replace(/[^\w.-]/g, '_')}.npy`];
        assert(found, `${name} is not among ${Object.keys(got)}`);
        assert.deepEqual(found.shape, want.dims, name);
        if (want.type !== 'float32') assert.deepEqual([...found.data], [...want.data], name);
        else {
          const apart = distance(found.data, want.data);
          assert(apart <= tolerance, `${name}: ${apart} of its range`);
        }
      }
    }),
  );
});
