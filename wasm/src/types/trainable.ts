// SPDX-License-Identifier: Apache-2.0
//
// Trainable quantizers and what they are made from, as trainable_infrastructure has them.

import type { QuantizationMethod } from '../requirements.js';

/** Variables that stand for weights, and those of the quantizer. */
export type VariableGroup = 'WEIGHTS' | 'QPARAMS';

/** One number for the tensor, or one for each channel. */
export type PerChannel = number | readonly number[];

/** Where a quantizer starts; what is left out follows from the values that it is initialized with. */
export interface TrainableQuantizationParams {
  /** Above 0; UNIFORM takes it as both ends. */
  readonly threshold?: PerChannel | null | undefined;
  readonly range_min?: PerChannel | null | undefined;
  readonly range_max?: PerChannel | null | undefined;
  readonly lut_values?: PerChannel | null | undefined;
  /** Activations: whether values below 0 have codes; null: where there are such values. */
  readonly is_signed?: boolean | null | undefined;
  readonly narrow_range?: boolean | undefined;
}

export interface TrainableQuantizerCandidateConfig {
  readonly n_bits?: number | undefined;
  readonly quantization_params?: TrainableQuantizationParams | undefined;
}

export interface TrainableQuantizerWeightsConfig {
  readonly weights_quantization_method: QuantizationMethod;
  /** 2 to 16. */
  readonly weights_n_bits?: number | undefined;
  readonly weights_quantization_params?: TrainableQuantizationParams | undefined;
  readonly enable_weights_quantization?: boolean | undefined;
  /** Below 0 it counts from the end. */
  readonly weights_channels_axis?: number | undefined;
  readonly weights_per_channel_threshold?: boolean | undefined;
  readonly min_threshold?: number | undefined;
  readonly weights_quantization_candidates?: readonly TrainableQuantizerCandidateConfig[] | null | undefined;
}

export interface TrainableQuantizerActivationConfig {
  readonly activation_quantization_method: QuantizationMethod;
  /** 2 to 16. */
  readonly activation_n_bits?: number | undefined;
  readonly activation_quantization_params?: TrainableQuantizationParams | undefined;
  readonly enable_activation_quantization?: boolean | undefined;
  readonly min_threshold?: number | undefined;
  readonly activation_quantization_candidates?: readonly TrainableQuantizerCandidateConfig[] | null | undefined;
}

export type TrainableQuantizerConfig = TrainableQuantizerWeightsConfig | TrainableQuantizerActivationConfig;

/** What training changes. Values may be written; quantizers add to gradients, and who steps sets them back to 0. */
export interface Variable {
  readonly name: string;
  readonly group: VariableGroup;
  readonly value: Float32Array;
  readonly gradient: Float32Array;
  readonly is_trainable: boolean;
}

/** A quantizer of inference, such as WeightsSymmetricInferableQuantizer with its arguments. */
export interface InferableQuantizerData {
  readonly class_name: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** What a trainable quantizer does. The core's are made by `trainableQuantizer`; one of your own has the same methods. */
export interface BaseTrainableQuantizer {
  /** Makes the variables for a tensor; a weight comes with all of its values, an activation with some or none. */
  initialize_quantization(values: Float32Array, shape: readonly number[], name: string): void;
  /** Quantized values, of the inputs' length. */
  call(inputs: Float32Array, training: boolean): Float32Array;
  /** Of a loss with the derivatives `by_output` at `inputs`: adds those by the variables, returns those by the inputs. */
  gradient(inputs: Float32Array, by_output: Float32Array): Float32Array;
  /** Null where quantization is not enabled. */
  convert2inferable(): InferableQuantizerData | null;
  get_trainable_variables(group: VariableGroup): readonly Variable[];
  /** `{ quantization_config, is_weights, is_activations, freeze_quant_params }`. */
  get_config(): Readonly<Record<string, unknown>>;
}
/** The documents have a base for each framework. */
export type BaseKerasTrainableQuantizer = BaseTrainableQuantizer;
export type BasePytorchTrainableQuantizer = BaseTrainableQuantizer;

/** Which class, and what it is made from: target and method are the config's. */
export interface TrainableQuantizerOptions {
  /** Default STE; there are LSQ and, of weights, SOFT (rounding that is learned). */
  readonly identifier?: string | undefined;
  readonly config: TrainableQuantizerConfig;
  readonly freeze_quant_params?: boolean | undefined;
}
