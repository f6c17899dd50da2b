// SPDX-License-Identifier: Apache-2.0

import type * as Package from 'tersor';

import { claimsOf, compared, quick, type Asked } from './shown';

const { claims, shows, tells } = claimsOf('quantization_config');
export { claims };

const documented = { preset: 'requirements' } as const;

function settings(
  sentence: string,
  change: Package.QuantizationConfig,
  base: Package.QuantizationConfig = {},
  asked?: Asked,
): void {
  shows(sentence, { ...documented, config: base }, { ...documented, config: { ...base, ...change } }, undefined, asked);
}

const example = {
  activation_n_bits: 6,
  weights_n_bits: 7,
  activation_quantization_method: 'SYMMETRIC',
  weights_quantization_method: 'SYMMETRIC',
  weights_threshold_method: 'MSE',
  activation_threshold_method: 'NOCLIPPING',
  relu_unbound_correction: true,
  weights_bias_correction: true,
  weights_per_channel_threshold: true,
} as const;
settings('Class to configure the quantization process of the model:', example);
settings('Class to wrap all different parameters the library quantize the input model according to.', {
  ...example,
  z_threshold: 4,
  shift_negative_activation_correction: true,
});
settings(
  'One may create a quantization configuration to quantize a model according to. For example, to quantize a model using 6 bits for activation, 7 bits for weights, weights and activation quantization method is symetric uniform, weights threshold selection using MSE, activation threshold selection using NOCLIPPING, enabling relu_unbound_correction, weights_bias_correction, and quantizing the weights per-channel, one can instantiate a quantization configuration:',
  example,
  { activation_n_bits: 8, weights_n_bits: 8 },
);
tells('The QuantizationConfig instanse can then be passed to keras_post_training_quantization()', (bench) => {
  const passed = new bench.tersor.QuantizationConfig(example);
  return compared(bench, { platform: 'any', config: quick }, { platform: 'any', config: { ...passed, ...quick } });
});
settings(
  'Enum to select a method for quantization threshold selection:',
  { activation_threshold_method: 'MAE' },
  { activation_threshold_method: 'NOCLIPPING' },
);
settings(
  'Method for quantization threshold selection:',
  { activation_threshold_method: 'Lp' },
  { activation_threshold_method: 'NOCLIPPING' },
);
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
settings(
  'input_scaling (bool) – Whether to use input scaling or not.',
  { input_scaling: true },
  { activation_quantization_method: 'SYMMETRIC' },
);
settings('enable_weights_quantization (bool) – Whether to quantize the model weights or not.', {
  enable_weights_quantization: false,
});
settings('enable_activation_quantization (bool) – Whether to quantize the model activations or not.', {
  enable_activation_quantization: false,
});
const shifting = { shift_negative_ratio: 0.9 };
settings(
  'shift_negative_activation_correction (bool) – Whether to use shifting negative activation correction or not.',
  { shift_negative_activation_correction: true },
  shifting,
  { celu: true },
);
settings(
  'shift_negative_ratio (float) – Value for the ratio between the minimal negative value of a non-linearity output to its activation threshold, which above it - shifting negative activation should occur if enabled.',
  { shift_negative_ratio: 0.01 },
  { ...shifting, shift_negative_activation_correction: true },
  { celu: true },
);
settings(
  'shift_negative_threshold_recalculation (bool) – Whether or not to recompute the threshold after shifting negative activation.',
  { shift_negative_threshold_recalculation: true },
  { ...shifting, shift_negative_activation_correction: true },
  { celu: true },
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
