// SPDX-License-Identifier: Apache-2.0
//
// What is known of a model: its card, its nodes, its graph, and what runs in integers.

import type { QuantizationMethod } from '../requirements.js';
import type { Diagnostic } from './errors.js';
import type { CallOptions } from './progress.js';

export interface TensorInfo {
  readonly name: string;
  /** Element type: float32, uint8, int64, ...; "?" where the file does not say. */
  readonly type: string;
  /** A number, or the name of a free dimension ("N", "?"); null when the rank is unknown. */
  readonly shape: readonly (number | string)[] | null;
}

export interface OperatorInfo {
  readonly op: string;
  /** Empty for the standard domain. */
  readonly domain: string;
  readonly nodes: number;
  /** False: the engine has no kernel for at least one of these nodes. */
  readonly runs: boolean;
}

/** The JSON of `tersor inspect --json`. */
export interface ModelInfo {
  readonly name: string;
  readonly producer: string;
  readonly ir_version: number;
  /** Of the standard domain. */
  readonly opset: number;
  /** Other domains, by name. */
  readonly domains: Readonly<Record<string, number>>;
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /** Number of nodes. */
  readonly nodes: number;
  readonly parameters: number;
  /** Multiply-adds of one sample; null where a shape is unknown. */
  readonly macs: number | null;
  readonly size_bytes: number;
  /** Peak of the activations for batch 1 in bytes; null where a shape is unknown. */
  readonly peak_bytes: number | null;
  readonly sha256: string;
  /** Most frequent first. */
  readonly operators: readonly OperatorInfo[];
  readonly warnings: readonly Diagnostic[];
}

/** What becomes of a node on a platform. */
export type Support =
  | 'integer' // an integer kernel
  | 'fused' // part of the layer before
  | 'moves' // moves bytes, keeps int8
  | 'float' // stays float
  | 'folded' // computed beforehand
  | 'unsupported'; // the engine cannot run it

export interface CoverageRow {
  readonly op: string;
  readonly domain: string;
  readonly nodes: number;
  readonly support: Support;
  /** One sentence for `float` and `unsupported`, else empty. */
  readonly reason: string;
  /** Share of the model's multiply-adds, 0 to 1; null where unknown or none of its business. */
  readonly mac_share: number | null;
}

/** A node of the prepared model, as overrides name it. */
export interface NodeInfo {
  /** That of its first output where it has none. */
  readonly name: string;
  /** ONNX operator type. */
  readonly type: string;
}

/** One node of the prepared model's graph. */
export interface GraphNode {
  /** As overrides name it. */
  readonly name: string;
  readonly op: string;
  readonly domain: string;
  /** A few words such as "64×64 3×3"; may be empty. */
  readonly detail: string;
  /** Values that it reads, without constants. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Of its first output for one sample; null where unknown. */
  readonly shape: readonly number[] | null;
  readonly support: Support;
  /** Why it stays float. */
  readonly reason: string;
  /** Index of the node that it is computed with; null where it is its own. */
  readonly joined: number | null;
  /** Null without a weight, or where that stays float. */
  readonly weights_n_bits: number | null;
  readonly activation_n_bits: number | null;
  /** What the runtime is expected to take for it in the float model; null where the platform has no prices. */
  readonly float_ms: number | null;
}

export interface GraphEnd {
  readonly name: string;
  readonly shape: readonly number[] | null;
}

/** The prepared model as it is drawn, with what the platform makes of it; known before any sample is seen. */
export interface GraphView {
  readonly inputs: readonly GraphEnd[];
  readonly outputs: readonly GraphEnd[];
  readonly nodes: readonly GraphNode[];
  /** Nodes of the file that were computed beforehand. */
  readonly folded: number;
  /** Whose prices the times are of, and on what they were measured; empty where there are none. */
  readonly runtime: string;
  readonly machine: string;
}

/** A node of the runtime's own graph. */
export interface RuntimeNode {
  /** Such as QLinearConv. */
  readonly op: string;
  /** What it makes, under the names of the float model's values. */
  readonly outputs: readonly string[];
  /** What it is expected to take, changes of layout of its outputs included; null without prices. */
  readonly milliseconds: number | null;
}

export interface WeightChannels {
  /** Null where the weight stays float. */
  readonly n_bits: number | null;
  /** Each channel has a scale of its own. */
  readonly per_channel: boolean;
  /** By output channel; empty where the operator has no constant weight. `sqnr_db`: null when exact or in float. */
  readonly channels: readonly { readonly largest: number; readonly sqnr_db: number | null }[];
}

/** Which tensor's range, and the grid that it is chosen for. */
export interface RangeQuestion {
  readonly tensor: string;
  readonly method: QuantizationMethod;
  readonly n_bits: number;
  /** Of a symmetric method: it reaches below 0. */
  readonly is_signed: boolean;
}

/** What becomes of the values that calibration saw, in a range. */
export interface RangeFigures {
  /** Lowest and highest value that the codes represent. */
  readonly low: number;
  readonly high: number;
  readonly scale: number;
  readonly zero_point: number;
  readonly values: number;
  /** Those outside by more than half a step. */
  readonly lost: number;
  /** Null when exact. */
  readonly sqnr_db: number | null;
}

export interface RangeChoice {
  /** A choice of activation_threshold_method. */
  readonly method: string;
  readonly figures: RangeFigures;
}

/** One activation's range, to be looked at. */
export interface RangeStudy {
  /** What each method would choose. */
  readonly choices: readonly RangeChoice[];
  /** Of a range given by hand; it is widened to hold 0, and symmetric methods make it symmetric. */
  at(low: number, high: number, options?: CallOptions): Promise<RangeFigures>;
  close(): void;
}

export interface FloatNode {
  readonly name: string;
  readonly op: string;
  readonly reason: string;
}

/** Known before any sample is seen. */
export interface Coverage {
  readonly rows: readonly CoverageRow[];
  /** Conv, Gemm, MatMul and their like: all of them, and those that run as integers. */
  readonly core_nodes: number;
  readonly integer_core_nodes: number;
  readonly stays_float: readonly FloatNode[];
  /**
   * Of a forecast, the kernels with integer arithmetic or weights that samples may show to need float, since a logarithm, root or
   * reciprocal reads them; 0 once the file is made.
   */
  readonly may_stay_float: number;
  readonly estimated_size_bytes: number;
  /**
   * The same where samples show that all weights before a logarithm, root or reciprocal need float, and those held aside that tables,
   * weights of recurrent layers and other constants do.
   */
  readonly estimated_largest_bytes: number;
  /** Memory that calibration takes in each worker, one sample at a time; null where shapes are not known before the samples. */
  readonly calibration_bytes: number | null;
}
