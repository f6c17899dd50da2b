// SPDX-License-Identifier: Apache-2.0
//
// A job goes through samples: they are handed out a few at a time to whichever worker is free, each worker gathers its
// part, and the last to be done takes the others' parts to its own: they were made ready while it was still at work.
// Nothing depends on who got which sample.

import { TersorError } from './error.js';
import { died, type Pool, type PoolWorker, type Resource } from './pool.js';
import { memoryOf, type JobKind, type SentSample } from './protocol.js';
import { isList, newKey, type Feed } from './samples.js';
import type { CallOptions, Stage } from './types.js';

export interface Job {
  readonly kind: JobKind;
  readonly stage: Stage;
  /** The core's JSON. */
  readonly settings: string;
  /** What each worker must hold. */
  readonly needs: readonly Resource<unknown>[];
  readonly feed: Feed;
  /** More that merging wants: the statistics, for a comparison. */
  readonly extra?: Uint8Array;
}

/** A worker is given about so much to do at once, and as much again while it does so, so that it hears of a cancel soon. */
const targetMilliseconds = 20;
const mostAtOnce = 32;

/** Rejects with the signal's reason as soon as it is aborted; what `work` does then nobody hears. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Hands out samples, a few at a time. */
interface Queue {
  /** What one worker takes with: up to so many more samples, none when there are no more. */
  taker(): (count: number) => Promise<readonly SentSample[]>;
  /** Nothing more is handed out. */
  stop(): void;
}

/**
 * Of a list each taker has a run of neighbours, so that it reads a folder's files one behind the other. Runs become shorter
 * towards the end, so that all takers come to it together.
 */
class ListQueue implements Queue {
  #rest: readonly SentSample[];
  readonly #takers: number;

  constructor(samples: readonly SentSample[], takers: number) {
    this.#rest = samples;
    this.#takers = takers;
  }

  taker(): (count: number) => Promise<readonly SentSample[]> {
    let run: readonly SentSample[] = [];
    return (count) => {
      if (run.length === 0) {
        const length = Math.ceil(this.#rest.length / (2 * this.#takers));
        run = this.#rest.slice(0, length);
        this.#rest = this.#rest.slice(length);
      }
      const taken = run.slice(0, count);
      run = run.slice(count);
      return Promise.resolve(taken);
    };
  }

  stop(): void {
    this.#rest = [];
  }
}

/** Of a stream whoever asks has what comes next. */
class StreamQueue implements Queue {
  readonly #iterator: AsyncIterator<SentSample>;
  #turn: Promise<unknown> = Promise.resolve();
  #over = false;

  constructor(samples: AsyncIterable<SentSample>) {
    this.#iterator = samples[Symbol.asyncIterator]();
  }

  taker(): (count: number) => Promise<readonly SentSample[]> {
    return (count) => this.#take(count);
  }

  #take(count: number): Promise<readonly SentSample[]> {
    const mine = this.#turn.then(async () => {
      const taken: SentSample[] = [];
      while (taken.length < count && !this.#over) {
        const next = await this.#iterator.next();
        if (next.done) this.#over = true;
        else taken.push(next.value);
      }
      return taken;
    });
    this.#turn = mine.catch(() => (this.#over = true));
    return mine;
  }

  stop(): void {
    if (this.#over) return;
    this.#over = true;
    // an async generator is told that nobody will ask again
    void this.#turn.then(() => this.#iterator.return?.());
  }
}

export async function runJob<T>(pool: Pool, job: Job, call: CallOptions): Promise<T> {
  call.signal?.throwIfAborted();
  const key = newKey('job');
  const { items } = job.feed;
  const queue = isList(items) ? new ListQueue(items, pool.workers.length) : new StreamQueue(items);
  let done = 0;
  let over = false;
  /** Workers that had a sample and may get another. */
  let busy = 0;
  /** The one that takes the others' parts, once it is done with its own, and how often it had died before. */
  const lead: { readonly worker: PoolWorker; readonly deaths: number }[] = [];
  const lost = () => died('its part of the job is lost.');
  const tell = () =>
    call.onProgress?.({ stage: job.stage, done, total: Math.max(done, job.feed.total ?? 0), note: 'samples' });

  /** What the worker's part came to; null for the lead, and for one that had no sample. */
  const work = async (worker: PoolWorker): Promise<Uint8Array | null> => {
    let count = 1;
    let has = false;
    let last: Promise<void> = Promise.resolve();
    let lastDone = 0;
    const { deaths } = worker;
    const take = queue.taker();
    const add = async (samples: readonly SentSample[]) => {
      const sent = performance.now();
      const lent = job.feed.comeBack !== undefined;
      const back = await worker.call('addSamples', [key, samples, lent], { transfer: lent ? memoryOf(samples) : [] });
      if (back) job.feed.comeBack?.(back);
      const now = performance.now();
      const each = (now - Math.max(sent, lastDone)) / samples.length;
      lastDone = now;
      count = Math.max(1, Math.min(mostAtOnce, 2 * count, Math.floor(targetMilliseconds / Math.max(each, 0.01))));
      if (over) return;
      done += samples.length;
      tell();
    };
    for (;;) {
      const samples = await take(count);
      if (worker.deaths !== deaths) throw lost();
      if (samples.length === 0) break;
      if (!has) {
        has = true;
        ++busy;
        for (const resource of job.needs) await worker.need(resource);
        if (over) break;
        await worker.call('beginJob', [key, job.kind, job.settings]);
      }
      const next = add(samples);
      next.catch(() => undefined); // heard below, or that of the one before it
      await last;
      last = next;
      if (over) break;
    }
    await last;
    if (!has || over) return null;
    if (--busy > 0 || lead.length > 0) return worker.call('finishJob', [key]);
    lead.push({ worker, deaths });
    return null;
  };

  const all = async (): Promise<T> => {
    tell();
    const parts = (await Promise.all(pool.workers.map(work))).filter((part) => part !== null);
    call.signal?.throwIfAborted();
    const [taker] = lead;
    if (!taker) {
      throw new TersorError({
        code: 'invalid_samples',
        message: 'There are no samples.',
        place: 'samples',
        hint: 'Give at least one; 100 or more make good ranges.',
      });
    }
    if (taker.worker.deaths !== taker.deaths) throw lost();
    const transfer = parts.map((part) => part.buffer as ArrayBuffer);
    return (await taker.worker.call('mergeJob', [key, parts, job.extra ?? null], { transfer })) as T;
  };

  try {
    return await abortable(all(), call.signal);
  } finally {
    over = true;
    queue.stop();
    pool.forget(key);
  }
}
