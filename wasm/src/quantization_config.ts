// SPDX-License-Identifier: Apache-2.0
// Made by build.mjs from the core's list of fields: do not edit.

import type { OpsetToLayers } from './requirements.js';

/** What the quantized model may take at most: weights_memory, activation_memory and total_memory in bytes, bops in bit operations. Each operator then has the candidate of the platform that costs least accuracy within these budgets; null, or only nulls, leaves every operator its base. */
export interface ResourceUtilization {
  /** Bytes of the quantized weights. Default null. */
  readonly weights_memory?: number | null | undefined;
  /** Bytes of the activations that are there at once, at most. Default null. */
  readonly activation_memory?: number | null | undefined;
  /** Bytes of both together. Default null. */
  readonly total_memory?: number | null | undefined;
  /** Bit operations of one run. Default null. */
  readonly bops?: number | null | undefined;
}

/** How candidates are compared and chosen; null takes the defaults. Acts with a budget, with float_operators, or with configuration_overwrite. */
export interface MixedPrecisionQuantizationConfig {
  /** Samples that the sensitivities are measured on. Default 32. */
  readonly num_of_images?: number | undefined;
  /** How far a tensor of the quantized model lies from that of the float one: MSE, COSINE or KL; null takes KL for a Softmax, COSINE for a Sigmoid and for dense layers, and MSE for others. Default null. */
  readonly distance_fn?: 'MSE' | 'COSINE' | 'KL' | null | undefined;
  /** What each interest point counts. Default AVG. */
  readonly distance_weighting_method?: 'AVG' | 'LAST_LAYER' | 'EXP' | 'HESSIAN' | undefined;
  /** The part of the interest points (outputs of convolutions, dense layers, Add, Concat, Sigmoid and Softmax) that distances are measured at. Default 1. */
  readonly num_interest_points_factor?: number | undefined;
  /** Spend what the choice leaves of the budget on more bits. Default true. */
  readonly refine_mp_solution?: boolean | undefined;
  /** What the sensitivities of an operator's candidates are divided by: NONE, or that of the candidate with the most (MAXBIT) or the fewest (MINBIT) bits. Default NONE. */
  readonly metric_normalization?: 'NONE' | 'MAXBIT' | 'MINBIT' | undefined;
  /** By how much a candidate is at least more sensitive than the one with the most bits; null: not at all. Default 0.000001. */
  readonly metric_epsilon?: number | null | undefined;
  /** From this sensitivity on, all are divided by the largest. Default 10000000000. */
  readonly metric_normalization_threshold?: number | undefined;
  /** The distance at which EXP gives a point 63 % of the weight of one far away. Default 0.1. */
  readonly exp_distance_weighting_sigma?: number | undefined;
  /** The candidate of each configurable operator, in the order of the graph, in place of a search; null searches. Default null. */
  readonly configuration_overwrite?: readonly number[] | null | undefined;
  /** Bits of weights to choose among, such as [8, 4, 2]; empty takes all that the platform offers. Default []. */
  readonly weights_n_bits?: readonly number[] | undefined;
  /** Bits of activations to choose among, such as [16, 8]; empty takes all that the platform offers. Default []. */
  readonly activation_n_bits?: readonly number[] | undefined;
  /** At most so many operators may stay in float where that lowers the error most; null: none. Default null. */
  readonly float_operators?: number | null | undefined;
}

/** Train weights, biases and ranges on the samples after calibration; null does not. */
export interface GradientPTQConfig {
  /** How often training goes through the samples. Default 20. */
  readonly n_epochs?: number | undefined;
  /** Samples that one gradient step is the mean of. Default 16. */
  readonly batch_size?: number | undefined;
  /** SoftQuantizer trains whether each weight is rounded up or down, STE the weights themselves, the gradient passing through their rounding. Default SoftQuantizer. */
  readonly rounding_type?: 'SoftQuantizer' | 'STE' | undefined;
  /** Train how weights are rounded (or the weights themselves); else their integers stay. Default true. */
  readonly train_rounding?: boolean | undefined;
  /** Train the scales of weights too, one for each channel; where roundings are trained as well, they follow in the second half of the steps. Default true. */
  readonly train_scales?: boolean | undefined;
  /** Train the biases too. Default true. */
  readonly train_bias?: boolean | undefined;
  /** Train the scales of activations too (LSQ). Default true. */
  readonly train_ranges?: boolean | undefined;
  /** Weigh each layer by what a change of its output does to the model's outputs; else all alike. Default true. */
  readonly hessian_weights?: boolean | undefined;
  /** Blend from float to quantized activations over the steps. Default false. */
  readonly gradual_activation_quantization?: boolean | undefined;
  /** What the distance of soft roundings from 0 and 1 counts beside the error. Default 0.01. */
  readonly regularization_factor?: number | undefined;
  /** Of weights, by Adam: of the variable of a soft rounding (null: 0.1), or in parts of a weight's step (null: 0.001). Default null. */
  readonly learning_rate?: number | null | undefined;
  /** Of biases, by SGD with the momentum 0.9; null: 0.03. Default null. */
  readonly learning_rate_bias?: number | null | undefined;
  /** Of the scales of activations and weights, by Adam, in parts of each; null: 0.004. Default null. */
  readonly learning_rate_ranges?: number | null | undefined;
  /** What the cross-entropy of the samples' labels counts in the loss, 0 to 1; the distance from the float model counts the rest. 0 needs no labels. Default 0. */
  readonly label_weight?: number | undefined;
  /** The part of the samples of a step that are changed, 0 to 1: what looks like pictures is moved and mirrored, and all kinds are mixed with another sample; null: 0.8. Default null. */
  readonly augmentation?: number | null | undefined;
  /** Gradients pass so many kernels, so that each block of the model learns by itself; 0: the whole model. Default 0. */
  readonly block_kernels?: number | undefined;
  /** Training ends after so many gradient steps, its schedule being that of all; null: when the epochs are done. Default null. */
  readonly most_steps?: number | null | undefined;
}

/** The fields of QuantizationConfig, by their documented names; what is left out has its default. */
export interface QuantizationConfig {
  /** By what error the range of an activation is chosen; the document has MSE, but the third power, which minds rare large errors more, holds better on other samples. Default Lp. */
  readonly activation_threshold_method?:
    | 'NOCLIPPING'
    | 'MSE'
    | 'MAE'
    | 'KL'
    | 'Lp'
    | 'Entropy'
    | 'Percentile'
    | 'Distribution'
    | 'MovingAverage'
    | undefined;
  /** By what error the range of a weight tensor is chosen; the document has MSE, but with a scale per channel clipping gains nothing. Default NOCLIPPING. */
  readonly weights_threshold_method?: 'NOCLIPPING' | 'MSE' | 'MAE' | 'KL' | 'Lp' | undefined;
  /** The quantizer of activations; null leaves it to the platform. Default null. */
  readonly activation_quantization_method?:
    'POWER_OF_TWO' | 'SYMMETRIC' | 'UNIFORM' | 'LUT_POT_QUANTIZER' | 'LUT_SYM_QUANTIZER' | null | undefined;
  /** The quantizer of weights; null leaves it to the platform. Default null. */
  readonly weights_quantization_method?:
    'POWER_OF_TWO' | 'SYMMETRIC' | 'UNIFORM' | 'LUT_POT_QUANTIZER' | 'LUT_SYM_QUANTIZER' | null | undefined;
  /** Bits of an activation; null leaves them to the platform. From 2 to 16. Default null. */
  readonly activation_n_bits?: number | null | undefined;
  /** Bits of a weight; null leaves them to the platform. From 2 to 16. Default null. */
  readonly weights_n_bits?: number | null | undefined;
  /** Scale bounded activations so that the bound is the whole range of the quantizer. Default false. */
  readonly relu_unbound_correction?: boolean | undefined;
  /** Correct the bias for the mean error that quantized weights make. Default true. */
  readonly weights_bias_correction?: boolean | undefined;
  /** One range per output channel of a weight tensor, or one for the tensor; null leaves it to the platform. Default null. */
  readonly weights_per_channel_threshold?: boolean | null | undefined;
  /** Scale the input of the model so that it uses the whole range of its quantizer. Default false. */
  readonly input_scaling?: boolean | undefined;
  /** Quantize weights; null leaves it to the platform. Default null. */
  readonly enable_weights_quantization?: boolean | null | undefined;
  /** Quantize activations; null leaves it to the platform. Default null. */
  readonly enable_activation_quantization?: boolean | null | undefined;
  /** Shift activations with a small negative side so that they need no sign. Default false. */
  readonly shift_negative_activation_correction?: boolean | undefined;
  /** Scale channels of unlike ranges to like ones before their quantizer; the document has false, but depthwise networks lose 4 to 6 dB without it. Default true. */
  readonly activation_channel_equalization?: boolean | undefined;
  /** Leave out activations that lie more than so many standard deviations from the mean; null is off. From 0 to …. Default null. */
  readonly z_threshold?: number | null | undefined;
  /** No threshold is chosen smaller than this (UNIFORM has ranges, and no thresholds). From 9.094947017729282e-13 to 1. Default 3.725290298461914e-9. */
  readonly min_threshold?: number | undefined;
  /** The p of the Lp error; the document has 2. From 1 to 8. Default 3. */
  readonly l_p_value?: number | undefined;
  /** Shift where the negative side is at most this part of the threshold. From 0 to 1. Default 0.25. */
  readonly shift_negative_ratio?: number | undefined;
  /** Choose the threshold anew after a shift. Default false. */
  readonly shift_negative_threshold_recalculation?: boolean | undefined;
  /** Choose shift and threshold of such a shift together, by least square error. Default false. */
  readonly shift_negative_params_search?: boolean | undefined;
  /** How the mean error is found: MEASURED on the samples layer by layer, or ANALYTIC from the statistics alone. Default MEASURED. */
  readonly weights_bias_correction_method?: 'MEASURED' | 'ANALYTIC' | undefined;
  /** Keep in float what feeds a logarithm, root or reciprocal that 8 bits cannot feed, and joins at the end that one scale cannot serve. Default true. */
  readonly keep_float_automatically?: boolean | undefined;
  /** Around a Swish, and after a Conv that float nodes alone read, scale each channel to its quantizer. Acts with prefer=ACCURACY, and by default where it gains and costs no time in the runtime. Default true. */
  readonly split_scales?: boolean | undefined;
  /** Rescale each output channel so that its deviation is what it was before the weights were quantized. Default false. */
  readonly weights_second_moment_correction?: boolean | undefined;
  /** Correct the bias for the mean error that a quantized input makes. Default false. */
  readonly activation_bias_correction?: boolean | undefined;
  /** Leave mean errors of an input alone that are below so many percent of its mean. From 0 to …. Default 0. */
  readonly activation_bias_correction_threshold?: number | undefined;
  /** Centre the input of a Softmax on zero through the bias before it. Default false. */
  readonly softmax_shift?: boolean | undefined;
  /** Join a Conv and the 1x1 Conv after it into one where that saves weights. Default false. */
  readonly linear_collapsing?: boolean | undefined;
  /** Write the Add of a Conv's own input into the Conv's weights. Default false. */
  readonly residual_collapsing?: boolean | undefined;
  /** Give what feeds a Concat the range of the Concat. Default false. */
  readonly concat_threshold_update?: boolean | undefined;
  /** So many inputs of an output channel share a scale (16, 32, 64, 128 or 256), where weights are restored for float arithmetic; 0 has no blocks, null leaves it to the platform. From 0 to 256. Default null. */
  readonly weights_block_size?: number | null | undefined;
  /** How long to look for the weights' integers: 0 takes the nearest, 1 those whose errors make up for each other on the samples, 2 tries more. Acts where biases are measured on the samples. From 0 to 2. Default 1. */
  readonly effort?: number | undefined;
  /** What counts where time in the runtime, size and accuracy pull apart: SPEED, BALANCED, ACCURACY or SIZE, for which several files are compared on samples held aside; INTEGERS runs every kernel in integers. Default BALANCED. */
  readonly prefer?: 'SPEED' | 'BALANCED' | 'ACCURACY' | 'SIZE' | 'INTEGERS' | undefined;
  /** Keep what exporters note in the file: doc strings, and metadata of nodes and values such as stack traces. Default false. */
  readonly keep_metadata?: boolean | undefined;
  /** Write a file that is larger than the float one; false makes that an error. Default false. */
  readonly allow_larger_file?: boolean | undefined;
  /** What the file takes and gives where the model has floats: FLOAT32, or integers of 8 bits, as cameras and NPUs have them, of the scale and zero point of the first and last quantizer: UINT8, INT8, UINT8_INT8 (inputs, outputs) or UINT8_FLOAT32. Default FLOAT32. */
  readonly io_types?: 'FLOAT32' | 'UINT8' | 'INT8' | 'UINT8_INT8' | 'UINT8_FLOAT32' | undefined;
  /** Take BatchNormalization and Dropout that were exported in training mode as in inference: with the statistics in the file, and without dropping anything. Default false. */
  readonly inference_mode?: boolean | undefined;
  /** Hold a part of the samples aside, try there what each correction gains, and take back what does not; needs 16 samples. Default true. */
  readonly holdout?: boolean | undefined;
  /** Which operators an operator set of the platform stands for, in place of those it has: a list of types and filters for each set; null changes none. Default null. */
  readonly custom_tpc_opset_to_layer?: OpsetToLayers | null | undefined;
  /** What the quantized model may take at most: weights_memory, activation_memory and total_memory in bytes, bops in bit operations. Each operator then has the candidate of the platform that costs least accuracy within these budgets; null, or only nulls, leaves every operator its base. Default null. */
  readonly target_resource_utilization?: ResourceUtilization | null | undefined;
  /** How candidates are compared and chosen; null takes the defaults. Acts with a budget, with float_operators, or with configuration_overwrite. Default null. */
  readonly mixed_precision_config?: MixedPrecisionQuantizationConfig | null | undefined;
  /** Train weights, biases and ranges on the samples after calibration; null does not. Default null. */
  readonly gradient_ptq_config?: GradientPTQConfig | null | undefined;
}
