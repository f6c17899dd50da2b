// SPDX-License-Identifier: Apache-2.0
//
// One activation's range, looked at: a worker keeps the histogram, so that a range by hand is judged at once.

import { abortable } from './job.js';
import type { Context, Origin } from './model_file.js';
import type { PoolWorker, Resource } from './pool.js';
import { newKey } from './samples.js';
import type { CallOptions, RangeChoice, RangeFigures, RangeQuestion, RangeStudy } from './types.js';

class KeptRange implements Resource<readonly RangeChoice[]> {
  readonly key = newKey('range');
  readonly #origin: Origin;
  readonly #question: string;

  constructor(origin: Origin, question: RangeQuestion) {
    this.#origin = origin;
    this.#question = JSON.stringify(question);
  }

  async load(worker: PoolWorker): Promise<readonly RangeChoice[]> {
    const { float, settings, statistics } = this.#origin;
    await worker.need(float);
    return worker.call('openRange', [this.key, float.key, settings, statistics, this.#question]);
  }
}

export class OpenRange implements RangeStudy {
  readonly choices: readonly RangeChoice[];
  readonly #context: Context;
  readonly #kept: KeptRange;
  readonly #worker: PoolWorker;

  private constructor(context: Context, kept: KeptRange, worker: PoolWorker, choices: readonly RangeChoice[]) {
    this.#context = context;
    this.#kept = kept;
    this.#worker = worker;
    this.choices = choices;
  }

  static async of(
    context: Context,
    origin: Origin,
    question: RangeQuestion,
    { signal }: CallOptions,
  ): Promise<OpenRange> {
    const kept = new KeptRange(origin, question);
    const worker = context.pool.idle();
    return new OpenRange(context, kept, worker, await abortable(worker.need(kept), signal));
  }

  async at(low: number, high: number, { signal }: CallOptions = {}): Promise<RangeFigures> {
    // another worker has it to load first; one that died has lost it
    const worker = this.#worker;
    const asked = worker.need(this.#kept).then(() => worker.call('rangeFigures', [this.#kept.key, low, high]));
    return abortable(asked, signal);
  }

  close(): void {
    this.#context.pool.forget(this.#kept.key);
  }
}
