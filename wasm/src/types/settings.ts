// SPDX-License-Identifier: Apache-2.0
//
// Platforms, fields of the configuration, overrides, the recipe.

import type {
  GradientPTQConfig,
  IgnoredScope,
  MixedPrecisionQuantizationConfig,
  QuantizationConfig,
  ResourceUtilization,
} from '../quantization_config.js';
import type { FrameworkInfo, QuantizeConfig, QuantizeConfigData, TargetPlatformCapabilities } from '../requirements.js';
import type { LayerFilterParams, OpsetToLayers } from './layers.js';
import type { OutputKind, TakenResources } from './report.js';
import type { Preprocessing } from './samples.js';

export interface PlatformInfo {
  readonly name: string;
  readonly version: number;
  /** For people, such as "ONNX Runtime CPU". */
  readonly title: string;
  readonly description: string;
}

/** `name`, `name@vK`, a platform written out (readPlatform), or what a platform file holds. */
export type Platform = string | TargetPlatformCapabilities | Readonly<Record<string, unknown>>;

/** What fields that are not given hold: the document's own defaults in place of ours. */
export type Preset = 'requirements';

export type FieldValue =
  | string
  | number
  | boolean
  | OpsetToLayers
  | Readonly<Record<string, OutputKind>>
  | ResourceUtilization
  | MixedPrecisionQuantizationConfig
  | GradientPTQConfig
  | IgnoredScope
  | null;

/** One member of a field that is an object. */
export interface MemberDescription {
  readonly name: string;
  readonly type: 'bool' | 'int' | 'number' | 'enum' | 'integers' | 'texts' | 'objects';
  readonly nullable: boolean;
  readonly default: string | number | boolean | readonly unknown[] | null;
  readonly choices: readonly string[] | null;
  /** Of a list of objects whose members are known; else null. */
  readonly members: readonly MemberDescription[] | null;
  /** One sentence. */
  readonly meaning: string;
}

/** One field of QuantizationConfig; the settings form is built from these. */
export interface FieldDescription {
  readonly name: string;
  readonly type: 'bool' | 'int' | 'number' | 'enum' | 'object';
  /** Null leaves the choice to the platform, or stands for "off" (z_threshold). */
  readonly nullable: boolean;
  readonly default: FieldValue;
  /** Values accepted now, for `enum`, for `int` where only a few are, and for members that anybody names; else null. */
  readonly choices: readonly (string | number)[] | null;
  readonly minimum: number | null;
  readonly maximum: number | null;
  /** One sentence. */
  readonly meaning: string;
  /** False: only the default is accepted in this version. */
  readonly acts: boolean;
  /** Of an object whose members are known; else null. */
  readonly members: readonly MemberDescription[] | null;
  /** Its name in Model Compression Toolkit 2; empty where it has none. */
  readonly mct: string;
  /** Its name in ONNX Runtime's quantize_static; empty where it has none. */
  readonly ort: string;
}

/** A setting for some layers: matched by name, by filter or by type, in this order of strength. */
export interface Override {
  readonly name?: string | undefined;
  readonly type?: string | undefined;
  readonly filter?: LayerFilterParams | undefined;
  readonly config?: QuantizationConfig | undefined;
  /** How the layer is quantized: an object with the six methods, or data, {class_name, config}. In a recipe always data. */
  readonly quantize_config?: QuantizeConfig | QuantizeConfigData | undefined;
  /** The class that trains the layer's weights: LSQWeightQATQuantizer, STEWeightQATQuantizer, ... */
  readonly trainable_quantizer?: string | undefined;
  /** Where some override annotates, nodes that none annotates stay float. */
  readonly annotate?: boolean | undefined;
}

/** TakenResources before samples are seen: null where it depends on sizes that the model leaves open to them. */
export type ExpectedResources = { readonly [name in keyof TakenResources]: number | null };

/** The recipe file: digests and the complete effective configuration. Same model + recipe + samples = same bytes. */
export interface Recipe {
  readonly format: 'tersor-recipe';
  readonly format_version: number;
  readonly tool_version: string;
  readonly model_digest: string;
  readonly platform: { readonly name: string; readonly version: number; readonly digest: string };
  readonly quantization_config: QuantizationConfig;
  readonly overrides: readonly Override[];
  readonly framework_info?: FrameworkInfo | undefined;
  readonly preprocessing: Preprocessing | null;
  readonly data_set: {
    /** Samples calibrated with. */
    readonly samples: number;
    /** Samples in the data set they come from; where more, those calibrated with are spread evenly, see Selection. */
    readonly of: number;
    /** SHA-256 over the digests of the samples calibrated with, in order. */
    readonly digest: string;
  };
  readonly seeds: Readonly<Record<string, number>>;
}
