// SPDX-License-Identifier: Apache-2.0
//
// The sweep over the samples that rounds weights and corrects biases, the trial of corrections on samples held aside before
// it, and the training after it: each worker keeps its part of the samples and takes them through one step at a time;
// between steps all workers' sums become the outcome that the next step starts with.

import { abortable } from './job.js';
import { died, type Pool, type PoolWorker, type Resource } from './pool.js';
import type { SentSample, SweepPlan, TrainingState } from './protocol.js';
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

async function sweepOnce(pool: Pool, sweep: Sweep, call: SweepOptions): Promise<Uint8Array> {
  call.signal?.throwIfAborted();
  const key = newKey('sweep');
  let over = false;

  const begin = async (worker: PoolWorker) => {
    for (const resource of sweep.needs) await worker.need(resource);
    return worker.call('beginSweep', [key, sweep.settings, sweep.statistics]);
  };

  const all = async (): Promise<Uint8Array> => {
    const [lead, ...others] = pool.workers;
    if (!lead) return sweep.statistics;
    // all begin at once: each takes its time over it
    const [plan] = await Promise.all([lead, ...others].map(begin));
    const samples = plan && sweep.pick(plan.samples);
    if (!plan || !samples) return sweep.statistics;
    const used = [lead, ...others].slice(0, workersFor(plan, pool.workers.length));
    const deaths = used.map((worker) => worker.deaths);
    const check = (): boolean => {
      if (used.some((worker, k) => worker.deaths !== deaths[k])) throw died('its part of the samples is lost.');
      return over;
    };
    await Promise.all(
      used.map(async (worker, k) => {
        const mine = samples.filter((_, i) => i % used.length === k);
        for (let i = 0; i < mine.length && !check(); i += handful) {
          await worker.call('addSamples', [key, mine.slice(i, i + handful), false]);
        }
      }),
    );
    if (sweep.kind === 'training' && call.resume) {
      const { resume } = call;
      await Promise.all(used.map((worker) => worker.call('resumeSweep', [key, resume])));
    }
    const clock = timed();
    const outcomes: Uint8Array[] = [];
    const tell = async (done: number) => {
      if (!call.onProgress) return;
      if (plan.steps === null) {
        call.onProgress({ stage: 'choose', done, total: done + 1, note: 'trials' });
        return;
      }
      if (sweep.kind !== 'training') {
        call.onProgress({ stage: 'correct', done, total: plan.steps, note: 'layers' });
        return;
      }
      const now = await lead.call('sweepProgress', [key]);
      call.onProgress({
        stage: 'train',
        done,
        total: plan.steps,
        note: 'steps',
        training: now ? clock(now) : undefined,
      });
    };
    let saved = performance.now();
    const save = async () => {
      if (sweep.kind !== 'training' || !call.onCheckpoint) return;
      await call.onCheckpoint(await lead.call('sweepCheckpoint', [key]));
      saved = performance.now();
    };
    let stopped = false;
    const stopWhereAsked = async () => {
      if (stopped || !call.stop?.aborted) return;
      stopped = true;
      await Promise.all(used.map((worker) => worker.call('stopSweep', [key])));
    };
    for (let step = 0; (plan.steps === null || step < plan.steps) && !check(); ++step) {
      await tell(step);
      await stopWhereAsked();
      if (performance.now() - saved > checkpointSeconds * 1000) await save();
      const before = outcomes.at(-1) ?? new Uint8Array();
      const parts = await Promise.all(used.map((worker) => worker.call('sweepStep', [key, step, before])));
      if (parts.every((part) => part.length === 0)) break;
      const outcome = await lead.call('mergeSweepStep', [key, step, parts]);
      // Of a training nobody needs more than the last, and there are thousands.
      if (sweep.kind === 'training') outcomes.length = 0;
      outcomes.push(outcome);
    }
    if (over) return sweep.statistics;
    await tell(plan.steps ?? outcomes.length);
    const finished = await lead.call('finishSweep', [key, outcomes]);
    await save();
    return finished;
  };

  try {
    return await abortable(all(), call.signal);
  } finally {
    over = true;
    pool.forget(key);
  }
}
