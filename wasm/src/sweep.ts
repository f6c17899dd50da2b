// SPDX-License-Identifier: Apache-2.0
//
// The sweep over the samples that rounds weights and corrects biases, the trial of corrections on samples held aside before
// it, and the training after it: each worker keeps its part of the samples and takes them through one step at a time;
// between steps all workers' sums become the outcome that the next step starts with.

import { abortable } from './job.js';
import { died, type Pool, type PoolWorker, type Resource } from './pool.js';
import type { Calls, Method, SentSample, SweepPlan, TrainingState } from './protocol.js';
import { newKey } from './samples.js';
import type { CallOptions, TrainingProgress } from './types.js';

export type SweepKind = 'trial' | 'corrections' | 'training';

export interface Sweep {
  readonly kind: SweepKind;
  /** The core's JSON of the settings, as of a calibration. */
  readonly settings: string;
  readonly needs: readonly Resource<unknown>[];
  readonly statistics: Uint8Array;
  /** The calibrated samples of these numbers; null when they are not at hand. */
  readonly pick: (numbers: readonly number[]) => readonly SentSample[] | null;
}

export interface SweepOptions extends CallOptions {
  /** Ends a training early. */
  readonly stop?: AbortSignal | undefined;
  /** Is given where a training stands, now and then and at its end. */
  readonly onCheckpoint?: ((checkpoint: Uint8Array) => void | Promise<void>) | undefined;
  /** Where it goes on. */
  readonly resume?: Uint8Array | undefined;
}

/** As many workers as there are lanes, or as divide them: then each has whole lanes. */
function workersFor(plan: SweepPlan, workers: number): number {
  const most = Math.min(workers, Math.max(1, plan.samples.length));
  if (plan.lanes === null) return most;
  let used = Math.min(most, plan.lanes);
  while (plan.lanes % used !== 0) --used;
  return used;
}

const checkpointSeconds = 30;

/** A training's figures with what a clock adds to them. */
function timed(): (now: TrainingState) => TrainingProgress {
  let first: { readonly at: number; readonly step: number } | null = null;
  return (now) => {
    const at = performance.now();
    first ??= { at, step: now.step };
    const taken = now.step - first.step;
    const each = taken > 0 ? (at - first.at) / 1000 / taken : null;
    return {
      ...now,
      samples_per_second: each === null ? null : now.batch_size / each,
      seconds_left: each === null ? null : each * (now.steps - now.step),
    };
  };
}

/** So many samples are handed over at once, so that a cancel is heard soon. */
const handful = 8;

/**
 * The statistics with what the sweep measured; as they were when no sweep is asked for, or its samples are gone. Where a worker
 * dies, what it kept of the samples is lost, and the sweep begins anew, once.
 */
export async function runSweep(pool: Pool, sweep: Sweep, call: SweepOptions): Promise<Uint8Array> {
  const deaths = () => pool.workers.reduce((sum, worker) => sum + worker.deaths, 0);
  const before = deaths();
  try {
    return await sweepOnce(pool, sweep, call);
  } catch (error) {
    if (deaths() === before || call.signal?.aborted) throw error;
    return sweepOnce(pool, sweep, call);
  }
}

/** The workers that a sweep uses, each with its part of the samples. */
class Crew {
  readonly #deaths: readonly number[];

  constructor(
    readonly workers: readonly PoolWorker[],
    readonly lead: PoolWorker,
  ) {
    this.#deaths = workers.map(({ deaths }) => deaths);
  }

  /** Throws where one was lost with its part. */
  check(): void {
    if (this.workers.some(({ deaths }, k) => deaths !== this.#deaths[k]))
      throw died('its part of the samples is lost.');
  }

  all<M extends Method>(method: M, args: Parameters<Calls[M]>): Promise<ReturnType<Calls[M]>[]> {
    return Promise.all(this.workers.map((worker) => worker.call(method, args)));
  }
}

class SweepRun {
  readonly key = newKey('sweep');
  /** Nobody waits for it any more. */
  over = false;
  readonly #sweep: Sweep;
  readonly #call: SweepOptions;
  readonly #clock = timed();
  #saved = 0;
  #stopped = false;

  constructor(sweep: Sweep, call: SweepOptions) {
    this.#sweep = sweep;
    this.#call = call;
  }

  get #trains(): boolean {
    return this.#sweep.kind === 'training';
  }

  async #begin(worker: PoolWorker): Promise<SweepPlan | null> {
    for (const resource of this.#sweep.needs) await worker.need(resource);
    return worker.call('beginSweep', [this.key, this.#sweep.settings, this.#sweep.statistics]);
  }

  async #share(crew: Crew, samples: readonly SentSample[]): Promise<void> {
    const give = async (worker: PoolWorker, k: number) => {
      const mine = samples.filter((_, i) => i % crew.workers.length === k);
      for (let i = 0; i < mine.length; i += handful) {
        crew.check();
        if (this.over) return;
        await worker.call('addSamples', [this.key, mine.slice(i, i + handful), false]);
      }
    };
    await Promise.all(crew.workers.map(give));
    if (this.#trains && this.#call.resume) await crew.all('resumeSweep', [this.key, this.#call.resume]);
  }

  async #tell({ lead }: Crew, done: number, steps: number | null): Promise<void> {
    const { onProgress } = this.#call;
    if (!onProgress) return;
    if (steps === null) onProgress({ stage: 'choose', done, total: done + 1, note: 'trials' });
    else if (!this.#trains) onProgress({ stage: 'correct', done, total: steps, note: 'layers' });
    else {
      const now = await lead.call('sweepProgress', [this.key]);
      const training = now ? this.#clock(now) : undefined;
      onProgress({ stage: 'train', done, total: steps, note: 'steps', training });
    }
  }

  async #save({ lead }: Crew): Promise<void> {
    if (!this.#trains || !this.#call.onCheckpoint) return;
    await this.#call.onCheckpoint(await lead.call('sweepCheckpoint', [this.key]));
    this.#saved = performance.now();
  }

  async #stopWhereAsked(crew: Crew): Promise<void> {
    if (this.#stopped || !this.#call.stop?.aborted) return;
    this.#stopped = true;
    await crew.all('stopSweep', [this.key]);
  }

  /** The statistics with what was measured. */
  async with(workers: readonly PoolWorker[]): Promise<Uint8Array> {
    const { statistics, pick } = this.#sweep;
    // all begin at once: each takes its time over it
    const [plan] = await Promise.all(workers.map((worker) => this.#begin(worker)));
    const samples = plan && pick(plan.samples);
    const [lead] = workers;
    if (!plan || !samples || !lead) return statistics;
    const crew = new Crew(workers.slice(0, workersFor(plan, workers.length)), lead);
    await this.#share(crew, samples);
    const outcomes: Uint8Array[] = [];
    this.#saved = performance.now();
    for (let step = 0; plan.steps === null || step < plan.steps; ++step) {
      crew.check();
      if (this.over) break;
      await this.#tell(crew, step, plan.steps);
      await this.#stopWhereAsked(crew);
      if (performance.now() - this.#saved > checkpointSeconds * 1000) await this.#save(crew);
      const parts = await crew.all('sweepStep', [this.key, step, outcomes.at(-1) ?? new Uint8Array()]);
      if (parts.every((part) => part.length === 0)) break;
      const outcome = await lead.call('mergeSweepStep', [this.key, step, parts]);
      // Of a training nobody needs more than the last, and there are thousands.
      if (this.#trains) outcomes.length = 0;
      outcomes.push(outcome);
    }
    if (this.over) return statistics;
    await this.#tell(crew, plan.steps ?? outcomes.length, plan.steps);
    const finished = await lead.call('finishSweep', [this.key, outcomes]);
    await this.#save(crew);
    return finished;
  }
}

async function sweepOnce(pool: Pool, sweep: Sweep, call: SweepOptions): Promise<Uint8Array> {
  call.signal?.throwIfAborted();
  const run = new SweepRun(sweep, call);
  try {
    return await abortable(run.with(pool.workers), call.signal);
  } finally {
    run.over = true;
    pool.forget(run.key);
  }
}
