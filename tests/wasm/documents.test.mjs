// SPDX-License-Identifier: Apache-2.0
//
// The code blocks of the requirement documents, as near to word for word as JavaScript and ONNX allow, each to a file.
// tests/python/requirements_test.py and tests/job/documents_test.cpp are the same in Python and C++; docs/requirements.md
// has the blocks beside each other.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  FrameworkInfo,
  LastValueQuantizer,
  MIN_THRESHOLD,
  MovingAverageQuantizer,
  QuantizationConfig,
  QuantizationMethod,
  Tersor,
  THRESHOLD,
  ThresholdSelectionMethod,
  TrainableQuantizerActivationConfig,
  TrainableQuantizerWeightsConfig,
} from '../../wasm/dist/index.js';

const demo = path.resolve(import.meta.dirname, '../../web/public/demo/model.onnx');
/** Its Gemm. */
const dense = 'classifier';

let engine, model, samples;
beforeAll(async () => {
  engine = await Tersor.create({ workers: 1 });
  model = await engine.open(readFileSync(demo));
  const [{ name, shape }] = model.info.inputs;
  const length = shape.slice(1).reduce((a, b) => a * b, 1);
  samples = Array.from({ length: 6 }, (_, k) => ({
    [name]: Float32Array.from({ length }, (_, i) => Math.sin(0.37 * i * (k + 1))),
  }));
}, 60_000);
afterAll(() => engine?.close());

const quantize = (options) => model.quantize({ samples, ...options });
const sameBytes = (a, b) => Buffer.from(a.model).equals(b.model);
const quick = { effort: 0, holdout: false };

test('quantization_config: the example, with the defaults of the document', async () => {
  const qc = new QuantizationConfig({
    activation_n_bits: 6,
    weights_n_bits: 7,
    activation_quantization_method: QuantizationMethod.SYMMETRIC_UNIFORM,
    weights_quantization_method: QuantizationMethod.SYMMETRIC_UNIFORM,
    weights_threshold_method: ThresholdSelectionMethod.MSE,
    activation_threshold_method: ThresholdSelectionMethod.NOCLIPPING,
    relu_unbound_correction: true,
    weights_bias_correction: true,
    weights_per_channel_threshold: true,
  });
  const made = await quantize({ config: qc });
  expect(made.recipe.platform.name).toBe('any');
  expect(made.recipe.quantization_config).toMatchObject({ activation_n_bits: 6, weights_n_bits: 7, effort: 0 });
  const plain = { ...qc };
  expect(Object.keys(plain)).toHaveLength(9);
  expect(sameBytes(made, await quantize({ config: plain, preset: 'requirements' }))).toBe(true);
  expect(sameBytes(made, await quantize({ config: plain, platform: 'any' }))).toBe(false);
});

test("a QuantizationConfig has the document's defaults, a plain object changes ours", async () => {
  const usual = new QuantizationConfig();
  expect([usual.activation_threshold_method, usual.activation_n_bits, usual.z_threshold]).toEqual(['MSE', 8, Infinity]);
  expect([usual.min_threshold, usual.activation_channel_equalization]).toEqual([MIN_THRESHOLD, false]);
  const { quantization_config: documented } = (await quantize({ config: usual, platform: 'imx500' })).recipe;
  // what the platform decides is the platform's
  expect(documented).toMatchObject({ activation_n_bits: null, weights_quantization_method: null, effort: 0 });
  expect(documented.activation_threshold_method).toBe('MSE');
  const { quantization_config: ours } = (await quantize({ config: quick, platform: 'imx500' })).recipe;
  expect(ours.activation_channel_equalization).not.toBe(documented.activation_channel_equalization);
  const four = new QuantizationConfig({ weights_n_bits: 4, z_threshold: Infinity });
  expect((await quantize({ config: four, platform: 'imx500' })).recipe.quantization_config.weights_n_bits).toBe(4);
});

test('framework_info: each example, and what it makes of the file', async () => {
  const made = async (info) => quantize({ platform: 'any', config: quick, frameworkInfo: info });
  const kernel_ops = ['Conv'];
  const kernel_channels_mapping = { Conv: [0, 1] }; // (3, 2) of Keras' kernels
  const first = new FrameworkInfo({ kernel_ops, activation_ops: [], no_quantization_ops: [], kernel_channels_mapping });
  const activation_ops = ['Relu'];
  const second = new FrameworkInfo({ ...first, activation_ops });
  const no_quantization_ops = ['Reshape'];
  const third = new FrameworkInfo({ ...second, no_quantization_ops });
  const activation_min_max_mapping = { softmax: [0, 1], relu: [0, null] };
  const fourth = new FrameworkInfo({ ...third, activation_min_max_mapping });
  const layer_min_max_mapping = { Softmax: [0, 1] };
  const fifth = new FrameworkInfo({ ...fourth, layer_min_max_mapping });
  const plain = await quantize({ platform: 'any', config: quick });
  const files = [];
  for (const info of [first, second, third, fourth, fifth]) files.push(await made(info));
  for (const file of files) expect(sameBytes(file, plain)).toBe(false);
  expect(sameBytes(files[0], files[1])).toBe(false);
});

class MyDenseQuantizeConfig {
  get_weights_and_quantizers(layer) {
    return [[layer.kernel, new LastValueQuantizer()]];
  }
  get_activations_and_quantizers(layer) {
    return [[layer.activation, new MovingAverageQuantizer()]];
  }
  set_quantize_weights(layer, quantize_weights) {
    layer.kernel = quantize_weights[0];
  }
  set_quantize_activations(layer, quantize_activations) {
    layer.activation = quantize_activations[0];
  }
  get_output_quantizers(layer) {
    // Does not quantize output, since we return an empty list.
    return [];
  }
  get_config() {
    return {};
  }
}

test('quantize_config: MyDenseQuantizeConfig', async () => {
  const made = await quantize({
    config: quick,
    overrides: [{ name: dense, quantize_config: new MyDenseQuantizeConfig() }],
  });
  expect(sameBytes(made, await quantize({ config: quick }))).toBe(false);
  expect(sameBytes(made, await quantize({ recipe: made.recipe }))).toBe(true);
});

test('trainable_infrastructure: both configurations', () => {
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
  const names = [];
  for (const [config, shape] of [
    [weights, [1, 1, 2, 3]],
    [activation, [1, 6]],
  ]) {
    const quantizer = engine.trainableQuantizer({ config });
    quantizer.initialize_quantization(Float32Array.of(0.3, -0.5, 2.5, -7, 0.011, 1.99), shape, 'x');
    names.push(quantizer.convert2inferable().class_name);
  }
  expect(names).toEqual(['WeightsSymmetricInferableQuantizer', 'ActivationUniformInferableQuantizer']);
});
