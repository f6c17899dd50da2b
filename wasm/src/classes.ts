// SPDX-License-Identifier: Apache-2.0
//
// The classes and enums of quantization_config, target_platform and framework_info as values, under the documents' names
// and with their arguments by name: `new OpQuantizationConfig({ activation_n_bits: 8, ... })`.

import { described, describedByDefaults } from './described.js';
import type * as types from './types.js';

/** SYMMETRIC_UNIFORM is the older documents' name. */
export const QuantizationMethod = {
  POWER_OF_TWO: 'POWER_OF_TWO',
  LUT_POT_QUANTIZER: 'LUT_POT_QUANTIZER',
  SYMMETRIC: 'SYMMETRIC',
  UNIFORM: 'UNIFORM',
  LUT_SYM_QUANTIZER: 'LUT_SYM_QUANTIZER',
  SYMMETRIC_UNIFORM: 'POWER_OF_TWO',
} as const;
export type QuantizationMethod = types.QuantizationMethod;

export const ThresholdSelectionMethod = {
  NOCLIPPING: 'NOCLIPPING',
  MSE: 'MSE',
  MAE: 'MAE',
  KL: 'KL',
  Lp: 'Lp',
} as const;
export type ThresholdSelectionMethod = types.ThresholdSelectionMethod;

export const MIN_THRESHOLD = 2 ** -16;

const documented = {
  activation_threshold_method: ThresholdSelectionMethod.MSE,
  weights_threshold_method: ThresholdSelectionMethod.MSE,
  activation_quantization_method: QuantizationMethod.SYMMETRIC_UNIFORM,
  weights_quantization_method: QuantizationMethod.SYMMETRIC_UNIFORM,
  activation_n_bits: 8,
  weights_n_bits: 8,
  relu_unbound_correction: false,
  weights_bias_correction: true,
  weights_per_channel_threshold: true,
  input_scaling: false,
  enable_weights_quantization: true,
  enable_activation_quantization: true,
  shift_negative_activation_correction: false,
  activation_channel_equalization: false,
  z_threshold: Infinity,
  min_threshold: MIN_THRESHOLD,
  l_p_value: 2,
  shift_negative_ratio: 0.25,
  shift_negative_threshold_recalculation: false,
} satisfies types.QuantizationConfig;

/**
 * The document's configuration: a field that is not given reads as the document's default, and as the `config` of a call a
 * value brings the preset `requirements`. A plain object changes our defaults.
 */
export const QuantizationConfig = describedByDefaults<types.QuantizationConfig>();
Object.assign(QuantizationConfig.prototype as object, documented);

/**
 * `config` and preset of a call. Beside a platform that is named, what a platform decides is the platform's where a value of
 * the class holds the document's default.
 */
export function configAsGiven(
  config: types.QuantizationConfig | undefined,
  preset: types.Preset | undefined,
  platform?: types.Platform,
): { readonly config: types.QuantizationConfig; readonly preset: types.Preset | null } {
  if (!(config instanceof QuantizationConfig)) return { config: config ?? {}, preset: preset ?? null };
  const open: Record<string, null> = {};
  if (platform !== undefined && !/^any(@|$)/.test(typeof platform === 'string' ? platform : ''))
    for (const name of Object.keys(documented) as (keyof typeof documented)[])
      if (
        /_(quantization|quantization_method|n_bits|per_channel_threshold)$/.test(name) &&
        config[name] === documented[name]
      )
        open[name] = null;
  return { config: { ...config, ...open }, preset: preset ?? 'requirements' };
}
export type QuantizationConfig = types.QuantizationConfig;

export const MixedPrecisionQuantizationConfig = describedByDefaults<types.MixedPrecisionQuantizationConfig>();
export type MixedPrecisionQuantizationConfig = types.MixedPrecisionQuantizationConfig;
export const GradientPTQConfig = describedByDefaults<types.GradientPTQConfig>();
export type GradientPTQConfig = types.GradientPTQConfig;

export const ResourceUtilization = describedByDefaults<types.ResourceUtilization>();
export type ResourceUtilization = types.ResourceUtilization;

/** The defaults are the document's: float weights. */
export const AttributeQuantizationConfig = described<
  types.AttributeQuantizationConfig,
  keyof types.AttributeQuantizationConfig
>({
  weights_quantization_method: QuantizationMethod.POWER_OF_TWO,
  weights_n_bits: 32,
  weights_per_channel_threshold: false,
  enable_weights_quantization: false,
  lut_values_bitwidth: null,
});
export type AttributeQuantizationConfig = types.AttributeQuantizationConfig;

export const OpQuantizationConfig = described<types.OpQuantizationConfig>({});
export type OpQuantizationConfig = types.OpQuantizationConfig;

/** A single candidate is the base; of several one has to be named. */
export class QuantizationConfigOptions implements types.QuantizationConfigOptions {
  readonly quantization_config_list: readonly types.OpQuantizationConfig[];
  readonly base_config: types.OpQuantizationConfig;
  readonly takes_any?: boolean | undefined;

  constructor(members: {
    readonly quantization_config_list: readonly types.OpQuantizationConfig[];
    readonly base_config?: types.OpQuantizationConfig | undefined;
    readonly takes_any?: boolean | undefined;
  }) {
    const { quantization_config_list, base_config, takes_any } = members;
    this.quantization_config_list = quantization_config_list;
    const [only] = quantization_config_list;
    // what is missing is told where the platform is read
    this.base_config = (base_config ??
      (quantization_config_list.length === 1 ? only : undefined)) as OpQuantizationConfig;
    if (takes_any !== undefined) this.takes_any = takes_any;
  }
}

export const OperatorsSet = described<types.OperatorsSet, 'qc_options'>({ qc_options: null });
export type OperatorsSet = types.OperatorsSet;

const nameOf = (set: types.OperatorsSet | string): string => (typeof set === 'string' ? set : set.name);

/** The sets that a fusing pattern treats alike: a list of their names. */
export const OperatorSetConcat = function (...opsets: readonly (types.OperatorsSet | string)[]) {
  return opsets.map(nameOf);
} as unknown as new (...opsets: readonly (types.OperatorsSet | string)[]) => types.OperatorSetConcat;
export type OperatorSetConcat = types.OperatorSetConcat;

type Group = types.OperatorsSet | types.OperatorSetConcat | string;

/** A chain of sets that the platform computes as one; without a name it is called after them. */
export class Fusing implements types.Fusing {
  readonly operator_groups_list: readonly types.OperatorSetConcat[];
  readonly name: string;
  readonly fuse_op_quantization_config?: types.OpQuantizationConfig | undefined;

  constructor(members: {
    readonly operator_groups_list: readonly Group[];
    readonly name?: string | undefined;
    readonly fuse_op_quantization_config?: types.OpQuantizationConfig | undefined;
  }) {
    const { operator_groups_list, name, fuse_op_quantization_config } = members;
    const isList = (group: Group): group is types.OperatorSetConcat => Array.isArray(group);
    this.operator_groups_list = operator_groups_list.map((group) => (isList(group) ? group : [nameOf(group)]));
    this.name = name ?? this.operator_groups_list.map((group) => group.join('|')).join('_');
    if (fuse_op_quantization_config) this.fuse_op_quantization_config = fuse_op_quantization_config;
  }
}

export const TargetPlatformModel = described<
  types.TargetPlatformModel,
  'add_metadata' | 'name' | 'operator_set' | 'fusing_patterns'
>({ add_metadata: false, name: 'default_tp_model', operator_set: [], fusing_patterns: [] });
export type TargetPlatformModel = types.TargetPlatformModel;

export const TargetPlatformCapabilities = described<
  types.TargetPlatformCapabilities,
  'schema_version' | 'name' | 'version' | 'title' | 'description' | 'export_rules'
>({ schema_version: 1, name: 'base', version: 1, title: '', description: '', export_rules: {} });
export type TargetPlatformCapabilities = types.TargetPlatformCapabilities;

export const LayerFilterParams = described<types.LayerFilterParams>({});
export type LayerFilterParams = types.LayerFilterParams;

type Comparison = Extract<types.AttributeFilter, { readonly attr: string }>;
type Compares = new (attr: string, value: types.AttributeValue) => Comparison;

const comparison = (op: Comparison['op']): Compares =>
  class {
    readonly op = op;
    constructor(
      readonly attr: string,
      readonly value: types.AttributeValue,
    ) {}
  };

/** The AttributeFilters, `new Eq('activation', 'relu')`; conditions of a filter's `all` hold together, of `any` one does. */
export const Eq = comparison('Eq');
export const NotEq = comparison('NotEq');
export const Greater = comparison('Greater');
export const GreaterEq = comparison('GreaterEq');
export const Smaller = comparison('Smaller');
export const SmallerEq = comparison('SmallerEq');
export const Contains = comparison('Contains');

/** Which layers stand behind a set of the platform. */
export class OperationsSetToLayers {
  constructor(
    readonly op_set_name: string,
    readonly layers: types.Layers,
    readonly attr_mapping?: types.AttrMapping,
  ) {}
}

/** Sets with their layers, as `custom_tpc_opset_to_layer` of a QuantizationConfig takes them. */
export const OperationsToLayers = function (op_sets_to_layers: readonly OperationsSetToLayers[] = []) {
  return Object.fromEntries(
    op_sets_to_layers.map(({ op_set_name, layers, attr_mapping }) => [
      op_set_name,
      attr_mapping ? { layers, attr_mapping } : layers,
    ]),
  );
} as unknown as new (op_sets_to_layers?: readonly OperationsSetToLayers[]) => types.OpsetToLayers;
export type OperationsToLayers = types.OpsetToLayers;

export const FrameworkInfo = describedByDefaults<types.FrameworkInfo>();
export type FrameworkInfo = types.FrameworkInfo;
