// SPDX-License-Identifier: Apache-2.0

import type * as Package from 'tersor';

import { claimsOf, compared, quick, refuse, refused, type Bench, type Json } from './shown';

const { claims, tells } = claimsOf('trainable_infrastructure');
export { claims };

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
): void {
  tells(sentence, async (bench) => {
    const before = await trained(bench, base);
    const after = await trained(bench, { ...base, ...change } as typeof base);
    if (before === after) throw refuse('the values are the same.');
    return `${before} became ${after}.`;
  });
}

type QuantizerConfig = Package.TrainableQuantizerOptions['config'];
/** A configuration that no quantizer can have. */
const validated = (sentence: string, config: QuantizerConfig) =>
  tells(sentence, async ({ whole }) => {
    const core = await whole();
    return refused(() => core.trainableQuantizer({ config }));
  });
/** Values of a quantizer that was loaded are those of the one that was saved. */
const loaded = (sentence: string) =>
  tells(sentence, async ({ whole }) => {
    const core = await whole();
    const saved = core.trainableQuantizer({ identifier: 'LSQ', config: trainableWeights }).get_config();
    const config = saved['quantization_config'] as QuantizerConfig;
    const made = [trainableWeights, config].map((one) => {
      const quantizer = core.trainableQuantizer({ identifier: 'LSQ', config: one });
      quantizer.initialize_quantization(values, shape, 'x');
      return [...quantizer.call(values, false)].join(', ');
    });
    if (made[0] !== made[1]) throw refuse(`${made[0]} became ${made[1]}.`);
    return `What get_config() returned gives the same values back: ${made[1]}.`;
  });

const unlike = { ...trainableWeights, weights_quantization_params: {} };
const fewBits = { ...trainableWeights, weights_n_bits: 1 };
const activationsOfFew = { ...trainableActivation, activation_n_bits: 1 };
tells(
  'The trainable infrastructure is a module containing quantization abstraction and quantizers for hardware-oriented model optimization tools. It provides the required abstraction for trainable quantization methods such as quantization-aware training. It utilizes the Inferable Quantizers Infrastructure provided by the MCT Quantizers package, which proposes the required abstraction for emulating inference-time quantization.',
  async ({ whole }) => {
    const quantizer = (await whole()).trainableQuantizer({ config: trainableWeights });
    quantizer.initialize_quantization(values, shape, 'x');
    const made = quantizer.convert2inferable();
    const training = [...quantizer.call(values, true)].join(', ');
    if (training !== [...quantizer.call(values, false)].join(', ')) throw refuse('inference has other values.');
    return `${made?.class_name ?? 'Nothing'} gives the values of training back: ${training}.`;
  },
);
tells(
  'When using a trainable quantizer, each layer with quantized weights is wrapped with a “Quantization Wrapper” object, and each activation quantizer is being stored in an “Activation Quantization Holder” object.',
  (bench) => {
    const config = { ...quick, weights_n_bits: 3, gradient_ptq_config: { n_epochs: 8 } };
    const trained = { platform: 'any', config };
    const overrides = [{ type: 'Conv', trainable_quantizer: 'LSQWeightQATQuantizer' }];
    return compared(bench, trained, { ...trained, overrides });
  },
);
tells(
  'The quantizers in this module are built upon the “Inferable Quantizer” abstraction (from MCT Quantizers), and define the “Trainable Quantizer” framework, which contains learnable quantization parameters that can be optimized during training.',
  async ({ whole }) => {
    const quantizer = (await whole()).trainableQuantizer({ identifier: 'LSQ', config: trainableWeights });
    quantizer.initialize_quantization(values, shape, 'x');
    quantizer.gradient(
      values,
      Float32Array.from(quantizer.call(values, true), (one, k) => one - (values[k] ?? 0)),
    );
    const [learned] = quantizer.get_trainable_variables('QPARAMS');
    if (!learned) throw refuse('nothing is learned.');
    const was = learned.value[0] ?? 0;
    learned.value[0] = was - 0.1 * (learned.gradient[0] ?? 0);
    if (was === learned.value[0]) throw refuse('a step changes nothing.');
    return `${learned.name} became ${learned.value[0]} from ${was} by one step.`;
  },
);
validated(
  'This class is a base class for trainable Keras quantizers which validates provided quantization config and defines an abstract function which any quantizer needs to implement.',
  fewBits,
);
loaded(
  'It adds to the base quantizer a get_config and from_config functions to enable loading and saving the keras model.',
);
validated(
  'This class is a base quantizer which validates provided quantization config and defines an abstract function which any quantizer needs to implement.',
  { ...trainableWeights, weights_quantization_params: { threshold: -1 } },
);
loaded(
  'This class adds to the base quantizer a get_config and from_config functions to enable loading and saving the keras model.',
);
learns('quantization_config – quantizer config class contains all the information about a quantizer configuration.', {
  weights_n_bits: 6,
  weights_quantization_params: { threshold: 4 },
});
validated(
  'This class is a base class for trainable Pytorch quantizers which validates provided quantization config and defines an abstract function which any quantizer needs to implement.',
  activationsOfFew,
);
validated(
  'This class is a base Pytorch quantizer which validates the provided quantization config and defines an abstract function which any quantizer needs to implement.',
  { ...trainableActivation, activation_quantization_params: { threshold: -1 } },
);
learns(
  'quantization_config – quantizer config class contains all the information about the quantizer configuration.',
  { activation_n_bits: 6 },
  trainableActivation,
);
learns('This configuration object contains the necessary attributes for configuring a weights trainable quantizer.', {
  weights_quantization_method: 'UNIFORM',
  weights_quantization_params: {},
});
learns('Attributes for configuring weights trainable quantizer.', { weights_quantization_params: { threshold: 8 } });
learns(
  'For example, we can set a trainable weights quantizer with the following configuration:',
  trainableWeights as unknown as Json,
  { ...trainableWeights, weights_n_bits: 2, weights_quantization_params: { threshold: 8 } },
);
learns(
  'This configuration object contains the necessary attributes for configuring an activation trainable quantizer.',
  { activation_n_bits: 3 },
  trainableActivation,
);
learns(
  'Attributes for configuring activations trainable quantizer.',
  { activation_quantization_params: { threshold: 8 } },
  trainableActivation,
);
learns(
  'For example, we can set a trainable activation quantizer with the following configuration:',
  trainableActivation as unknown as Json,
  { ...trainableActivation, activation_n_bits: 2, activation_quantization_params: { threshold: 8 } },
);
learns(
  'weights_quantization_method (QuantizationMethod) – Which method to use from QuantizationMethod for weights quantization.',
  { weights_quantization_method: 'POWER_OF_TWO' },
  unlike,
);
learns('weights_n_bits (int) – Number of bits to quantize the coefficients.', { weights_n_bits: 4 });
learns('weights_quantization_params (Dict) – Dictionary that contains weights quantization params.', {
  weights_quantization_params: { threshold: 1 },
});
learns('enable_weights_quantization (bool) – Whether to quantize the layer’s weights or not.', {
  enable_weights_quantization: false,
});
learns(
  'weights_channels_axis (int) – Axis to quantize a node’s kernel when quantizing per-channel.',
  { weights_channels_axis: 2 },
  unlike,
);
learns(
  'weights_per_channel_threshold (bool) – Whether to quantize the weights per-channel or not (per-tensor).',
  { weights_per_channel_threshold: false },
  unlike,
);
learns('min_threshold (float) – Minimum threshold to use during thresholds selection.', { min_threshold: 4 }, unlike);
learns(
  'activation_quantization_method (QuantizationMethod) – Which method to use from QuantizationMethod for activation quantization.',
  { activation_quantization_method: 'SYMMETRIC' },
  trainableActivation,
);
learns(
  'activation_n_bits (int) – Number of bits to quantize the activations.',
  { activation_n_bits: 4 },
  trainableActivation,
);
learns(
  'activation_quantization_params (Dict) – Dictionary that contains activation quantization params.',
  { activation_quantization_params: { threshold: 1 } },
  trainableActivation,
);
learns(
  'enable_activation_quantization (bool) – Whether to quantize the layer’s activations or not.',
  { enable_activation_quantization: false },
  trainableActivation,
);
