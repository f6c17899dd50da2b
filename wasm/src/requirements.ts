// SPDX-License-Identifier: Apache-2.0
//
// The value types of target platforms, FrameworkInfo and QuantizeConfig, under the names of the requirement documents and
// in the form of their JSON. Types only; docs/requirements.md says what stands behind each name.

import type { QuantizationConfig } from './quantization_config.js';
import type { AttrMapping, Layers } from './types/layers.js';

export type QuantizationMethod = 'POWER_OF_TWO' | 'LUT_POT_QUANTIZER' | 'SYMMETRIC' | 'UNIFORM' | 'LUT_SYM_QUANTIZER';

/** By what the range of a tensor is chosen; a field says which of them act in it. */
export type ThresholdSelectionMethod = NonNullable<QuantizationConfig['activation_threshold_method']>;

export interface AttributeQuantizationConfig {
  readonly weights_quantization_method: QuantizationMethod;
  /** 32 is float. */
  readonly weights_n_bits: number;
  readonly weights_per_channel_threshold: boolean;
  readonly enable_weights_quantization: boolean;
  readonly lut_values_bitwidth: number | null;
  /** Inputs of an output channel that share a scale; null: all of them. */
  readonly weights_block_size?: number | null | undefined;
}

export interface OpQuantizationConfig {
  readonly default_weight_attr_config: AttributeQuantizationConfig;
  /** By `kernel_attr`, `bias_attr`, `pos_attr`. */
  readonly attr_weights_configs_mapping: Readonly<Record<string, AttributeQuantizationConfig>>;
  readonly activation_quantization_method: QuantizationMethod;
  readonly activation_n_bits: number;
  readonly supported_input_activation_n_bits: readonly number[];
  readonly enable_activation_quantization: boolean;
  readonly quantization_preserving: boolean;
  readonly fixed_scale: number | null;
  readonly fixed_zero_point: number | null;
  readonly simd_size: number;
  readonly signedness: 'AUTO' | 'SIGNED' | 'UNSIGNED';
}

export interface QuantizationConfigOptions {
  readonly quantization_config_list: readonly OpQuantizationConfig[];
  /** Beside those of the list, every number of bits and every method that is asked for is taken. */
  readonly takes_any?: boolean | undefined;
  /** Block sizes that may be asked for beside those of the list. */
  readonly block_sizes?: readonly number[] | undefined;
  readonly base_config: OpQuantizationConfig;
}

export interface OperatorsSet {
  readonly name: string;
  /** Null: the default options. */
  readonly qc_options: QuantizationConfigOptions | null;
  readonly runtime_kernel?: 'INTEGER' | 'INTEGER_FLOAT_OUTPUT' | 'FLOAT' | undefined;
  /** What the set stands for; without it the layers known for its name. */
  readonly layers?: Layers | undefined;
  /** Which weights the configurations of the set are for; without it ONNX's own. */
  readonly attr_mapping?: AttrMapping | undefined;
}

/** Names of operator sets that a fusing pattern treats alike. */
export type OperatorSetConcat = readonly string[];

export interface Fusing {
  readonly operator_groups_list: readonly OperatorSetConcat[];
  readonly name: string;
  readonly fuse_op_quantization_config?: OpQuantizationConfig | undefined;
}

export interface TargetPlatformModel {
  readonly name: string;
  readonly default_qco: QuantizationConfigOptions;
  readonly add_metadata: boolean;
  readonly operator_set: readonly OperatorsSet[];
  readonly fusing_patterns: readonly Fusing[];
  readonly tpc_minor_version?: number | undefined;
  readonly tpc_patch_version?: number | undefined;
  readonly tpc_platform_type?: string | undefined;
  readonly is_simd_padding?: boolean | undefined;
  readonly insert_preserving_quantizers?: boolean | undefined;
}

/** A platform written out in full, as readPlatform and getTargetPlatformCapabilities give it. */
export interface TargetPlatformCapabilities {
  readonly schema_version: number;
  readonly name: string;
  readonly version: number;
  readonly title: string;
  readonly description: string;
  readonly export_rules: Readonly<Record<string, string | boolean>>;
  readonly tp_model: TargetPlatformModel;
}

/** The lowest and the highest value; null: unbounded on that side. */
export type ValueBounds = readonly [number | null, number | null];

/** What is known of ONNX operators; a field that is given replaces the default's as a whole. */
export interface FrameworkInfo {
  readonly kernel_ops?: readonly string[] | undefined;
  readonly activation_ops?: readonly string[] | undefined;
  readonly no_quantization_ops?: readonly string[] | undefined;
  /** Which quantizer acts for a method. */
  readonly activation_quantizer_mapping?: Readonly<Partial<Record<QuantizationMethod, QuantizationMethod>>> | undefined;
  readonly weights_quantizer_mapping?: Readonly<Partial<Record<QuantizationMethod, QuantizationMethod>>> | undefined;
  /** Operator type to the axes of its kernel's output and input channels. */
  readonly kernel_channels_mapping?: Readonly<Record<string, readonly [number | null, number | null]>> | undefined;
  /** By name of an activation function, in lower case. */
  readonly activation_min_max_mapping?: Readonly<Record<string, ValueBounds>> | undefined;
  /** By operator type. */
  readonly layer_min_max_mapping?: Readonly<Record<string, ValueBounds>> | undefined;
}

/** A quantizer of a QuantizeConfig: its class, or class and members. */
export type LayerQuantizer =
  | LayerQuantizerClass
  | {
      readonly class_name: LayerQuantizerClass;
      readonly config?:
        | {
            readonly num_bits?: number | undefined;
            readonly per_axis?: boolean | undefined;
            readonly symmetric?: boolean | undefined;
            readonly narrow_range?: boolean | undefined;
            readonly init_min?: number | undefined;
            readonly init_max?: number | undefined;
            readonly batch_size?: number | undefined;
          }
        | undefined;
    };

export type LayerQuantizerClass =
  'LastValueQuantizer' | 'MovingAverageQuantizer' | 'AllValuesQuantizer' | 'FixedQuantizer';

/** A weight of a layer; with its quantizer once it is quantized. */
export interface LayerWeight {
  readonly name: string;
  readonly shape: readonly number[];
  /** Row-major; the float values. */
  readonly data: Float32Array;
  readonly quantizer?: LayerQuantizer | undefined;
}

export interface LayerActivation {
  /** "relu", "clip", ...; "linear" where no activation function follows. */
  readonly name: string;
  readonly quantizer?: LayerQuantizer | undefined;
}

/** A node as a QuantizeConfig sees it, with the Add of its bias and the activation function that alone reads its result. */
export interface Layer {
  readonly name: string;
  /** ONNX operator type. */
  readonly type: string;
  readonly outputs: number;
  /** The constant ones: kernel, bias. */
  readonly weights: readonly LayerWeight[];
  /** Reading one that the layer does not have is an error. */
  kernel: LayerWeight;
  bias: LayerWeight;
  activation: LayerActivation;
}

/** How a layer is quantized, by methods. They are called before a job, for each layer that the override chooses. */
export interface QuantizeConfig {
  /** The weights to quantize; those left out stay float. */
  get_weights_and_quantizers(layer: Layer): readonly (readonly [LayerWeight, LayerQuantizer])[];
  /** The layer's activation, or none. */
  get_activations_and_quantizers(layer: Layer): readonly (readonly [LayerActivation, LayerQuantizer])[];
  /** Puts what the getter gave, quantized and in its order, into the layer. */
  set_quantize_weights(layer: Layer, quantize_weights: readonly LayerWeight[]): void;
  set_quantize_activations(layer: Layer, quantize_activations: readonly LayerActivation[]): void;
  /** At most one for each output; none: outputs are not quantized. */
  get_output_quantizers(layer: Layer): readonly LayerQuantizer[];
  /** What makes the same object again; the recipe holds what the getters returned instead. */
  get_config(): Readonly<Record<string, unknown>>;
}

/** How a layer is quantized, as data: `LayerQuantizeConfig` names weights, activation and outputs with their quantizers. */
export type QuantizeConfigData =
  | {
      readonly class_name: 'LayerQuantizeConfig';
      readonly config: {
        readonly weights?: Readonly<Record<string, LayerQuantizer>> | undefined;
        readonly activation?: LayerQuantizer | null | undefined;
        readonly outputs?: readonly LayerQuantizer[] | undefined;
      };
    }
  | { readonly class_name: string; readonly config?: Readonly<Record<string, unknown>> | undefined };
