// SPDX-License-Identifier: Apache-2.0
//
// The report and the recipe.

import type { QuantizationConfig } from '../quantization_config.js';
import type { FrameworkInfo, QuantizationMethod } from '../requirements.js';
import type { Comparison, DecibelRange, EvaluationResult } from './comparison.js';
import type { Diagnostic } from './errors.js';
import type { Coverage } from './model.js';
import type { Preprocessing } from './samples.js';
import type { Override } from './settings.js';

/** A step of the recipe that changed something. */
export interface Correction {
  /** The field of QuantizationConfig that switches it. */
  readonly name: string;
  /** Regions, layers or operators that it changed. */
  readonly places: number;
  /** A sentence. */
  readonly gained: string;
}

export interface Verdict {
  readonly usability: 'usable' | 'usable with care' | 'not worth it' | 'not usable';
  /** The figures that decided, with count and interval. */
  readonly reason: string;
  /** What is likely to be wrong, and what to do. */
  readonly causes: readonly string[];
  /** Where the file would give something else (on CPUs without VNNI), and what to do. */
  readonly cautions: readonly string[];
  /** Layers that make most of the error, worst first. */
  readonly worst_layers: readonly string[];
  /** SQNR that unseen samples are expected to have, in the output where it is lowest; null where too few were compared. */
  readonly unseen_range: DecibelRange | null;
}

/** The range that was chosen for an activation. */
export interface RangeRow {
  /** Its name in the prepared graph. */
  readonly tensor: string;
  readonly method: QuantizationMethod;
  readonly n_bits: number;
  /** Lowest and highest value that it represents, and that calibration saw. */
  readonly range: readonly [number, number];
  readonly seen: readonly [number, number];
  /** The step between two codes; several are those of channels. */
  readonly scale: readonly number[];
  readonly zero_point: number;
  /** SQNR in dB that the range by itself leaves of what calibration saw; null when exact, or where there is no histogram. */
  readonly expected_sqnr_db: number | null;
  /** How many times as far from 0 the farthest channel reaches as the middle one; null where channels were not watched. */
  readonly channel_unevenness: number | null;
}

/** What a layer's output channels cost more on a platform that computes `simd_size` of them at a time. */
export interface PaddingRow {
  readonly name: string;
  readonly op: string;
  readonly simd_size: number;
  readonly channels: number;
  /** The next multiple of `simd_size`. */
  readonly padded_channels: number;
  /** Part that weights and work grow by; 0.5 is half as much again. */
  readonly overhead: number;
}

/** A field of the configuration that says something else than its default; the values are JSON texts. */
export interface ChangedSetting {
  readonly field: string;
  readonly value: string;
  readonly default: string;
}

/** What the platform's runtime is expected to take for one sample, by its prices (docs/report.md). */
export interface TimeForecast {
  readonly float_ms: number;
  readonly quantized_ms: number;
  /** The former divided by the latter. */
  readonly times_as_fast: number;
  readonly runtime: string;
  readonly machine: string;
  /** The same for a person. */
  readonly sentence: string;
}

/** A change of the settings that was tried on samples held aside. */
export interface TriedChange {
  /** `FIELD=VALUE`, or `float NAME`: the constant of that name stays in float. */
  readonly change: string;
  /** SQNR of the outputs without it and with it, all held samples together. */
  readonly before_db: number;
  readonly after_db: number;
  /** The least that it gains of that, whichever one sample is left out. */
  readonly least_gain_db: number;
  readonly median_gain_db: number;
  /** It gained enough, and the file has it. */
  readonly taken: boolean;
}

/** One of the configurations that an operator may have. */
export interface SearchedCandidate {
  /** Its place among the candidates that platform and settings leave the operator. */
  readonly index: number;
  /** 0 without weights, 32 in float. */
  readonly weights_n_bits: number;
  /** 0 where the operator quantizes no output of its own, 32 in float. */
  readonly activation_n_bits: number;
  /** How far the model's tensors move when this operator alone is quantized so. */
  readonly sensitivity: number;
}

export interface SearchedOperator {
  readonly node: string;
  readonly op: string;
  /** Nodes that have the same weight, and so the same bits. */
  readonly shared_with: readonly string[];
  readonly candidates: readonly SearchedCandidate[];
  /** Index into `candidates`. */
  readonly chosen: number;
}

/** Bytes, and bit operations of one run. */
export interface TakenResources {
  readonly weights_memory: number;
  readonly activation_memory: number;
  readonly total_memory: number;
  readonly bops: number;
}

/** The same before samples are seen: null where it depends on sizes that the model leaves open to them. */
export type ExpectedResources = { readonly [name in keyof TakenResources]: number | null };

/** What each operator's bits were chosen from (`target_resource_utilization`); without operators where nothing was. */
export interface BitConfiguration {
  readonly measured_for: string;
  /** Samples that the sensitivities were measured on. */
  readonly images: number;
  readonly operators: readonly SearchedOperator[];
  /** With this choice, with the last candidate of each operator and with the first. */
  readonly taken: TakenResources;
  readonly least: TakenResources;
  readonly most: TakenResources;
  readonly sensitivity: number;
  /** No other choice within the budgets has a sum of sensitivities lower by more than this. */
  readonly gap: number;
}

/** One of the files that `prefer` was decided between, made of the samples that are not held aside. */
export interface Contestant {
  /** The word whose division of the graph it begins with. */
  readonly prefer: string;
  readonly size_bytes: number;
  /** Expected by the platform's prices; null where it has none. */
  readonly quantized_ms: number | null;
  /** On the held samples; null where size or time alone rule it out. */
  readonly sqnr_db: number | null;
  readonly taken: boolean;
}

/** What trying on samples held aside came to (`holdout`). */
export interface Trial {
  /** SHA-256 of the settings that this was tried for. */
  readonly settings: string;
  /** `FIELD=VALUE` that the file has in place of the settings. */
  readonly changes: readonly string[];
  /** Constants that stay in float, as 8 bits of them cost too much. */
  readonly in_float: readonly string[];
  /** Samples held aside, and those that the models which were tried were made of. */
  readonly held: number;
  readonly others: number;
  readonly tried: readonly TriedChange[];
  /** Empty where the words of `prefer` give but one file. */
  readonly contestants: readonly Contestant[];
  /** Of a model with these choices made of the others alone, on the held samples: pooled, and the median of a sample. */
  readonly sqnr_db: number;
  readonly median_sqnr_db: number;
  /** Between which nine unseen samples of ten are expected to lie; null of fewer than 4 held samples. */
  readonly low_db: number | null;
  readonly high_db: number | null;
  readonly bits: BitConfiguration;
}

/** How training went (`gradient_ptq_config`). */
export interface Training {
  readonly plan: string;
  /** Gradient steps taken, and of the whole schedule. */
  readonly steps: number;
  readonly steps_planned: number;
  /** That gradients were taken of, and that were held aside. */
  readonly samples: number;
  readonly held: number;
  /** SQNR of the outputs on those held aside, in dB. */
  readonly before_db: number;
  readonly after_db: number;
  /** Mean of the first and of the last epoch. */
  readonly first_loss: number;
  readonly last_loss: number;
  /** SHA-256 of the labels that training took; empty: none. */
  readonly labels: string;
  /** With labels, of the samples held aside. */
  readonly before_cross_entropy: number | null;
  readonly after_cross_entropy: number | null;
  readonly before_right: number | null;
  readonly after_right: number | null;
  /** The tuned model is better on those held aside, and the file has it. */
  readonly taken: boolean;
  /** Sentences: what was not trained, and why. */
  readonly frozen: readonly string[];
  readonly activations: readonly { readonly name: string; readonly scale: number; readonly zero_point: number }[];
}

/** The JSON of `--report`; the schema lies in docs/. Never part of byte equality. */
export interface Report {
  readonly format_version: number;
  readonly tool_version: string;
  readonly model: { readonly name: string; readonly sha256: string; readonly size_bytes: number };
  readonly output: { readonly sha256: string; readonly size_bytes: number };
  readonly platform: { readonly name: string; readonly version: number };
  /** The runtime whose arithmetic the preview uses: x64, wasm, arm64, avx2. */
  readonly runtime: string;
  /** In the order of the fields. */
  readonly settings: readonly ChangedSetting[];
  readonly coverage: Coverage;
  /** Every quantized activation, in graph order. */
  readonly ranges: readonly RangeRow[];
  /** Layers with quantized weights, in graph order; empty where the platform has no `simd_size`. */
  readonly padding: readonly PaddingRow[];
  /** Set by `compare()`. */
  readonly comparison: Comparison | null;
  /** Set by `evaluate()`; `float` when a reference was given. */
  readonly evaluation: { readonly float: EvaluationResult | null; readonly quantized: EvaluationResult | null };
  /** Steps of the recipe that changed something. */
  readonly corrections: readonly Correction[];
  /** Null where the platform has no prices, or shapes are not known before the samples. */
  readonly time: TimeForecast | null;
  /** What was tried on samples held aside; null where nothing was. */
  readonly trial: Trial | null;
  /** Null where nothing was trained. */
  readonly training: Training | null;
  /** Whether the model can be used; null before `compare()` or `evaluate()`. */
  readonly verdict: Verdict | null;
  /** Samples used for each part; `held_aside`: calibration has seen none of those evaluated. */
  readonly samples: { readonly calibration: number; readonly evaluation: number; readonly held_aside: boolean };
  readonly diagnostics: readonly Diagnostic[];
}

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
