// SPDX-License-Identifier: Apache-2.0
//
// The error object, and remarks of the same fields.

/** The one error object, in C++, in JSON, in `class TersorError extends Error` and in the page's card. */
export interface TersorErrorFields {
  /**
   * One of the core's words (invalid_argument, invalid_model, unsupported_model, invalid_samples, invalid_labels,
   * invalid_config, invalid_platform, mismatch, io, out_of_memory, cancelled, internal) or `worker_died`.
   */
  readonly code: string;
  /** The sentence; names the value and what was expected. */
  readonly message: string;
  /** A path such as `graph.node[12] "conv1".kernel` or `samples[3] "cat/0004.png"`; empty when there is no place. */
  readonly place: string;
  /** What to do next; may be empty. */
  readonly hint: string;
}

/** A remark that stops nothing: same fields as an error. */
export type Diagnostic = TersorErrorFields;
