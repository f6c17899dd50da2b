// SPDX-License-Identifier: Apache-2.0
//
// The sweep over the samples that rounds weights and corrects biases, and the trial of corrections on samples held aside in
// front of it: each worker keeps its part of the samples and takes them through one step at a time; between steps all
// workers' sums become the outcome that the next step starts with.

import { abortable } from './job.js';
import { died, type Pool, type PoolWorker, type Resource } from './pool.js';
import type { SentSample } from './protocol.js';
import { newKey } from './samples.js';
import type { CallOptions } from './types.js';

export interface Sweep {
  /** The core's JSON of the settings, as of a calibration. */
  readonly settings: string;
  readonly needs: readonly Resource<unknown>[];
  readonly statistics: Uint8Array;
  /** The calibrated samples of these numbers; null when they are not at hand. */
  readonly pick: (numbers: readonly number[]) => readonly SentSample[] | null;
}

/** So many samples are handed over at once, so that a cancel is heard soon. */
const handful = 8;

/** The statistics with what the sweep measured; as they were when no sweep is asked for, or its samples are gone. */
export async function runSweep(pool: Pool, sweep: Sweep, call: CallOptions): Promise<Uint8Array> {
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
    const used = [lead, ...others].slice(0, Math.max(1, samples.length));
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
    const outcomes: Uint8Array[] = [];
    const tell = (done: number) => {
      if (plan.steps !== null) call.onProgress?.({ stage: 'correct', done, total: plan.steps, note: 'layers' });
    };
    for (let step = 0; (plan.steps === null || step < plan.steps) && !check(); ++step) {
      tell(step);
      const before = outcomes[step - 1] ?? new Uint8Array();
      const parts = await Promise.all(used.map((worker) => worker.call('sweepStep', [key, step, before])));
      if (parts.every((part) => part.length === 0)) break;
      outcomes.push(await lead.call('mergeSweepStep', [key, step, parts]));
    }
    if (over) return sweep.statistics;
    tell(plan.steps ?? 0);
    return lead.call('finishSweep', [key, outcomes]);
  };

  try {
    return await abortable(all(), call.signal);
  } finally {
    over = true;
    pool.forget(key);
  }
}
