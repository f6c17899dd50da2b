// SPDX-License-Identifier: Apache-2.0
//
// N workers, each with an instance of the core. What a worker holds (models, data sets) is brought there when it is first
// needed, so a worker that died is replaced by an empty one and nothing else changes.

import { sentence, TersorError } from './error.js';
import type { HostWorker } from './start_worker.js';
import type { Calls, Method, Reply, Request } from './protocol.js';
import type { Progress } from './types.js';

/** Something that a worker must hold before it can do a job. */
export interface Resource<T> {
  readonly key: string;
  load(worker: PoolWorker): Promise<T>;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: unknown): void;
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

interface CallExtras {
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Memory that goes over to the worker with the arguments. */
  readonly transfer?: Transferable[];
}

export function died(why: string | TersorError): TersorError {
  if (why instanceof TersorError) return why;
  return new TersorError({
    code: 'worker_died',
    message: `A worker stopped: ${why}`,
    hint: 'Try again; where memory is short, with fewer workers.',
  });
}

function whyOf(error: unknown): TersorError {
  return died(error instanceof TersorError ? error : sentence(error));
}

export class PoolWorker {
  readonly #start: () => Promise<HostWorker>;
  #module: WebAssembly.Module;
  #light: boolean;
  #host: Promise<HostWorker> | null = null;
  #started: Promise<unknown> = Promise.resolve();
  #closed: TersorError | null = null;
  #lastId = 0;
  readonly #pending = new Map<number, Pending>();
  readonly #held = new Map<string, Promise<unknown>>();

  constructor(module: WebAssembly.Module, light: boolean, start: () => Promise<HostWorker>) {
    this.#module = module;
    this.#light = light;
    this.#start = start;
  }

  /** Counts up whenever the worker died: what it held is gone. */
  deaths = 0;
  /** Why it died last. */
  fell: TersorError | null = null;

  /** Calls that are not answered yet. */
  get busy(): number {
    return this.#pending.size;
  }

  async call<M extends Method>(
    method: M,
    args: Parameters<Calls[M]>,
    extras?: CallExtras,
  ): Promise<ReturnType<Calls[M]>> {
    if (this.#closed) throw this.#closed;
    this.#host ??= this.#launch();
    return this.#ask(this.#host, method, args, extras);
  }

  /** Resolves when the worker runs. */
  async start(): Promise<void> {
    if (this.#closed) throw this.#closed;
    this.#host ??= this.#launch();
    await this.#started;
  }

  /** Makes sure that this worker holds `resource`; what loading it gave. */
  need<T>(resource: Resource<T>): Promise<T> {
    const held = this.#held.get(resource.key);
    if (held) return held as Promise<T>;
    const loading = resource.load(this);
    this.#held.set(resource.key, loading);
    loading.catch(() => this.#held.delete(resource.key));
    return loading;
  }

  /** Lets go of a model, data set or job, where the worker holds it. */
  forget(key: string): void {
    this.#held.delete(key);
    if (this.#host && !this.#closed) this.call('close', [key]).catch(() => undefined);
  }

  close(why: TersorError): void {
    this.#closed = why;
    this.#fall(why);
  }

  /** A worker with the complete engine takes the place of this one, which ends as if it had died. */
  complete(module: WebAssembly.Module): void {
    this.#module = module;
    this.#light = false;
    if (this.#host) this.#fall(died('one with the complete engine takes its place.'));
  }

  #launch(): Promise<HostWorker> {
    const mine: Promise<HostWorker> = this.#start().then((host) => {
      host.onMessage((message) => this.#hear(message as Reply));
      host.onDeath((why) => {
        if (this.#host === mine) this.#fall(died(why));
      });
      if (this.#host !== mine) host.terminate();
      return host;
    });
    // the first call of all; those after it wait in the worker's own queue
    this.#started = this.#ask(mine, 'start', [this.#module, this.#light]);
    this.#started.catch((error: unknown) => {
      if (this.#host === mine) this.#fall(whyOf(error));
    });
    return mine;
  }

  #ask<M extends Method>(
    host: Promise<HostWorker>,
    method: M,
    args: Parameters<Calls[M]>,
    { onProgress, transfer = [] }: CallExtras = {},
  ): Promise<ReturnType<Calls[M]>> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject, onProgress });
      host.then(
        (worker) => {
          if (!this.#pending.has(id)) return;
          worker.keepAlive(true);
          try {
            worker.post({ id, method, args } satisfies Request, transfer);
          } catch (error) {
            this.#settle(id)?.reject(
              new TersorError({ code: 'invalid_argument', message: `${method}: ${sentence(error)}` }, { cause: error }),
            );
          }
        },
        (error: unknown) => {
          if (this.#host === host) this.#fall(whyOf(error));
          else this.#settle(id)?.reject(whyOf(error));
        },
      );
    });
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) void this.#host?.then((worker) => worker.keepAlive(this.#pending.size > 0));
    return pending;
  }

  #hear(reply: Reply): void {
    if ('progress' in reply) {
      try {
        this.#pending.get(reply.id)?.onProgress?.(reply.progress);
      } catch (error) {
        this.#settle(reply.id)?.reject(error); // of the caller's own function
      }
      return;
    }
    const pending = this.#settle(reply.id);
    if ('result' in reply) {
      pending?.resolve(reply.result);
      return;
    }
    const error = new TersorError(reply.error);
    pending?.reject(error);
    if (reply.fatal) this.#fall(error);
  }

  /** The worker is gone: every pending call ends, the next one starts a new worker. */
  #fall(why: TersorError): void {
    const host = this.#host;
    this.#host = null;
    ++this.deaths;
    this.fell = why;
    this.#held.clear();
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const one of pending) one.reject(why);
    void host?.then(
      (worker) => worker.terminate(),
      () => undefined,
    );
  }
}

/** What `ask` gives; asked once more where the worker died under it, of the new one in its place. */
export async function outliving<T>(worker: PoolWorker, ask: () => Promise<T>): Promise<T> {
  const { deaths } = worker;
  try {
    return await ask();
  } catch (error) {
    if (worker.deaths === deaths) throw error;
    return ask();
  }
}

export class Pool {
  readonly workers: readonly PoolWorker[];

  /** The complete engine, where the workers have the light one. */
  readonly #whole: (() => Promise<WebAssembly.Module>) | null;
  #completed: Promise<void> | null = null;
  #isComplete = false;

  constructor(
    module: WebAssembly.Module,
    count: number,
    start: () => Promise<HostWorker>,
    whole: (() => Promise<WebAssembly.Module>) | null,
  ) {
    this.#whole = whole;
    this.workers = Array.from({ length: count }, () => new PoolWorker(module, whole !== null, start));
  }

  /** Before what settings ask for: loads the complete engine where they need it. */
  async completeFor(settings: string): Promise<void> {
    if (this.#whole && !this.#isComplete && (await this.idle().call('needsWhole', [settings]))) await this.complete();
  }

  /** Loads the complete engine where the workers have the light one, once. */
  async complete(): Promise<void> {
    if (!this.#whole || this.#isComplete) return;
    this.#completed ??= this.#whole().then((module) => {
      for (const worker of this.workers) worker.complete(module);
    });
    try {
      await this.#completed;
      this.#isComplete = true;
    } catch (error) {
      this.#completed = null; // the network may be back the next time
      throw error;
    }
  }

  /** The worker with the fewest calls before it. */
  idle(): PoolWorker {
    return this.workers.reduce((best, worker) => (worker.busy < best.busy ? worker : best));
  }

  /** Brings a model to a worker; one that the light engine does not read (wasm/left_out.cpp), after the complete one is loaded. */
  async opened<Info>(model: Resource<Info>): Promise<Info> {
    try {
      return await this.idle().need(model);
    } catch (error) {
      const isLeftOut = error instanceof TersorError && error.code === 'internal';
      if (!isLeftOut || !this.#whole || this.#isComplete) throw error;
      await this.complete();
      return this.idle().need(model);
    }
  }

  forget(key: string): void {
    for (const worker of this.workers) worker.forget(key);
  }

  close(): void {
    const why = new TersorError({ code: 'cancelled', message: 'The engine was closed.', hint: 'Create a new one.' });
    for (const worker of this.workers) worker.close(why);
  }
}
