// SPDX-License-Identifier: Apache-2.0
// Made by build.mjs from the core's list of fields: do not edit.

import type { OpsetToLayers } from './types/layers.js';
import type { OutputKind } from './types/report.js';

/** Nodes that stay in float, as NNCF's IgnoredScope names them: names, patterns (regular expressions), types, and subgraphs between inputs and outputs. What chooses no node is an error, unless validate is false. Null names none. */
export interface IgnoredScope {
  /** Names of nodes. Default []. */
  readonly names?: readonly string[] | undefined;
  /** Regular expressions that names of nodes begin with. Default []. */
  readonly patterns?: readonly string[] | undefined;
  /** Operator types. Default []. */
  readonly types?: readonly string[] | undefined;
  /** Inputs and outputs of parts of the graph: all nodes on the ways between them, and they too. Default []. */
  readonly subgraphs?:
    readonly { readonly inputs?: readonly string[]; readonly outputs?: readonly string[] }[] | undefined;
  /** Whether what chooses no node is an error; else a remark. Default true. */
  readonly validate?: boolean | undefined;
}

/** Limits for the quantized model: weights_memory, activation_memory and total_memory in bytes, bops in bit operations. Each operator gets the candidate of the platform that costs least accuracy within these limits; null, or only nulls, gives every operator the base configuration. */
export interface ResourceUtilization {
  /** Bytes of the quantized weights. Default null. */
  readonly weights_memory?: number | null | undefined;
  /** Bytes of the activations that exist at the same time, at most. Default null. */
  readonly activation_memory?: number | null | undefined;
  /** Bytes of weights and activations together. Default null. */
  readonly total_memory?: number | null | undefined;
  /** Bit operations of one run. Default null. */
  readonly bops?: number | null | undefined;
}

/** How candidates are compared and chosen; null uses the defaults. Acts with a limit, with float_operators, or with configuration_overwrite. */
export interface MixedPrecisionQuantizationConfig {
  /** Number of samples that sensitivities are measured on. Default 32. */
  readonly num_of_images?: number | undefined;
  /** The distance between a tensor of the quantized model and that of the float model: MSE, COSINE or KL. Null uses KL for a Softmax, COSINE for a Sigmoid and for dense layers, and MSE for others. Default null. */
  readonly distance_fn?: 'MSE' | 'COSINE' | 'KL' | null | undefined;
  /** How the interest points are weighted. Default AVG. */
  readonly distance_weighting_method?: 'AVG' | 'LAST_LAYER' | 'EXP' | 'HESSIAN' | undefined;
  /** Fraction of the interest points (outputs of convolutions, dense layers, Add, Concat, Sigmoid and Softmax) at which distances are measured. Default 1. */
  readonly num_interest_points_factor?: number | undefined;
  /** Spend what the chosen candidates leave of the limits on more bits. Default true. */
  readonly refine_mp_solution?: boolean | undefined;
  /** Divisor of the sensitivities of an operator's candidates: none (NONE), or the sensitivity of the candidate with the most (MAXBIT) or the fewest (MINBIT) bits. Default NONE. */
  readonly metric_normalization?: 'NONE' | 'MAXBIT' | 'MINBIT' | undefined;
  /** Least difference between the sensitivity of a candidate and that of the candidate with the most bits; null: no least difference. Default 0.000001. */
  readonly metric_epsilon?: number | null | undefined;
  /** If a sensitivity reaches this value, all are divided by the largest. Default 10000000000. */
  readonly metric_normalization_threshold?: number | undefined;
  /** The sigma of EXP, whose weight is 1 - exp(-distance / sigma): a point at this distance has 63 % of the weight of a distant point. Default 0.1. */
  readonly exp_distance_weighting_sigma?: number | undefined;
  /** Index of the candidate of each configurable operator, in the order of the graph, instead of a search; null searches. Default null. */
  readonly configuration_overwrite?: readonly number[] | null | undefined;
  /** Bits of weights to choose from, such as [8, 4, 2]; empty allows all that the platform offers. Default []. */
  readonly weights_n_bits?: readonly number[] | undefined;
  /** Bits of activations to choose from, such as [16, 8]; empty allows all that the platform offers. Default []. */
  readonly activation_n_bits?: readonly number[] | undefined;
  /** Maximum number of operators that stay in float, where that lowers the error most; null: none. Default null. */
  readonly float_operators?: number | null | undefined;
}

/** Train weights, biases and ranges on the samples after calibration; null trains nothing. */
export interface GradientPTQConfig {
  /** Number of passes of the training over the samples. Default 20. */
  readonly n_epochs?: number | undefined;
  /** Number of samples per gradient step. Default 16. */
  readonly batch_size?: number | undefined;
  /** SoftQuantizer trains whether each weight is rounded up or down. STE trains the weights themselves; the gradient passes straight through their rounding. Default SoftQuantizer. */
  readonly rounding_type?: 'SoftQuantizer' | 'STE' | undefined;
  /** Train the rounding of weights (STE: the weights); false keeps their integers. Default true. */
  readonly train_rounding?: boolean | undefined;
  /** Train the scales of weights, one per channel. If roundings are trained as well, the scales follow in the second half of the steps. Default true. */
  readonly train_scales?: boolean | undefined;
  /** Train the biases. Default true. */
  readonly train_bias?: boolean | undefined;
  /** Train the scales of activations (LSQ). Default true. */
  readonly train_ranges?: boolean | undefined;
  /** Weight the loss of each layer by the effect of its output on the model's outputs; false weights all layers alike. Default true. */
  readonly hessian_weights?: boolean | undefined;
  /** Blend from float to quantized activations during the training. Default false. */
  readonly gradual_activation_quantization?: boolean | undefined;
  /** Weight, in the loss, of the distance of soft roundings from 0 and 1. Default 0.01. */
  readonly regularization_factor?: number | undefined;
  /** Learning rate of weights, for Adam: of the variable of a soft rounding (null: 0.1), or with STE in units of a weight's step (null: 0.001). Default null. */
  readonly learning_rate?: number | null | undefined;
  /** Learning rate of biases, for SGD with momentum 0.9; null: 0.03. Default null. */
  readonly learning_rate_bias?: number | null | undefined;
  /** Learning rate of the scales of activations and weights, for Adam, relative to each scale; null: 0.004. Default null. */
  readonly learning_rate_ranges?: number | null | undefined;
  /** Weight of the cross-entropy with the samples' labels in the loss, 0 to 1; the distance from the float model has the remaining weight. 0 needs no labels. Default 0. */
  readonly label_weight?: number | undefined;
  /** Fraction of the samples of a step that are changed, 0 to 1. Samples that look like pictures are moved and mirrored; samples of any kind are mixed with another sample. Null: 0.8. Default null. */
  readonly augmentation?: number | null | undefined;
  /** Number of kernels that gradients pass through, so that each block of the model is trained by itself; 0 trains the whole model at once. Default 0. */
  readonly block_kernels?: number | undefined;
  /** Maximum number of gradient steps; the schedule stays that of all epochs. Null: no maximum. Default null. */
  readonly most_steps?: number | null | undefined;
}

/** The fields of QuantizationConfig, by their documented names; what is left out has its default. */
export interface QuantizationConfig {
  /** How the range of an activation is chosen. The requirement document has MSE; the default, Lp with the third power, weighs large errors more and holds better on unseen samples. Default Lp. */
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
  /** How the range of a weight tensor is chosen. The requirement document has MSE; the default does not clip, because with a scale per channel clipping gains nothing. Default NOCLIPPING. */
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
  /** Rescale bounded activations so that their bound is the end of the quantizer's range. Default false. */
  readonly relu_unbound_correction?: boolean | undefined;
  /** Correct the bias for the mean error that the rounding of weights causes. Default true. */
  readonly weights_bias_correction?: boolean | undefined;
  /** Use a range per output channel of a weight tensor (true) or a single range (false); null leaves it to the platform. Default null. */
  readonly weights_per_channel_threshold?: boolean | null | undefined;
  /** Scale the model's input so that it uses the whole range of its quantizer. Default false. */
  readonly input_scaling?: boolean | undefined;
  /** Quantize weights; null leaves it to the platform. Default null. */
  readonly enable_weights_quantization?: boolean | null | undefined;
  /** Quantize activations; null leaves it to the platform. Default null. */
  readonly enable_activation_quantization?: boolean | null | undefined;
  /** Shift activations with a small negative side so that they can be unsigned. Default false. */
  readonly shift_negative_activation_correction?: boolean | undefined;
  /** Rescale the channels of a tensor to similar ranges before it is quantized. The requirement document has false, but depthwise networks lose 4 to 6 dB without it. Default true. */
  readonly activation_channel_equalization?: boolean | undefined;
  /** Ignore activations that are more than this many standard deviations from the mean; null ignores none. From 0 to …. Default null. */
  readonly z_threshold?: number | null | undefined;
  /** The smallest threshold that may be chosen (UNIFORM has ranges, and no thresholds). From 9.094947017729282e-13 to 1. Default 3.725290298461914e-9. */
  readonly min_threshold?: number | undefined;
  /** The exponent p of the Lp error; the requirement document has 2. From 1 to 8. Default 3. */
  readonly l_p_value?: number | undefined;
  /** Shift an activation if its negative side is at most this fraction of the threshold. From 0 to 1. Default 0.25. */
  readonly shift_negative_ratio?: number | undefined;
  /** Choose the threshold again after a shift. Default false. */
  readonly shift_negative_threshold_recalculation?: boolean | undefined;
  /** Choose the shift and the threshold together, by least squared error. Default false. */
  readonly shift_negative_params_search?: boolean | undefined;
  /** The percentage of the values that Percentile keeps: it leaves out half of the rest on each side, with SYMMETRIC all of it of the magnitudes. From 50 to 100. Default 99.999. */
  readonly percentile?: number | undefined;
  /** How the mean error is computed: MEASURED on the samples, layer by layer, or ANALYTIC from the statistics alone. Default MEASURED. */
  readonly weights_bias_correction_method?: 'MEASURED' | 'ANALYTIC' | undefined;
  /** Nodes that stay in float, as NNCF's IgnoredScope names them: names, patterns (regular expressions), types, and subgraphs between inputs and outputs. What chooses no node is an error, unless validate is false. Null names none. Default null. */
  readonly ignored_scope?: IgnoredScope | null | undefined;
  /** Keep layers in float if 8 bits are not enough: those that feed a logarithm, root or reciprocal, and joins at the model's end whose parts need different scales. Default true. */
  readonly keep_float_automatically?: boolean | undefined;
  /** Scale each channel to its quantizer around a Swish, and behind a Conv that only float nodes read. Acts with prefer=ACCURACY; otherwise only where it gains accuracy and costs no time in the runtime. Default true. */
  readonly split_scales?: boolean | undefined;
  /** Move and scale the channels that a MatMul reads, so that they share a quantizer well; the weights undo it. Acts on what is made in float, where the predicted noise falls by a fifth. Default true. */
  readonly activation_smoothing?: boolean | undefined;
  /** Rescale each output channel so that its standard deviation is that of the float model. Default false. */
  readonly weights_second_moment_correction?: boolean | undefined;
  /** Correct the bias for the mean error that quantizing the input causes. Default false. */
  readonly activation_bias_correction?: boolean | undefined;
  /** Do not correct mean errors of an input below this percentage of its mean. From 0 to …. Default 0. */
  readonly activation_bias_correction_threshold?: number | undefined;
  /** Centre the input of a Softmax on zero by changing the bias of the layer in front of it. Default false. */
  readonly softmax_shift?: boolean | undefined;
  /** Merge a Conv and the 1x1 Conv behind it if that saves weights. Default false. */
  readonly linear_collapsing?: boolean | undefined;
  /** Merge an Add of a Conv's input to its output into the Conv's weights. Default false. */
  readonly residual_collapsing?: boolean | undefined;
  /** Give the inputs of a Concat the range of its output. Default false. */
  readonly concat_threshold_update?: boolean | undefined;
  /** Number of inputs of an output channel that share a scale (16, 32, 64, 128 or 256), where weights are restored for float arithmetic; 0 uses no blocks, null leaves it to the platform. From 0 to 256. Default null. */
  readonly weights_block_size?: number | null | undefined;
  /** How MatMulNBits computes: 1 sums floats, 4 rounds its input to 8 bits, 2 and 3 use float16 and bfloat16 where the runtime has such kernels, 0 leaves it to the runtime. Null is 4 with prefer=SPEED, else 1. Acts where a platform writes MatMulNBits. From 0 to 4. Default null. */
  readonly accuracy_level?: number | null | undefined;
  /** Effort of rounding the weights: 0 rounds to the nearest integers, 1 chooses integers whose errors compensate each other on the samples, 2 tries more. Acts where biases are measured on the samples. From 0 to 2. Default 1. */
  readonly effort?: number | undefined;
  /** What to optimize when time in the runtime, size and accuracy conflict: SPEED, BALANCED, ACCURACY or SIZE, for which several files are compared on samples held aside; INTEGERS runs every kernel in integers. Default BALANCED. */
  readonly prefer?: 'SPEED' | 'BALANCED' | 'ACCURACY' | 'SIZE' | 'INTEGERS' | undefined;
  /** Keep the notes of exporters in the file: doc strings, and metadata of nodes and values such as stack traces. Default false. */
  readonly keep_metadata?: boolean | undefined;
  /** Write the quantized file even if it is larger than the float file; false makes that an error. Default false. */
  readonly allow_larger_file?: boolean | undefined;
  /** Types of the file's inputs and outputs that are float in the model: FLOAT32, or 8-bit integers for cameras and NPUs, with the scale and zero point of the first and last quantizer: UINT8, INT8, UINT8_INT8 (inputs, outputs) or UINT8_FLOAT32. PIXELS: the first input takes pixels of pictures (uint8, 0 to 255) and the file holds the preprocessing's scale, mean and std; PIXELS_UINT8 and PIXELS_INT8 give integers too. Default FLOAT32. */
  readonly io_types?:
    | 'FLOAT32'
    | 'UINT8'
    | 'INT8'
    | 'UINT8_INT8'
    | 'UINT8_FLOAT32'
    | 'PIXELS'
    | 'PIXELS_UINT8'
    | 'PIXELS_INT8'
    | undefined;
  /** Convert BatchNormalization and Dropout that were exported in training mode to inference mode: use the statistics in the file, and drop nothing. Default false. */
  readonly inference_mode?: boolean | undefined;
  /** Hold a part of the samples aside, try each correction on them, and switch off corrections that gain nothing; needs 16 samples. Default true. */
  readonly holdout?: boolean | undefined;
  /** What outputs of the model hold, by name, where the graph does not tell: classes (or logits), embedding, map (or mask), scores, boxes, detections or values (or landmarks). The report judges each in its measure; the file stays the same. Null leaves it to the graph. Default null. */
  readonly output_roles?: Readonly<Record<string, OutputKind>> | null | undefined;
  /** The operators of an operator set of the platform, in place of its own: a list of types and filters for each set; null changes none. Default null. */
  readonly custom_tpc_opset_to_layer?: OpsetToLayers | null | undefined;
  /** Limits for the quantized model: weights_memory, activation_memory and total_memory in bytes, bops in bit operations. Each operator gets the candidate of the platform that costs least accuracy within these limits; null, or only nulls, gives every operator the base configuration. Default null. */
  readonly target_resource_utilization?: ResourceUtilization | null | undefined;
  /** How candidates are compared and chosen; null uses the defaults. Acts with a limit, with float_operators, or with configuration_overwrite. Default null. */
  readonly mixed_precision_config?: MixedPrecisionQuantizationConfig | null | undefined;
  /** Train weights, biases and ranges on the samples after calibration; null trains nothing. Default null. */
  readonly gradient_ptq_config?: GradientPTQConfig | null | undefined;
}
