// SPDX-License-Identifier: Apache-2.0
// ResNet20 as Sony's MCT quantized it (a recording of a real run): from our own calibration on the same pictures every activation
// gets the recorded threshold, and no channel of a weight is rounded worse than with the recorded one.
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, test } from 'vitest';

import { initializersOf } from './protobuf.mjs';
import { tersor, withFolder } from './runtime.mjs';
import { makeSamples, sharedFolder } from './samples.mjs';

const model = path.join(sharedFolder, 'zoo/cifar10-resnet20/model.onnx');
const recording = path.join(sharedFolder, 'spec/mct_oracle.json');
const here = existsSync(model) && existsSync(recording);
if (!here) console.log('skipped: thresholds of ResNet20 (TERSOR_SHARED is not here)');

const roundHalfEven = (x) => {
  const nearest = Math.round(x);
  return nearest - x === 0.5 && nearest % 2 !== 0 ? nearest - 1 : nearest;
};

/** Squared error of weights on the signed 8-bit grid of a threshold. */
function squaredError(weights, threshold) {
  const scale = threshold / 128;
  let sum = 0;
  for (const weight of weights)
    sum += (weight - Math.max(-128, Math.min(127, roundHalfEven(weight / scale))) * scale) ** 2;
  return sum;
}

describe.skipIf(!here)('ResNet20 on imx500 with the settings of the recording', () => {
  let recorded, quantized, float;
  const named = (suffix) => quantized.filter(({ name }) => name.endsWith(suffix));

  beforeAll(() =>
    withFolder((folder) => {
      recorded = JSON.parse(readFileSync(recording, 'utf8')).model;
      const samples = path.join(folder, 'samples');
      mkdirSync(samples);
      const all = path.join(makeSamples(sharedFolder, 'cifar10-resnet20'), 'calib');
      for (const name of readdirSync(all).sort().slice(0, 64))
        copyFileSync(path.join(all, name), path.join(samples, name));
      const made = path.join(folder, 'made.onnx');
      const settings = ['--preset', 'requirements', '--set', 'weights_quantization_method=SYMMETRIC'];
      tersor('quantize', model, '--data', samples, '--platform', 'imx500@v1', ...settings, '-o', made);
      quantized = initializersOf(readFileSync(made));
      float = initializersOf(readFileSync(model));
    }),
  );

  test('every activation has the recorded threshold', () => {
    const zeroPoints = new Map(named('_zero_point').map(({ name, data }) => [name, data[0]]));
    const ours = named('_scale')
      .filter(({ name, dims }) => dims.length === 0 && !name.includes('/Slice')) // which MCT has inside the Add
      .map(({ name, data }) => {
        const signed = zeroPoints.get(name.replace(/_scale$/, '_zero_point')) === 128;
        return { signed, threshold: data[0] * (signed ? 128 : 256) };
      });
    const theirs = recorded.activations.map((one) => ({ signed: one.signed, threshold: one.default_threshold }));
    assert.equal(ours.length, 31);
    assert.deepEqual(ours, theirs);
  });

  test('no channel is rounded worse than with the recorded threshold', () => {
    const scales = named('_scale').filter(({ dims }) => dims.length === 1);
    assert.equal(scales.length, recorded.weights.length);
    let channels = 0;
    recorded.weights.forEach((theirs, k) => {
      const { name, dims, data } = scales[k];
      const weight = float.find((one) => `${one.name}_scale` === name);
      assert.deepEqual(weight.dims, theirs.shape);
      const length = weight.data.length / dims[0];
      theirs.default_threshold.flat(Infinity).forEach((threshold, channel) => {
        const row = weight.data.subarray(channel * length, (channel + 1) * length);
        const [own, other] = [128 * data[channel], threshold].map((one) => squaredError(row, one));
        assert.ok(own <= other * (1 + 1e-6), `${theirs.name}, channel ${channel}: ${own} against ${other}`);
        ++channels;
      });
    });
    assert.equal(channels, 698);
  });
});
