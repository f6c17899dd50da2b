// SPDX-License-Identifier: Apache-2.0
//
// What is said while work goes on, and how it is stopped.

import type { HostAbortSignal } from './host.js';

/** Stages in the order in which a whole job meets them. */
export type Stage =
  | 'open' // read, validate and prepare the model
  | 'samples' // read the samples' headers
  | 'evaluate' // run labelled samples
  | 'calibrate' // run samples and collect statistics
  | 'choose' // choose the ranges
  | 'correct' // weights and biases
  | 'train' // weights, biases and ranges
  | 'write' // write the file
  | 'compare'; // error by layer

/** Where a training stands. */
export interface TrainingProgress {
  /** Gradient steps taken, and of the whole schedule. */
  readonly step: number;
  readonly steps: number;
  /** Mean of the samples of the last step. */
  readonly loss: number;
  /** SQNR of the outputs on the samples held aside, untuned and the best so far, in dB. */
  readonly before_db: number;
  readonly best_db: number;
  /** At the latest judgement, of which there are some eight. */
  readonly last_db: number;
  /** Where labels are known: right answers on these samples. */
  readonly before_right: number | null;
  readonly best_right: number | null;
  readonly last_right: number | null;
  /** Where outputs are scores of classes: answers that are the float model's. */
  readonly before_same: number | null;
  readonly last_same: number | null;
  /** How many these samples are. */
  readonly held: number;
  /** Samples that one step is the mean of. */
  readonly batch_size: number;
  /** Of the steps so far, and the time that those to come take at that pace; null before the first step. */
  readonly samples_per_second: number | null;
  readonly seconds_left: number | null;
  readonly steps_per_epoch: number;
  /** How much more the mean step computes than the first ones do, which train less: 1 or more. */
  readonly work_of_mean_step: number;
  /** Memory that training takes at most in each worker, the samples aside; null where it is not known before the run. */
  readonly bytes_per_worker: number | null;
}

export interface Progress {
  readonly stage: Stage;
  /** 0 <= done <= total. */
  readonly done: number;
  readonly total: number;
  /** What `done` counts and anything worth saying, such as "samples" or a tensor's name; may be empty. */
  readonly note: string;
  /** Of the stage `train`. */
  readonly training?: TrainingProgress | undefined;
}

/** Every call that can take longer than a frame. */
export interface CallOptions {
  /**
   * Aborting rejects the call with the signal's reason (an `AbortError`) at once; the workers stop at the next sample and
   * take the next call without being started anew.
   */
  readonly signal?: HostAbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}
