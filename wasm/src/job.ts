// SPDX-License-Identifier: Apache-2.0
//
// A job goes through samples: they are handed out a few at a time to whichever worker is free, each worker gathers its
// part, and the last to be done takes the others' parts to its own: they were made ready while it was still at work.
// Nothing depends on who got which sample: where a worker dies, the one in its place goes through its samples again.

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
  readonly extra?: Uint8Array | undefined;
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

/** Up to so many more samples, none when there are no more. */
type Take = (count: number) => Promise<readonly SentSample[]>;

/** What a worker had to do with the job until it died, if it did. */
interface Life {
  readonly taken: SentSample[];
  done: number;
  /** It had a sample and may get another. */
  busy: boolean;
}

/** Hands out samples, a few at a time. */
interface Queue {
  /** What one worker takes with. */
  taker(): Take;
  /** Nothing more is handed out. */
  stop(): void;
}

/**
 * Of a list each taker has a run of neighbours, so that it reads a folder's files one after the other. Runs become shorter
 * towards the end, so that all takers come to it together.
 */
class ListQueue implements Queue {
  #rest: readonly SentSample[];
  readonly #takers: number;

  constructor(samples: readonly SentSample[], takers: number) {
    this.#rest = samples;
    this.#takers = takers;
  }

  taker(): Take {
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

  taker(): Take {
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

/** All parts went with the worker that was to merge them. */
class PartsLost extends TersorError {
  constructor({ fell }: PoolWorker) {
    super((fell ?? died('the parts of the job are lost.')).toJSON());
  }
}

export async function runJob<T>(pool: Pool, job: Job, call: CallOptions): Promise<T> {
  try {
    return await runOnce<T>(pool, job, call);
  } catch (error) {
    if (error instanceof PartsLost && isList(job.feed.items)) return runOnce<T>(pool, job, call);
    throw error;
  }
}

/** How many samples a worker is given next, by how long those before took. */
class Pace {
  count = 1;
  #lastDone = 0;

  done(samples: number, sent: number): void {
    const now = performance.now();
    const each = (now - Math.max(sent, this.#lastDone)) / samples;
    this.#lastDone = now;
    const inTime = Math.floor(targetMilliseconds / Math.max(each, 0.01));
    this.count = Math.max(1, Math.min(mostAtOnce, 2 * this.count, inTime));
  }
}

/** One way through the samples. */
class JobRun {
  readonly key = newKey('job');
  readonly #job: Job;
  readonly #call: CallOptions;
  readonly #workers: readonly PoolWorker[];
  readonly #queue: Queue;
  #done = 0;
  #over = false;
  /** Workers that had a sample and may get another. */
  #busy = 0;
  /** The one that takes the others' parts, once it is done with its own, and how often it had died before. */
  #lead: { readonly worker: PoolWorker; readonly deaths: number } | null = null;

  constructor({ workers }: Pool, job: Job, call: CallOptions) {
    const { items } = job.feed;
    this.#job = job;
    this.#call = call;
    this.#workers = workers;
    this.#queue = isList(items) ? new ListQueue(items, workers.length) : new StreamQueue(items);
  }

  /** Nobody waits for it any more. */
  end(): void {
    this.#over = true;
    this.#queue.stop();
  }

  #tell(): void {
    const { stage, feed } = this.#job;
    const total = Math.max(this.#done, feed.total ?? 0);
    this.#call.onProgress?.({ stage, done: this.#done, total, note: 'samples' });
  }

  async #add(worker: PoolWorker, samples: readonly SentSample[], life: Life, pace: Pace): Promise<void> {
    const sent = performance.now();
    const { comeBack } = this.#job.feed;
    const lent = comeBack !== undefined;
    const transfer = lent ? memoryOf(samples) : [];
    const back = await worker.call('addSamples', [this.key, samples, lent], { transfer });
    if (back) comeBack?.(back);
    pace.done(samples.length, sent);
    if (this.#over) return;
    this.#done += samples.length;
    life.done += samples.length;
    this.#tell();
  }

  /** What the worker's part came to; null for the lead, and for one that had no sample. */
  async #part(worker: PoolWorker, take: Take, life: Life): Promise<Uint8Array | null> {
    const { needs, kind, settings } = this.#job;
    const pace = new Pace();
    let last: Promise<void> = Promise.resolve();
    const { deaths } = worker;
    for (;;) {
      const samples = await take(pace.count);
      life.taken.push(...samples);
      if (worker.deaths !== deaths) throw died('its part of the job is lost.');
      if (samples.length === 0) break;
      if (!life.busy) {
        life.busy = true;
        ++this.#busy;
        for (const resource of needs) await worker.need(resource);
        if (this.#over) break;
        await worker.call('beginJob', [this.key, kind, settings]);
      }
      const next = this.#add(worker, samples, life, pace);
      next.catch(() => undefined); // heard below, or that of the one before it
      await last;
      last = next;
      if (this.#over) break;
    }
    await last;
    if (!life.busy || this.#over) return null;
    life.busy = false;
    if (--this.#busy > 0 || this.#lead) return worker.call('finishJob', [this.key]);
    this.#lead = { worker, deaths };
    return null;
  }

  /** The same, and once more by the worker in its place where it dies. */
  async #work(worker: PoolWorker): Promise<Uint8Array | null> {
    const take = this.#queue.taker();
    let again: readonly SentSample[] = [];
    for (let life = 0; ; ++life) {
      const { deaths } = worker;
      const mine: Life = { taken: [], done: 0, busy: false };
      const rest = [...again];
      const next: Take = (count) => (rest.length > 0 ? Promise.resolve(rest.splice(0, count)) : take(count));
      try {
        return await this.#part(worker, next, mine);
      } catch (error) {
        if (mine.busy) --this.#busy;
        // samples that stream in are gone with the worker, and one that kills its worker would kill the next
        if (worker.deaths === deaths || life > 0 || this.#over || !isList(this.#job.feed.items)) throw error;
        this.#done -= mine.done;
        again = [...mine.taken, ...rest];
      }
    }
  }

  async result(): Promise<unknown> {
    this.#tell();
    const all = await Promise.all(this.#workers.map((worker) => this.#work(worker)));
    const parts = all.filter((one) => one !== null);
    this.#call.signal?.throwIfAborted();
    const lead = this.#lead;
    if (!lead) {
      throw new TersorError({
        code: 'invalid_samples',
        message: 'There are no samples.',
        place: 'samples',
        hint: 'Give at least one; 100 or more make good ranges.',
      });
    }
    const isLost = () => lead.worker.deaths !== lead.deaths;
    if (isLost()) throw new PartsLost(lead.worker);
    const transfer = parts.map((one) => one.buffer as ArrayBuffer);
    try {
      return await lead.worker.call('mergeJob', [this.key, parts, this.#job.extra ?? null], { transfer });
    } catch (error) {
      throw isLost() ? new PartsLost(lead.worker) : error;
    }
  }
}

async function runOnce<T>(pool: Pool, job: Job, call: CallOptions): Promise<T> {
  call.signal?.throwIfAborted();
  const run = new JobRun(pool, job, call);
  try {
    return (await abortable(run.result(), call.signal)) as T;
  } finally {
    run.end();
    pool.forget(run.key);
  }
}
