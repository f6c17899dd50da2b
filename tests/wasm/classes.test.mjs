// SPDX-License-Identifier: Apache-2.0
//
// Classes and enums of the requirement documents as values of the package.
import { afterAll, beforeAll, expect, test } from 'vitest';

import * as tersor from '../../wasm/dist/index.js';
import { modelProto } from '../zoo/protobuf.mjs';

const {
  AttributeQuantizationConfig,
  Contains,
  Eq,
  FrameworkInfo,
  Fusing,
  LayerFilterParams,
  OperationsSetToLayers,
  OperationsToLayers,
  OperatorSetConcat,
  OperatorsSet,
  OpQuantizationConfig,
  QuantizationConfig,
  QuantizationConfigOptions,
  QuantizationMethod,
  TargetPlatformCapabilities,
  TargetPlatformModel,
  Tersor,
  ThresholdSelectionMethod,
} = tersor;

let engine, model;
const wave = (length, factor) => Float32Array.from({ length }, (_, k) => factor * Math.sin(1 + 1.7 * k));
beforeAll(async () => {
  engine = await Tersor.create({ workers: 1 });
  model = await engine.open(
    modelProto(13, {
      nodes: [
        { op: 'Gemm', inputs: ['x', 'w1', 'b1'], outputs: ['dense'] },
        { op: 'Relu', inputs: ['dense'], outputs: ['relu'] },
        { op: 'Gemm', inputs: ['relu', 'w2'], outputs: ['last'] },
      ],
      constants: {
        w1: { dims: [4, 6], data: wave(24, 0.9) },
        w2: { dims: [6, 3], data: wave(18, 0.4) },
        b1: { dims: [6], data: wave(6, 0.1) },
      },
      inputs: { x: [1, [1, 4]] },
      outputs: { last: [1, [1, 3]] },
    }),
  );
}, 60_000);
afterAll(() => engine?.close());

const samples = Array.from({ length: 8 }, (_, k) => ({ x: wave(4, 0.3 * (k + 1)) }));

test("the document's example configuration is one of values", async () => {
  const config = new QuantizationConfig({
    activation_threshold_method: ThresholdSelectionMethod.MSE,
    weights_threshold_method: ThresholdSelectionMethod.MSE,
    activation_quantization_method: QuantizationMethod.SYMMETRIC_UNIFORM,
    weights_quantization_method: QuantizationMethod.SYMMETRIC_UNIFORM,
    activation_n_bits: 6,
    weights_n_bits: 7,
  });
  expect(engine.quantizationConfig(config)).toMatchObject({
    activation_quantization_method: 'POWER_OF_TWO',
    weights_n_bits: 7,
  });
  const made = await model.quantize({ samples, config, platform: 'any' });
  expect(made.recipe.quantization_config.activation_n_bits).toBe(6);
});

test('every word of the enums is taken', () => {
  for (const method of Object.values(QuantizationMethod))
    expect(engine.quantizationConfig({ weights_quantization_method: method }).weights_quantization_method).toBe(method);
  for (const method of Object.values(ThresholdSelectionMethod))
    expect(engine.quantizationConfig({ weights_threshold_method: method }).weights_threshold_method).toBe(method);
});

test('a platform of values is read, and quantizes', async () => {
  const kernel = new AttributeQuantizationConfig({
    weights_quantization_method: QuantizationMethod.SYMMETRIC,
    weights_n_bits: 8,
    weights_per_channel_threshold: true,
    enable_weights_quantization: true,
  });
  expect({ ...new AttributeQuantizationConfig({}) }).toEqual({
    weights_quantization_method: 'POWER_OF_TWO',
    weights_n_bits: 32,
    weights_per_channel_threshold: false,
    enable_weights_quantization: false,
    lut_values_bitwidth: null,
  });
  const op = new OpQuantizationConfig({
    default_weight_attr_config: new AttributeQuantizationConfig({}),
    attr_weights_configs_mapping: { kernel_attr: kernel },
    activation_quantization_method: QuantizationMethod.UNIFORM,
    activation_n_bits: 8,
    supported_input_activation_n_bits: [8],
    enable_activation_quantization: true,
    quantization_preserving: false,
    fixed_scale: null,
    fixed_zero_point: null,
    simd_size: 32,
    signedness: 'AUTO',
  });
  const options = new QuantizationConfigOptions({ quantization_config_list: [op] });
  expect(options.base_config).toBe(op);
  const dense = new OperatorsSet({ name: 'FullyConnected', qc_options: options });
  const relu = new OperatorsSet({ name: 'ReLU' });
  const tp_model = new TargetPlatformModel({
    default_qco: options,
    operator_set: [dense, relu],
    fusing_patterns: [new Fusing({ operator_groups_list: [dense, new OperatorSetConcat(relu)] })],
  });
  expect(tp_model.fusing_patterns[0]).toMatchObject({
    name: 'FullyConnected_ReLU',
    operator_groups_list: [['FullyConnected'], ['ReLU']],
  });
  const platform = new TargetPlatformCapabilities({ name: 'mine', tp_model });
  expect(engine.readPlatform(JSON.stringify(platform)).tp_model.operator_set.map((set) => set.name)).toEqual([
    'FullyConnected',
    'ReLU',
  ]);
  const made = await model.quantize({ samples, platform });
  expect(made.model.length).toBeGreaterThan(0);
});

test('another platform of the same name and version is another platform', async () => {
  const of = (weights_n_bits) => {
    const written = structuredClone(engine.getTargetPlatformCapabilities('imx500'));
    for (const set of written.tp_model.operator_set)
      for (const one of [...(set.qc_options?.quantization_config_list ?? []), set.qc_options?.base_config ?? {}]) {
        const kernel = one.attr_weights_configs_mapping?.kernel_attr;
        if (kernel) kernel.weights_n_bits = weights_n_bits;
      }
    for (const set of written.tp_model.operator_set)
      if (set.qc_options) set.qc_options.quantization_config_list = [set.qc_options.base_config];
    return model.quantize({ samples, platform: written });
  };
  const [eight, four] = [await of(8), await of(4)];
  expect(four.recipe.platform.digest).not.toBe(eight.recipe.platform.digest);
  expect(Buffer.from(four.model).equals(eight.model)).toBe(false);
});

test('filters and layers of sets are data', async () => {
  const filter = new LayerFilterParams({ layer: 'Gemm', all: [new Eq('has_kernel', 1)] });
  expect(JSON.parse(JSON.stringify(filter))).toEqual({
    layer: 'Gemm',
    all: [{ op: 'Eq', attr: 'has_kernel', value: 1 }],
  });
  const { recipe } = await model.quantize({
    samples,
    overrides: [{ filter, config: new QuantizationConfig({ weights_per_channel_threshold: false }) }],
  });
  expect(recipe.overrides.length).toBe(1);
  expect(new Contains('activation', 'relu').op).toBe('Contains');
  const layers = new OperationsToLayers([new OperationsSetToLayers('FullyConnected', ['Gemm', filter])]);
  expect(Object.keys(layers)).toEqual(['FullyConnected']);
  expect(
    engine.quantizationConfig({ custom_tpc_opset_to_layer: layers }).custom_tpc_opset_to_layer.FullyConnected.length,
  ).toBe(2);
  const frameworkInfo = new FrameworkInfo({ no_quantization_ops: ['Relu'] });
  await model.coverage({ frameworkInfo });
});

test('every class that the package describes as a type is there as a value', () => {
  for (const name of [
    'GreaterEq',
    'Greater',
    'MixedPrecisionQuantizationConfig',
    'NotEq',
    'ResourceUtilization',
    'Smaller',
    'SmallerEq',
    'TrainableQuantizerCandidateConfig',
  ])
    expect(typeof tersor[name], name).toBe('function');
  expect({ ...new tersor.ResourceUtilization({ weights_memory: 1000 }) }).toEqual({ weights_memory: 1000 });
});
