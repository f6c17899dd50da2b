// SPDX-License-Identifier: Apache-2.0
//
// What is known of a model: its card and its nodes.

import type { QuantizationMethod } from '../requirements.js';
import type { Diagnostic } from './errors.js';
import type { CallOptions } from './progress.js';
import type { RangeChoice, RangeFigures } from './report.js';

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

/** A node of the prepared model, as overrides name it. */
export interface NodeInfo {
  /** That of its first output where it has none. */
  readonly name: string;
  /** ONNX operator type. */
  readonly type: string;
}

/** Which tensor's range, and the grid that it is chosen for. */
export interface RangeQuestion {
  readonly tensor: string;
  readonly method: QuantizationMethod;
  readonly n_bits: number;
  /** Of a symmetric method: it reaches below 0. */
  readonly is_signed: boolean;
}

/** One activation's range, to be looked at. */
export interface RangeStudy {
  /** What each method would choose. */
  readonly choices: readonly RangeChoice[];
  /** Of a range given by hand; it is widened to hold 0, and symmetric methods make it symmetric. */
  at(low: number, high: number, options?: CallOptions): Promise<RangeFigures>;
  close(): void;
}
