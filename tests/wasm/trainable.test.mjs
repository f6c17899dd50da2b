// SPDX-License-Identifier: Apache-2.0
//
// Trainable quantizers in the package: the documents' configs as values, and the methods of what they describe.
import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  MIN_THRESHOLD,
  QuantizationMethod,
  Tersor,
  THRESHOLD,
  TrainableQuantizerActivationConfig,
  TrainableQuantizerWeightsConfig,
  VariableGroup,
} from '../../wasm/dist/index.js';

let engine;
beforeAll(async () => {
  engine = await Tersor.create({ workers: 1 });
}, 60_000);
afterAll(() => engine?.close());

/** The requirement document's examples. */
const weights = new TrainableQuantizerWeightsConfig({
  weights_quantization_method: QuantizationMethod.SYMMETRIC,
  weights_n_bits: 8,
  weights_quantization_params: { [THRESHOLD]: 2.0 },
  enable_weights_quantization: true,
  weights_channels_axis: 3,
  weights_per_channel_threshold: true,
  min_threshold: MIN_THRESHOLD,
});
const activation = new TrainableQuantizerActivationConfig({
  activation_quantization_method: QuantizationMethod.UNIFORM,
  activation_n_bits: 8,
  activation_quantization_params: { [THRESHOLD]: 2.0 },
  enable_activation_quantization: true,
  min_threshold: MIN_THRESHOLD,
});

test("the documents' examples make quantizers, which round to the grid of what they become", () => {
  const quantizer = engine.trainableQuantizer({ config: weights });
  const w = Float32Array.of(0.3, -0.5, 2.5, -7, 0.011, 1.99);
  quantizer.initialize_quantization(w, [1, 1, 2, 3], 'conv1.weight');
  const step = 2 / 128;
  const wanted = [...w].map((x) => Math.min(127, Math.max(-128, Math.round(x / step))) * step);
  expect([...quantizer.call(w, true)]).toEqual(wanted);
  expect(quantizer.convert2inferable()).toEqual({
    class_name: 'WeightsSymmetricInferableQuantizer',
    config: { num_bits: 8, threshold: [2, 2, 2], per_channel: true, channel_axis: 3, input_rank: 4 },
  });
  expect(quantizer.get_config()).toMatchObject({
    quantization_config: { ...weights },
    is_weights: true,
    is_activations: false,
    freeze_quant_params: false,
  });
  const other = engine.trainableQuantizer({ config: activation });
  other.initialize_quantization(new Float32Array(0), [1, 8], 'relu1');
  expect(other.convert2inferable()).toEqual({
    class_name: 'ActivationUniformInferableQuantizer',
    config: { num_bits: 8, min_range: -2, max_range: 2 },
  });
});

test('a threshold learns in the page', () => {
  const quantizer = engine.trainableQuantizer({
    identifier: 'LSQ',
    config: {
      activation_quantization_method: 'SYMMETRIC',
      activation_n_bits: 4,
      activation_quantization_params: { threshold: 3 },
    },
  });
  const x = Float32Array.from({ length: 1000 }, (_, k) => Math.sin(0.7 * k));
  quantizer.initialize_quantization(x, [1, 1000], 'x');
  const error = () => quantizer.call(x, true).reduce((sum, y, k) => sum + (y - x[k]) ** 2, 0);
  const [threshold] = quantizer.get_trainable_variables(VariableGroup.QPARAMS);
  expect(threshold).toMatchObject({ name: 'x/threshold', group: 'QPARAMS' });
  expect(quantizer.get_trainable_variables(VariableGroup.WEIGHTS)).toEqual([]);
  const before = error();
  for (let step = 0; step < 200; step++) {
    const by = quantizer.call(x, true).map((y, k) => 2 * (y - x[k]));
    threshold.gradient.fill(0);
    const byInput = quantizer.gradient(x, by);
    expect(byInput.length).toBe(1000);
    threshold.value[0] -= 0.5 * threshold.gradient[0];
  }
  expect(error()).toBeLessThan(0.5 * before);
  expect(quantizer.convert2inferable().config.threshold).toBeCloseTo(threshold.value[0], 6);
});

test('soft rounding starts at the weights and ends on the grid', () => {
  const quantizer = engine.trainableQuantizer({ identifier: 'SOFT', config: weights });
  const w = Float32Array.of(0.3, -0.51, 1.2);
  quantizer.initialize_quantization(w, [1, 1, 1, 3], 'w');
  const soft = quantizer.call(w, true);
  for (const [k, x] of w.entries()) expect(soft[k]).toBeCloseTo(x, 5);
  for (const y of quantizer.call(w, false)) expect(y * 64).toBe(Math.round(y * 64));
  expect(quantizer.get_trainable_variables('WEIGHTS')[0].value.length).toBe(3);
});

test('what does not fit is a sentence with a place', () => {
  const refusal = (act) => {
    try {
      act();
    } catch (error) {
      return error;
    }
    throw new Error('Nothing was refused.');
  };
  const of = (config, more) => refusal(() => engine.trainableQuantizer({ config, ...more }));
  expect(of(activation, { identifier: 'SOFT' }).message).toBe(
    'There is no quantizer for Activation, UNIFORM and SOFT.',
  );
  expect(of({ ...weights, weights_n_bits: 1 })).toMatchObject({ code: 'invalid_config', place: 'weights_n_bits' });
  expect(of({ ...weights, weight_n_bits: 8 }).hint).toMatch('Did you mean "weights_n_bits"?');
  expect(of(weights, { identifer: 'LSQ' }).hint).toMatch('Did you mean "identifier"?');
  const quantizer = engine.trainableQuantizer({ config: weights });
  expect(refusal(() => quantizer.call(new Float32Array(1), true)).message).toMatch('before initialize_quantization');
  expect(refusal(() => quantizer.initialize_quantization(new Float32Array(2), [1, 1, 1, 3], 'w')).message).toMatch(
    '1x1x1x3',
  );
  expect(refusal(() => quantizer.call([1, 2], true))).toMatchObject({ place: 'inputs' });
});

test('the light engine has none, and says so', async () => {
  const light = await Tersor.create({ workers: 1, light: true });
  expect(() => light.trainableQuantizer({ config: weights })).toThrow(/light/);
  light.close();
});
