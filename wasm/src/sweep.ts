// SPDX-License-Identifier: Apache-2.0
//
// The passes over the samples after calibration, in the order that the core knows: the trial of corrections on samples held
// aside, the sweep that rounds weights and corrects biases, and the training. Each worker keeps its part of the samples and
// takes them through one step at a time; between steps all workers' sums become the outcome that the next step starts with.

import { abortable } from './job.js';
import { died, type Pool, type PoolWorker, type Resource } from './pool.js';
import type { Calls, Method, SentSample, SweepPlan, TrainingState } from './protocol.js';
import { newKey } from './samples.js';
import type { CallOptions, TrainingProgress } from './types.js';

export interface Sweep {
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

/** The worker of a sample: by the sum of its number's digits to this base, so that every other, every fourth and every eighth
 * of the samples, which a trial begins with, are spread evenly, too. */
function workerOf(sample: number, workers: number): number {
  let sum = 0;
  for (let rest = sample; rest > 0 && workers > 1; rest = Math.floor(rest / workers)) sum += rest % workers;
  return sum % workers;
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

  async #begin(worker: PoolWorker): Promise<SweepPlan | null> {
    for (const resource of this.#sweep.needs) await worker.need(resource);
    return worker.call('beginSweep', [this.key, this.#sweep.settings, this.#sweep.statistics]);
  }

  async #share(crew: Crew, plan: SweepPlan, samples: readonly SentSample[]): Promise<void> {
    const count = crew.workers.length;
    // a training's lanes are dealt as the core numbers them
    const placeOf = (i: number) => (plan.lanes === null ? workerOf(i, count) : i % count);
    const give = async (worker: PoolWorker, k: number) => {
      const mine = samples.filter((_, i) => placeOf(i) === k);
      for (let i = 0; i < mine.length; i += handful) {
        crew.check();
        if (this.over) return;
        await worker.call('addSamples', [this.key, mine.slice(i, i + handful), false]);
      }
    };
    await Promise.all(crew.workers.map(give));
    if (plan.stage === 'train' && this.#call.resume) await crew.all('resumeSweep', [this.key, this.#call.resume]);
  }

  async #tell({ lead }: Crew, { stage, steps }: SweepPlan, done: number): Promise<void> {
    const { onProgress } = this.#call;
    if (!onProgress) return;
    const total = steps ?? done + 1;
    if (stage === 'try') onProgress({ stage: 'choose', done, total, note: 'trials' });
    else if (stage === 'correct') onProgress({ stage, done, total, note: 'layers' });
    else {
      const now = await lead.call('sweepProgress', [this.key]);
      onProgress({ stage, done, total, note: 'steps', training: now ? this.#clock(now) : undefined });
    }
  }

  async #save({ lead }: Crew, { stage }: SweepPlan): Promise<void> {
    if (stage !== 'train' || !this.#call.onCheckpoint) return;
    await this.#call.onCheckpoint(await lead.call('sweepCheckpoint', [this.key]));
    this.#saved = performance.now();
  }

  async #stopWhereAsked(crew: Crew): Promise<void> {
    if (this.#stopped || !this.#call.stop?.aborted) return;
    this.#stopped = true;
    await crew.all('stopSweep', [this.key]);
  }

  async #pass(crew: Crew, plan: SweepPlan, samples: readonly SentSample[]): Promise<void> {
    await this.#share(crew, plan, samples);
    this.#saved = performance.now();
    let outcome: Uint8Array = new Uint8Array();
    for (let step = 0; ; ++step) {
      crew.check();
      if (this.over) return;
      await this.#tell(crew, plan, step);
      await this.#stopWhereAsked(crew);
      if (performance.now() - this.#saved > checkpointSeconds * 1000) await this.#save(crew, plan);
      const parts = await crew.all('sweepStep', [this.key, outcome]);
      if (parts.every((part) => part.length === 0)) break;
      outcome = await crew.lead.call('mergeSweepStep', [this.key, parts]);
    }
    await this.#save(crew, plan);
  }

  /** The statistics with what was measured. */
  async with(all: readonly PoolWorker[]): Promise<Uint8Array> {
    const { statistics, pick } = this.#sweep;
    // all begin at once: each takes its time over it
    let plans = await Promise.all(all.map((worker) => this.#begin(worker)));
    let workers = all;
    for (;;) {
      const [plan] = plans;
      const [lead] = workers;
      const samples = plan && pick(plan.samples);
      if (!plan || !samples || !lead) break;
      const crew = new Crew(workers.slice(0, workersFor(plan, workers.length)), lead);
      await this.#pass(crew, plan, samples);
      if (this.over) return statistics;
      plans = await crew.all('nextSweep', [this.key]);
      ({ workers } = crew);
      if (!plans[0]) return lead.call('finishSweep', [this.key]);
    }
    return statistics;
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
