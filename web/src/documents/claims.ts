// SPDX-License-Identifier: Apache-2.0
//
// The requirement documents' sentences, each with what shows it on the demo network: two files that differ by what the
// sentence is about, or what a class gives. Nothing of the page is used here, so that tests may run the table by itself.

import type { QuantizedResult, QuantizeOptions } from 'tersor';
import type * as Package from 'tersor';

export interface Bench {
  readonly tersor: typeof Package;
  /** An engine that has trainable quantizers. */
  readonly whole: () => Promise<Pick<Package.Tersor, 'trainableQuantizer'>>;
  /** The demo network on some of its pictures; under the same key the answer is the same. */
  quantize(options: QuantizeOptions, key?: string): Promise<QuantizedResult>;
}

export interface Claim {
  readonly document: string;
  /** As the document has it. */
  readonly sentence: string;
  /** What was seen; throws where it does not hold. */
  readonly show: (bench: Bench) => Promise<string>;
}

type Json = Readonly<Record<string, unknown>>;
type Reads = (made: QuantizedResult) => string | number | null | undefined;

/** How many of the bytes of the longer file the other has not in their place. */
function differing(a: Uint8Array, b: Uint8Array): number {
  const [long, short] = a.length >= b.length ? [a, b] : [b, a];
  return long.reduce((sum, byte, k) => sum + (byte === short[k] ? 0 : 1), 0);
}

function count(n: number): string {
  return n.toLocaleString('en').replaceAll(',', ' ');
}

const refuse = (what: string) => new Error(`The sentence does not hold: ${what}`);

async function compared(bench: Bench, base: QuantizeOptions, change: QuantizeOptions, read?: Reads): Promise<string> {
  const before = await bench.quantize(base);
  const after = await bench.quantize(change);
  if (read) {
    const [was, is] = [read(before), read(after)];
    if (was === is) throw refuse(`both files have ${is}.`);
    return `${was ?? 'none'} became ${is ?? 'none'}.`;
  }
  const bytes = differing(before.model, after.model);
  if (bytes === 0) throw refuse('the two files are the same.');
  const [was, is] = [before.model.length, after.model.length];
  return was === is ? `${count(bytes)} of ${count(is)} bytes differ.` : `${count(was)} bytes became ${count(is)}.`;
}

/** By document: sentences with two questions each, and what to read of the answers where it is not their bytes. */
const rows: (readonly [string, string, QuantizeOptions, QuantizeOptions, Reads?])[] = [];

const quick = { effort: 0, holdout: false } as const;
const documented = { preset: 'requirements' } as const;

function settings(sentence: string, change: Package.QuantizationConfig, base: Package.QuantizationConfig = {}): void {
  rows.push([
    'quantization_config',
    sentence,
    { ...documented, config: base },
    { ...documented, config: { ...base, ...change } },
  ]);
}

settings('NOCLIPPING - Use min/max values as thresholds.', { activation_threshold_method: 'NOCLIPPING' });
settings(
  'MSE - Use min square error for minimizing quantization noise.',
  { activation_threshold_method: 'MSE' },
  { activation_threshold_method: 'NOCLIPPING' },
);
settings(
  'MAE - Use min absolute error for minimizing quantization noise.',
  { activation_threshold_method: 'MAE' },
  { activation_quantization_method: 'UNIFORM' },
);
settings(
  'KL - Use KL-divergence to make signals distributions to be similar as possible.',
  { activation_threshold_method: 'KL' },
  { activation_quantization_method: 'UNIFORM' },
);
settings(
  'Lp - Use Lp-norm to minimizing quantization noise.',
  { activation_threshold_method: 'Lp', l_p_value: 4 },
  { activation_quantization_method: 'UNIFORM' },
);
settings(
  'activation_threshold_method (ThresholdSelectionMethod) – Which method to use from ThresholdSelectionMethod for activation quantization threshold selection.',
  { activation_threshold_method: 'NOCLIPPING' },
);
settings(
  'weights_threshold_method (ThresholdSelectionMethod) – Which method to use from ThresholdSelectionMethod for activation quantization threshold selection.',
  { weights_threshold_method: 'NOCLIPPING' },
  { weights_n_bits: 4 },
);
settings(
  'activation_quantization_method (QuantizationMethod) – Which method to use from QuantizationMethod for activation quantization.',
  { activation_quantization_method: 'UNIFORM' },
);
settings(
  'weights_quantization_method (QuantizationMethod) – Which method to use from QuantizationMethod for weights quantization.',
  { weights_quantization_method: 'SYMMETRIC' },
);
settings('activation_n_bits (int) – Number of bits to quantize the activations.', { activation_n_bits: 6 });
settings('weights_n_bits (int) – Number of bits to quantize the coefficients.', { weights_n_bits: 4 });
settings('relu_unbound_correction (bool) – Whether to use relu unbound scaling correction or not.', {
  relu_unbound_correction: true,
});
settings('weights_bias_correction (bool) – Whether to use weights bias correction or not.', {
  weights_bias_correction: false,
});
settings('weights_per_channel_threshold (bool) – Whether to quantize the weights per-channel or not (per-tensor).', {
  weights_per_channel_threshold: false,
});
settings('input_scaling (bool) – Whether to use input scaling or not.', { input_scaling: true });
settings('enable_weights_quantization (bool) – Whether to quantize the model weights or not.', {
  enable_weights_quantization: false,
});
settings('enable_activation_quantization (bool) – Whether to quantize the model activations or not.', {
  enable_activation_quantization: false,
});
settings(
  'shift_negative_activation_correction (bool) – Whether to use shifting negative activation correction or not.',
  { shift_negative_activation_correction: true },
);
settings(
  'shift_negative_ratio (float) – Value for the ratio between the minimal negative value of a non-linearity output to its activation threshold, which above it - shifting negative activation should occur if enabled.',
  { shift_negative_ratio: 0.01 },
  { shift_negative_activation_correction: true },
);
settings(
  'shift_negative_threshold_recalculation (bool) – Whether or not to recompute the threshold after shifting negative activation.',
  { shift_negative_threshold_recalculation: true },
  { shift_negative_activation_correction: true },
);
settings('activation_channel_equalization (bool) – Whether to use activation channel equalization correction or not.', {
  activation_channel_equalization: true,
});
settings(
  'z_threshold (float) – Value of z score for outliers removal.',
  { z_threshold: 2 },
  { activation_threshold_method: 'NOCLIPPING' },
);
settings('min_threshold (float) – Minimum threshold to use during thresholds selection.', { min_threshold: 1 });
settings(
  'l_p_value (int) – The p value of L_p norm threshold selection.',
  { l_p_value: 6 },
  { activation_threshold_method: 'Lp', activation_quantization_method: 'UNIFORM' },
);

const infos: Json = {
  kernel_ops: ['Conv'],
  activation_ops: ['Relu', 'Clip'],
  no_quantization_ops: ['Flatten'],
  kernel_channels_mapping: { Conv: [0, 1] },
};

function known(sentence: string, change: Json, base: Json = infos): void {
  const plain = { platform: 'any', config: quick };
  rows.push([
    'framework_info',
    sentence,
    { ...plain, frameworkInfo: base },
    { ...plain, frameworkInfo: { ...base, ...change } },
  ]);
}

known('kernel_ops (list) – A list of operators that are in the kernel_ops group.', { kernel_ops: ['Conv', 'Gemm'] });
known('activation_ops (list) – A list of operators that are in the activation_ops group.', {
  activation_ops: ['Relu'],
});
known('no_quantization_ops (list) – A list of operators that are in the no_quantization_ops group.', {
  no_quantization_ops: ['Clip'],
  activation_ops: ['Relu'],
});
known(
  'activation_quantizer_mapping (Dict[QuantizationMethod, Callable]) – A dictionary mapping from QuantizationMethod to a quantization function.',
  { activation_quantizer_mapping: { UNIFORM: 'POWER_OF_TWO' } },
);
known(
  'weights_quantizer_mapping (Dict[QuantizationMethod, Callable]) – A dictionary mapping from QuantizationMethod to a quantization function.',
  { weights_quantizer_mapping: { SYMMETRIC: 'POWER_OF_TWO' } },
);
known(
  'kernel_channels_mapping (DefaultDict) – Dictionary from a layer to a tuple of its kernel in/out channels indices.',
  { kernel_channels_mapping: { Conv: [null, 1] } },
);
known(
  'activation_min_max_mapping (Dict[str, tuple]) – Dictionary from an activation function to its min/max output values.',
  { activation_min_max_mapping: { relu: [0, 20] } },
);
known('layer_min_max_mapping (Dict[Any, tuple]) – Dictionary from a layer to its min/max output values.', {
  layer_min_max_mapping: { Relu: [0, 20] },
});

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
  rows.push([
    'target_platform',
    sentence,
    onPlatform(capabilities(base)),
    onPlatform(capabilities(change)),
    ...(read ? [read] : []),
  ] as never);
}

const eight = hardware(options(operator()));
const operatorHas = (sentence: string, more: Json, kernel: Json = {}, base = eight) =>
  offers(sentence, base, hardware(options(operator(more, kernel))));

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
operatorHas(
  'signedness (bool) – Set activation quantization signedness.',
  { signedness: 'SIGNED', activation_quantization_method: 'SYMMETRIC' },
  {},
  hardware(options(operator({ activation_quantization_method: 'SYMMETRIC' }))),
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
rows.push([
  'target_platform',
  'quantization_config_list (List[OpQuantizationConfig]) – List of possible OpQuantizationConfig to gather.',
  onPlatform(capabilities(hardware(options(operator(), four)))),
  { platform: capabilities(hardware(options(operator(), four))), config: { ...quick, weights_n_bits: 4 } },
]);
offers(
  'base_config (OpQuantizationConfig) – Fallback OpQuantizationConfig to use when optimizing the model in a non mixed-precision manner.',
  hardware(options(operator(), four)),
  hardware({ quantization_config_list: [operator(), four], base_config: four }),
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
  'operator_groups_list (List[Union[OperatorsSet, OperatorSetConcat]]) – A list of operator groups, each being either an OperatorSetConcat or an OperatorsSet.',
  fused(),
  fused(['Add'], ['ReLU']),
);
offers(
  'name (str) – The name for the Fusing instance.',
  fused(['Add'], ['ReLU']),
  hardware(options(operator()), sets, {
    fusing_patterns: [{ operator_groups_list: [['Add'], ['ReLU']], name: 'mine' }],
  }),
  (made) => made.recipe.platform.digest,
);
offers(
  '*opsets (OperatorsSet) – List of operator sets to group.',
  fused(['Add'], ['ReLU']),
  fused(['Conv', 'Add'], ['ReLU', 'ReLU6']),
);
const set = (name: string, config: Json | null, layers: readonly unknown[]): Json =>
  fullyConnected(config && options(config), name, { layers });
const mine = (layers: readonly unknown[], more: Json = {}) =>
  hardware(options(operator()), [fullyConnected(options(four), 'Mine', { layers, ...more })]);
offers(
  'op_sets_to_layers (List[OperationsSetToLayers]) – List of OperationsSetToLayers where each of them maps an OperatorsSet name to a list of layers that represents the OperatorsSet.',
  eight,
  mine(['Conv', 'Gemm']),
);
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
rows.push([
  'target_platform',
  'tp_model (TargetPlatformModel) – Modeled hardware to attach framework information to.',
  onPlatform(capabilities(eight)),
  onPlatform(capabilities(hardware(options(four)))),
]);
rows.push([
  'target_platform',
  'name (str) – Name of the TargetPlatformCapabilities.',
  onPlatform(capabilities(eight)),
  onPlatform(capabilities(eight, { name: 'mine' })),
  (made) => made.recipe.platform.name,
]);
rows.push([
  'target_platform',
  'version (str) – TPC version.',
  onPlatform(capabilities(eight)),
  onPlatform(capabilities(eight, { version: 2 })),
  (made) => made.recipe.platform.version,
]);

/** The document's example with other answers. */
const asked = (answers: Json) => ({
  platform: 'any',
  config: quick,
  overrides: [
    {
      name: 'classifier',
      quantize_config: {
        class_name: 'LayerQuantizeConfig',
        config: { weights: {}, activation: null, outputs: [], ...answers },
      },
    },
  ],
});
const kernel = { kernel: 'LastValueQuantizer' };
function layer(sentence: string, answers: Json, base: Json = {}): void {
  rows.push([
    'quantize_config',
    sentence,
    asked(base) as QuantizeOptions,
    asked({ ...base, ...answers }) as QuantizeOptions,
  ]);
}
layer('Return weights to be quantized along with their quantizers.', { weights: kernel });
layer(
  'Return activations to be quantized along with their quantizers.',
  { activation: 'MovingAverageQuantizer' },
  { weights: kernel },
);
layer(
  'Returns the quantizer used to quantize the outputs from a layer.',
  { outputs: ['MovingAverageQuantizer'] },
  { weights: kernel },
);
layer(
  'The framework provides default behavior for each layer, but this can be used to override it.',
  { weights: { kernel: { class_name: 'LastValueQuantizer', config: { num_bits: 4 } } } },
  { weights: kernel },
);

const byObject: Claim = {
  document: 'quantize_config',
  sentence: 'Replace the weights in the layer with quantized weights.',
  async show({ quantize, tersor }) {
    let put = 0;
    class MyDenseQuantizeConfig implements Package.QuantizeConfig {
      get_weights_and_quantizers(one: Package.Layer) {
        return [[one.kernel, new tersor.LastValueQuantizer()]] as const;
      }
      get_activations_and_quantizers(one: Package.Layer) {
        return [[one.activation, new tersor.MovingAverageQuantizer()]] as const;
      }
      set_quantize_weights(one: Package.Layer, quantize_weights: readonly Package.LayerWeight[]) {
        if (!quantize_weights[0]) throw refuse('there are no weights.');
        one.kernel = quantize_weights[0];
        put += one.kernel.data.length;
      }
      set_quantize_activations(one: Package.Layer, quantize_activations: readonly Package.LayerActivation[]) {
        if (quantize_activations[0]) one.activation = quantize_activations[0];
      }
      get_output_quantizers() {
        return [];
      }
      get_config() {
        return {};
      }
    }
    const { recipe } = await quantize(
      {
        platform: 'any',
        config: quick,
        overrides: [{ name: 'classifier', quantize_config: new MyDenseQuantizeConfig() }],
      },
      `object ${performance.now()}`,
    );
    if (put === 0 || recipe.overrides.length !== 1) throw refuse('no weight was put back.');
    return `${count(put)} weights were put back, and the recipe holds the answers.`;
  },
};

const values = Float32Array.of(0.3, -0.5, 2.5, -7, 0.011, 1.99);
const shape = [1, 1, 2, 3];
const trainableWeights: Package.TrainableQuantizerWeightsConfig = {
  weights_quantization_method: 'SYMMETRIC',
  weights_n_bits: 8,
  weights_quantization_params: { threshold: 2 },
  enable_weights_quantization: true,
  weights_channels_axis: 3,
  weights_per_channel_threshold: true,
  min_threshold: 2 ** -16,
};
const trainableActivation: Package.TrainableQuantizerActivationConfig = {
  activation_quantization_method: 'UNIFORM',
  activation_n_bits: 8,
  activation_quantization_params: { threshold: 2 },
  enable_activation_quantization: true,
  min_threshold: 2 ** -16,
};

/** What a quantizer of the configuration becomes for inference, and its values. */
async function trained(bench: Bench, config: Package.TrainableQuantizerOptions['config']): Promise<string> {
  const quantizer = (await bench.whole()).trainableQuantizer({ config });
  quantizer.initialize_quantization(values, shape, 'x');
  const enabled = { ...config } as Json;
  const off = enabled['enable_weights_quantization'] === false || enabled['enable_activation_quantization'] === false;
  const made = off ? 'float' : JSON.stringify(quantizer.convert2inferable()?.config);
  return `${[...quantizer.call(values, false)].map((one) => +one.toFixed(4)).join(', ')} (${made})`;
}

function learns(
  sentence: string,
  change: Json,
  base: Package.TrainableQuantizerOptions['config'] = trainableWeights,
): Claim {
  return {
    document: 'trainable_infrastructure',
    sentence,
    show: async (bench) => {
      const before = await trained(bench, base);
      const after = await trained(bench, { ...base, ...change } as typeof base);
      if (before === after) throw refuse('the values are the same.');
      return `${before} became ${after}.`;
    },
  };
}

const unlike = { ...trainableWeights, weights_quantization_params: {} };
const trainable: readonly Claim[] = [
  learns(
    'weights_quantization_method (QuantizationMethod) – Which method to use from QuantizationMethod for weights quantization.',
    { weights_quantization_method: 'POWER_OF_TWO' },
    unlike,
  ),
  learns('weights_n_bits (int) – Number of bits to quantize the coefficients.', { weights_n_bits: 4 }),
  learns('weights_quantization_params (Dict) – Dictionary that contains weights quantization params.', {
    weights_quantization_params: { threshold: 1 },
  }),
  learns('enable_weights_quantization (bool) – Whether to quantize the layer’s weights or not.', {
    enable_weights_quantization: false,
  }),
  learns(
    'weights_channels_axis (int) – Axis to quantize a node’s kernel when quantizing per-channel.',
    { weights_channels_axis: 2 },
    unlike,
  ),
  learns(
    'weights_per_channel_threshold (bool) – Whether to quantize the weights per-channel or not (per-tensor).',
    { weights_per_channel_threshold: false },
    unlike,
  ),
  learns('min_threshold (float) – Minimum threshold to use during thresholds selection.', { min_threshold: 4 }, unlike),
  learns(
    'activation_quantization_method (QuantizationMethod) – Which method to use from QuantizationMethod for activation quantization.',
    { activation_quantization_method: 'SYMMETRIC' },
    trainableActivation,
  ),
  learns(
    'activation_n_bits (int) – Number of bits to quantize the activations.',
    { activation_n_bits: 4 },
    trainableActivation,
  ),
  learns(
    'activation_quantization_params (Dict) – Dictionary that contains activation quantization params.',
    { activation_quantization_params: { threshold: 1 } },
    trainableActivation,
  ),
  learns(
    'enable_activation_quantization (bool) – Whether to quantize the layer’s activations or not.',
    { enable_activation_quantization: false },
    trainableActivation,
  ),
];

export const claims: readonly Claim[] = [
  ...rows.map(([document, sentence, base, change, read]) => ({
    document,
    sentence,
    show: (bench: Bench) => compared(bench, base, change, read),
  })),
  byObject,
  ...trainable,
];
