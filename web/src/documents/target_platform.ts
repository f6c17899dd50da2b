// SPDX-License-Identifier: Apache-2.0

import type { QuantizeOptions } from 'tersor';

import { claimsOf, quick, refuse, withoutMetadata, type Json, type Reads } from './shown';

const { claims, shows, tells } = claimsOf('target_platform');
export { claims };

const weight = (more: Json = {}): Json => ({
  weights_quantization_method: 'SYMMETRIC',
  weights_n_bits: 8,
  weights_per_channel_threshold: true,
  enable_weights_quantization: true,
  lut_values_bitwidth: null,
  ...more,
});
const inFloat = weight({ enable_weights_quantization: false, weights_n_bits: 32 });
const operator = (more: Json = {}, kernel: Json = {}): Json => ({
  default_weight_attr_config: inFloat,
  attr_weights_configs_mapping: { kernel_attr: weight(kernel), bias_attr: inFloat },
  activation_quantization_method: 'UNIFORM',
  activation_n_bits: 8,
  supported_input_activation_n_bits: [8],
  enable_activation_quantization: true,
  quantization_preserving: false,
  fixed_scale: null,
  fixed_zero_point: null,
  simd_size: 32,
  signedness: 'AUTO',
  ...more,
});
const options = (...list: readonly Json[]): Json => ({ quantization_config_list: list, base_config: list[0] });
const hardware = (default_qco: Json, sets: readonly Json[] = [], more: Json = {}): Json => ({
  name: 'default_tp_model',
  default_qco,
  add_metadata: false,
  operator_set: sets,
  fusing_patterns: [],
  ...more,
});
let platforms = 0;
const capabilities = (tp_model: Json, more: Json = {}): Json => ({
  schema_version: 1,
  name: `platform ${++platforms}`,
  version: 1,
  export_rules: { placement: 'OUTPUTS', unlisted_kernel: 'INTEGER' },
  tp_model,
  ...more,
});
const onPlatform = (platform: Json): QuantizeOptions => ({ platform, config: quick });

function offers(sentence: string, base: Json, change: Json, read?: Reads): void {
  shows(sentence, onPlatform(capabilities(base)), onPlatform(capabilities(change)), read);
}

const eight = hardware(options(operator()));
const operatorHas = (sentence: string, more: Json, kernel: Json = {}, base = eight) =>
  offers(sentence, base, hardware(options(operator(more, kernel))));

shows(
  'MCT can be configured to quantize and optimize models for different hardware settings. For example, when using qnnpack backend for Pytorch model inference, Pytorch quantization configuration uses per-tensor weights quantization for Conv2d, while when using tflite modeling, Tensorflow uses per-channel weights quantization for Conv2D.',
  { platform: 'qnnpack', config: quick },
  { platform: 'tflite', config: quick },
);
shows(
  'This can be addressed in MCT by using the target_platform module, that can configure different parameters that are hardware-related, and the optimization process will use this to optimize the model accordingly. Models for IMX500, TFLite and qnnpack can be observed here, and can be used using get_target_platform_capabilities function.',
  { platform: 'tflite', config: quick },
  { platform: 'imx500', config: quick },
);
shows(
  'The object MCT should get called TargetPlatformCapabilities (or shortly TPC).',
  { platform: 'any', config: quick },
  onPlatform(capabilities(eight, { name: 'shortly' })),
  (made) => made.recipe.platform.name,
);
operatorHas(
  'Method for quantization function selection:',
  { activation_quantization_method: 'POWER_OF_TWO' },
  { weights_quantization_method: 'UNIFORM' },
);
operatorHas(
  'POWER_OF_TWO - Symmetric, uniform, threshold is power of two quantization.',
  {},
  { weights_quantization_method: 'POWER_OF_TWO' },
);
operatorHas(
  'LUT_POT_QUANTIZER - quantization using a lookup table and power of 2 threshold.',
  {},
  { weights_quantization_method: 'LUT_POT_QUANTIZER', weights_n_bits: 4 },
);
operatorHas('SYMMETRIC - Symmetric, uniform, quantization.', { activation_quantization_method: 'SYMMETRIC' });
operatorHas(
  'UNIFORM - uniform quantization,',
  { activation_quantization_method: 'UNIFORM' },
  {},
  hardware(options(operator({ activation_quantization_method: 'POWER_OF_TWO' }))),
);
operatorHas(
  'LUT_SYM_QUANTIZER - quantization using a lookup table and symmetric threshold.',
  {},
  { weights_quantization_method: 'LUT_SYM_QUANTIZER', weights_n_bits: 4 },
);
operatorHas(
  'OpQuantizationConfig is a class to configure the quantization parameters of an operator.',
  { activation_quantization_method: 'SYMMETRIC', signedness: 'SIGNED' },
  { weights_n_bits: 4 },
);
operatorHas(
  'default_weight_attr_config (AttributeQuantizationConfig) – A default attribute quantization configuration for the operation.',
  { attr_weights_configs_mapping: {}, default_weight_attr_config: weight({ weights_n_bits: 4 }) },
);
operatorHas(
  'activation_quantization_method (QuantizationMethod) – Which method to use from QuantizationMethod for activation quantization.',
  { activation_quantization_method: 'POWER_OF_TWO' },
);
operatorHas('activation_n_bits (int) – Number of bits to quantize the activations.', {
  activation_n_bits: 4,
  supported_input_activation_n_bits: [4, 8],
});
offers(
  'supported_input_activation_n_bits (int or Tuple[int]) – Number of bits that operator accepts as input.',
  hardware(
    options(
      operator({ activation_n_bits: 16, supported_input_activation_n_bits: [8, 16] }),
      operator({ supported_input_activation_n_bits: [8, 16] }),
    ),
  ),
  hardware(
    options(
      operator({ activation_n_bits: 16, supported_input_activation_n_bits: [8, 16] }),
      operator({ supported_input_activation_n_bits: [8, 16] }),
    ),
    [{ name: 'FullyConnected', qc_options: options(operator()) }],
  ),
);
operatorHas('enable_activation_quantization (bool) – Whether to quantize the model activations or not.', {
  enable_activation_quantization: false,
});
const classifier = (more: Json, kernel: Json = {}) =>
  hardware(options(operator()), [{ name: 'FullyConnected', qc_options: options(operator(more, kernel)) }]);
offers(
  'attr_weights_configs_mapping (Dict[str, AttributeQuantizationConfig]) – A mapping between an op attribute name and its quantization configuration.',
  eight,
  classifier({ attr_weights_configs_mapping: { kernel_attr: weight({ weights_n_bits: 4 }) } }),
);
offers(
  'enable_weights_quantization (bool) – Whether to quantize the model weights or not.',
  eight,
  classifier({}, { enable_weights_quantization: false }),
);
const movers = (more: Json) =>
  hardware(options(operator()), [{ name: 'AvgPool', qc_options: options(operator(more)) }]);
offers(
  'quantization_preserving (bool) – Whether quantization parameters should be the same for an operator’s input and output.',
  eight,
  movers({ quantization_preserving: true, enable_activation_quantization: false }),
);
offers(
  'fixed_scale (float) – Scale to use for an operator quantization parameters.',
  eight,
  movers({ fixed_scale: 0.125, fixed_zero_point: 0 }),
);
offers(
  'fixed_zero_point (int) – Zero-point to use for an operator quantization parameters.',
  movers({ fixed_scale: 0.125, fixed_zero_point: 0 }),
  movers({ fixed_scale: 0.125, fixed_zero_point: 8 }),
);
offers(
  'simd_size (int) – Per op integer representing the Single Instruction, Multiple Data (SIMD) width of an operator.',
  hardware(options(operator({ simd_size: 1 }))),
  hardware(options(operator({ simd_size: 64 }))),
  (made) => made.report.padding?.length ?? 0,
);
offers(
  'It indicates the number of data elements that can be fetched and processed simultaneously in a single instruction.',
  hardware(options(operator({ simd_size: 1 }))),
  hardware(options(operator({ simd_size: 32 }))),
  (made) => made.report.padding?.length ?? 0,
);
offers(
  'For now, some fields of OpQuantizationConfig are ignored during the optimization process such as quantization_preserving, fixed_scale, and fixed_zero_point. MCT will use more information from OpQuantizationConfig , in the future.',
  eight,
  hardware(options(operator()), [
    { name: 'AvgPool', qc_options: options(operator({ fixed_scale: 0.0625, fixed_zero_point: 0 })) },
  ]),
);
operatorHas(
  'signedness (bool) – Set activation quantization signedness.',
  { signedness: 'SIGNED', activation_quantization_method: 'SYMMETRIC' },
  {},
  hardware(options(operator({ activation_quantization_method: 'SYMMETRIC' }))),
);
operatorHas(
  'Hold the quantization configuration of a weight attribute of a layer. Initializes an attribute quantization config.',
  {},
  { weights_quantization_method: 'POWER_OF_TWO', weights_per_channel_threshold: false },
);
operatorHas(
  'weights_quantization_method (QuantizationMethod) – Which method to use from QuantizationMethod for weights quantization.',
  {},
  { weights_quantization_method: 'UNIFORM' },
);
operatorHas('weights_n_bits (int) – Number of bits to quantize the coefficients.', {}, { weights_n_bits: 4 });
operatorHas(
  'weights_per_channel_threshold (bool) – Whether to quantize the weights per-channel or not (per-tensor).',
  {},
  { weights_per_channel_threshold: false },
);
const tables = { weights_quantization_method: 'LUT_SYM_QUANTIZER', weights_n_bits: 4 };
operatorHas(
  'lut_values_bitwidth (int) – Number of bits to use when quantizing in look-up-table.',
  {},
  { ...tables, lut_values_bitwidth: 4 },
  hardware(options(operator({}, tables))),
);
const four = operator({}, { weights_n_bits: 4 });
shows(
  'Wrap a set of quantization configurations to consider during the quantization of an operator.',
  onPlatform(capabilities(hardware(options(operator(), four)))),
  { platform: capabilities(hardware(options(operator(), four))), config: { ...quick, weights_n_bits: 4 } },
);
shows(
  'quantization_config_list (List[OpQuantizationConfig]) – List of possible OpQuantizationConfig to gather.',
  onPlatform(capabilities(hardware(options(operator(), four)))),
  { platform: capabilities(hardware(options(operator(), four))), config: { ...quick, weights_n_bits: 4 } },
);
offers(
  'base_config (OpQuantizationConfig) – Fallback OpQuantizationConfig to use when optimizing the model in a non mixed-precision manner.',
  hardware(options(operator(), four)),
  hardware({ quantization_config_list: [operator(), four], base_config: four }),
);
offers(
  'Modeling of the hardware the quantized model will use during inference. The model contains definition of operators, quantization configurations of them, and fusing patterns so that multiple operators will be combined into a single operator.',
  eight,
  hardware(
    options(operator()),
    [
      { name: 'Conv', qc_options: options(four) },
      { name: 'ReLU', qc_options: null },
    ],
    {
      fusing_patterns: [{ operator_groups_list: [['Conv'], ['ReLU']] }],
    },
  ),
);
offers(
  'default_qco (QuantizationConfigOptions) – Default QuantizationConfigOptions to use for operators that their QuantizationConfigOptions are not defined in the model.',
  eight,
  hardware(options(four)),
);
offers(
  'add_metadata (bool) – Whether to add metadata to the model or not.',
  eight,
  hardware(options(operator()), [], { add_metadata: true }),
  ({ model }) => `${model.length - withoutMetadata(model).length} bytes of metadata`,
);
offers(
  'name (str) – Name of the model.',
  eight,
  hardware(options(operator()), [], { name: 'mine' }),
  (made) => made.recipe.platform.digest,
);
const fullyConnected = (qc_options: Json | null, name = 'FullyConnected', more: Json = {}): Json => ({
  name,
  qc_options,
  ...more,
});
offers(
  'Set of operators that are represented by a unique label.',
  eight,
  hardware(options(operator()), [fullyConnected(options(four), 'Conv')]),
);
offers(
  'name (str) – Set’s label (must be unique in a TargetPlatformModel).',
  hardware(options(operator()), [fullyConnected(options(four))]),
  hardware(options(operator()), [fullyConnected(options(four), 'Conv')]),
);
offers(
  'qc_options (QuantizationConfigOptions) – Configuration options to use for this set of operations.',
  hardware(options(operator()), [fullyConnected(null)]),
  hardware(options(operator()), [fullyConnected(options(four))]),
);
const sets = [
  fullyConnected(null, 'Conv'),
  fullyConnected(null, 'ReLU'),
  fullyConnected(null, 'ReLU6'),
  fullyConnected(null, 'Add'),
];
const fused = (...groups: readonly (readonly string[])[]) =>
  hardware(options(operator()), sets, { fusing_patterns: groups.length ? [{ operator_groups_list: groups }] : [] });
offers(
  'Fusing defines a list of operators that should be combined and treated as a single operator, hence no quantization is applied between them.',
  fused(),
  fused(['Conv'], ['Add']),
);
offers(
  'operator_groups_list (List[Union[OperatorsSet, OperatorSetConcat]]) – A list of operator groups, each being either an OperatorSetConcat or an OperatorsSet.',
  fused(),
  fused(['Conv'], ['Add']),
);
offers(
  'name (str) – The name for the Fusing instance.',
  fused(['Add'], ['ReLU']),
  hardware(options(operator()), sets, {
    fusing_patterns: [{ operator_groups_list: [['Add'], ['ReLU']], name: 'mine' }],
  }),
  (made) => made.recipe.platform.digest,
);
tells('If not provided, it’s generated from the operator groups’ names.', async (bench) => {
  const digestOf = async (name: Json) => {
    const fusing_patterns = [{ operator_groups_list: [['Add'], ['ReLU']], ...name }];
    const platform = { ...capabilities(hardware(options(operator()), sets, { fusing_patterns })), name: 'fusings' };
    return (await bench.quantize(onPlatform(platform))).recipe.platform.digest;
  };
  const [generated, same, other] = [
    await digestOf({}),
    await digestOf({ name: 'Add_ReLU' }),
    await digestOf({ name: 'x' }),
  ];
  if (generated !== same || generated === other) throw refuse('the digests of the platforms say otherwise.');
  return 'The platform is that with the name Add_ReLU; with another name they differ.';
});
offers(
  'Concatenate a list of operator sets to treat them similarly in different places (like fusing). Group a list of operation sets.',
  fused(['Conv'], ['Add']),
  fused(['ReLU6', 'Conv'], ['Add', 'Conv']),
);
offers(
  '*opsets (OperatorsSet) – List of operator sets to group.',
  fused(['Conv'], ['Add']),
  fused(['ReLU6', 'Conv'], ['Add', 'Conv']),
);
const set = (name: string, config: Json | null, layers: readonly unknown[]): Json =>
  fullyConnected(config && options(config), name, { layers });
const mine = (layers: readonly unknown[], more: Json = {}) =>
  hardware(options(operator()), [fullyConnected(options(four), 'Mine', { layers, ...more })]);
offers(
  'Gather multiple OperationsSetToLayers to represent mapping of framework’s layers to TargetPlatformModel OperatorsSet.',
  eight,
  hardware(options(operator()), [
    set('Mine', four, ['Gemm']),
    set('Others', operator({}, { weights_n_bits: 6 }), ['Conv']),
  ]),
);
offers(
  'op_sets_to_layers (List[OperationsSetToLayers]) – List of OperationsSetToLayers where each of them maps an OperatorsSet name to a list of layers that represents the OperatorsSet.',
  eight,
  mine(['Conv', 'Gemm']),
);
offers('Associate an OperatorsSet to a list of framework’s layers.', eight, mine(['Dense']));
offers(
  'op_set_name (str) – Name of OperatorsSet to associate with layers.',
  hardware(options(operator()), [set('Mine', four, ['Gemm']), set('Others', null, ['Conv'])]),
  hardware(options(operator()), [set('Mine', four, ['Conv']), set('Others', null, ['Gemm'])]),
);
offers(
  'layers (List[Any]) – List of layers/FilterLayerParams to associate with OperatorsSet.',
  mine(['Gemm']),
  mine(['Conv']),
);
offers(
  'Wrap a layer with filters to filter framework’s layers by their attributes.',
  mine(['Conv']),
  mine([{ layer: 'Conv', all: [{ attr: 'strides', op: 'Eq', value: [2, 2] }] }]),
);
offers('layer – Layer to match when filtering.', mine([{ layer: 'Gemm' }]), mine([{ layer: 'Conv' }]));
offers(
  '*conditions (AttributeFilter) – List of conditions to satisfy.',
  mine(['Conv']),
  mine([{ layer: 'Conv', all: [{ attr: 'group', op: 'Greater', value: 1 }] }]),
);
offers(
  '**kwargs – Keyword arguments to filter layers according to.',
  mine(['Conv']),
  mine([{ layer: 'Conv', kwargs: { group: 1 } }]),
);
offers(
  'attr_mapping (Dict[str, DefaultDict]) – A mapping between a general attribute name to a DefaultDict that maps a layer type to the layer’s framework name of this attribute.',
  mine(['Gemm']),
  mine(['Gemm'], { attr_mapping: { kernel_attr: { Gemm: 'C' }, bias_attr: { Gemm: 'B' } } }),
);
shows(
  'Attach framework information to a modeled hardware.',
  onPlatform(capabilities(eight)),
  onPlatform(capabilities(mine(['Gemm']))),
);
shows(
  'tp_model (TargetPlatformModel) – Modeled hardware to attach framework information to.',
  onPlatform(capabilities(eight)),
  onPlatform(capabilities(hardware(options(four)))),
);
shows(
  'name (str) – Name of the TargetPlatformCapabilities.',
  onPlatform(capabilities(eight)),
  onPlatform(capabilities(eight, { name: 'mine' })),
  (made) => made.recipe.platform.name,
);
shows(
  'version (str) – TPC version.',
  onPlatform(capabilities(eight)),
  onPlatform(capabilities(eight, { version: 2 })),
  (made) => made.recipe.platform.version,
);
