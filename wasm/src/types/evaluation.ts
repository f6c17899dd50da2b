// SPDX-License-Identifier: Apache-2.0
//
// Accuracy.

export type Metric = 'top1' | 'top5' | 'auc' | 'reconstruction-auc' | 'answers';

export interface Interval {
  readonly lower: number;
  readonly upper: number;
  /** 0.95. */
  readonly level: number;
}

/** Another order of the classes than the labels have. */
export interface LabelOrder {
  /** Labels that are there, rising. */
  readonly labels: readonly number[];
  /** The output that each of them stands for, all different. */
  readonly outputs: readonly number[];
  /** Right answers in this order. */
  readonly correct: number;
  /** Right answers where each half of the samples is counted in the order that the other half gives. */
  readonly held_correct: number;
  /** Wilson score interval of `held_correct`. */
  readonly interval: Interval;
}

/**
 * `guessing`: not significantly more answers are right than guessing gives; `weak`: fewer are right than of any trained model;
 * `overconfident`: far fewer are right than the model is sure of; `unsure`: it is hardly surer of its answers than guessing would be.
 */
export type Doubt = 'guessing' | 'weak' | 'overconfident' | 'unsure';

export interface EvaluationResult {
  readonly metric: Metric;
  /** Samples evaluated. */
  readonly count: number;
  /** Right answers; null for a metric that does not count them. */
  readonly correct: number | null;
  /** 0 to 1; null without labels. */
  readonly value: number | null;
  /** Wilson score interval; null for a metric that has none. */
  readonly interval: Interval | null;
  /** What guessing reaches, 0 to 1; null without labels. */
  readonly chance: number | null;
  /** How sure the model is of its answers on average, 0 to 1; null where the outputs do not tell. */
  readonly sureness: number | null;
  /** Why samples, preprocessing or labels probably do not fit the model; null where nothing speaks for that. */
  readonly doubt: Doubt | null;
  /** 1 or -1 where that, added to every label, would make significantly more answers right; else null. */
  readonly label_shift: number | null;
  /** The order of the classes that makes significantly more answers right; null where there is none. */
  readonly label_order: LabelOrder | null;
  /** Index of the largest output by sample; null where the output is not a list of classes. */
  readonly answers: Int32Array | null;
  /** Numbers of the evaluated samples in their data set, in the order of `answers`; absent where samples streamed in, and in reports. */
  readonly samples?: readonly number[] | undefined;
  /** Same answer as `reference` had; null without one. */
  readonly agreement: Agreement | null;
}

export interface Agreement {
  readonly same: number;
  readonly count: number;
}
