// SPDX-License-Identifier: Apache-2.0
//
// What differs between a browser and Node: how a worker is started and how a file beside the package is read.

interface NodeProcess {
  readonly versions?: { readonly node?: string };
}

const nodeProcess = (globalThis as { process?: NodeProcess }).process;
export const isNode = typeof nodeProcess?.versions?.node === 'string';

/** A worker of either kind. */
export interface HostWorker {
  /** `transfer`: memory that goes over with the message, and is empty here afterwards. */
  post(message: unknown, transfer: Transferable[]): void;
  onMessage(listener: (message: unknown) => void): void;
  /** The worker is gone, with a sentence why. */
  onDeath(listener: (why: string) => void): void;
  /** Whether the process stays alive for it; Node only. */
  keepAlive(wanted: boolean): void;
  terminate(): void;
}

/** A module of Node that bundlers must not look for. */
export function nodeModule<T>(name: string): Promise<T> {
  return import(/* @vite-ignore */ /* webpackIgnore: true */ `node:${name}`) as Promise<T>;
}

interface NodeWorker {
  postMessage(message: unknown, transfer: Transferable[]): void;
  on(event: string, listener: (value: never) => void): void;
  ref(): void;
  unref(): void;
  terminate(): Promise<number>;
}

async function startInNode(url: URL): Promise<HostWorker> {
  const { Worker: ThreadWorker } = await nodeModule<{ Worker: new (url: URL) => NodeWorker }>('worker_threads');
  const worker = new ThreadWorker(url);
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    onMessage: (listener) => worker.on('message', (message: unknown) => listener(message)),
    onDeath: (listener) => {
      worker.on('error', (error: Error) => listener(error.message));
      worker.on('messageerror', () => listener('A message could not be read.'));
      worker.on('exit', (code: number) => listener(`It ended with exit code ${code}.`));
    },
    keepAlive: (wanted) => (wanted ? worker.ref() : worker.unref()),
    terminate: () => void worker.terminate(),
  };
}

/** To a worker in a browser: hold the lock of that name for as long as you live. */
export interface Hold {
  readonly hold: string;
}
/** Its answer. */
export interface Held {
  readonly held: true;
}

/** A worker whose file is there runs after a moment, long before this. */
const startSeconds = 60;

/** Nothing else tells that a worker has closed itself. Only secure contexts have locks. */
function watch(worker: Worker, stopped: AbortSignal, listener: (why: string) => void): void {
  const locks = (navigator as Partial<Navigator>).locks;
  if (!locks) return;
  const name = `tersor-worker-${crypto.randomUUID()}`;
  const late = setTimeout(() => listener(`It did not start within ${startSeconds} s.`), startSeconds * 1000);
  stopped.addEventListener('abort', () => clearTimeout(late));
  worker.addEventListener('message', (event: MessageEvent<object>) => {
    if (!('held' in event.data)) return;
    clearTimeout(late);
    locks.request(name, { signal: stopped }, () => listener('It closed itself.')).catch(() => undefined);
  });
  worker.postMessage({ hold: name } satisfies Hold);
}

/** Browsers start workers from files of the page's own origin only; a script of that origin may import one of another. */
function workerOf(url: URL): Worker {
  if (url.origin === location.origin) return new Worker(url, { type: 'module' });
  const script = new Blob([`import ${JSON.stringify(url.href)};`], { type: 'text/javascript' });
  const address = URL.createObjectURL(script);
  const worker = new Worker(address, { type: 'module' });
  worker.addEventListener('message', () => URL.revokeObjectURL(address), { once: true });
  return worker;
}

function startInBrowser(url: URL | null): HostWorker {
  const stopped = new AbortController();
  const here = import.meta.url; // kept apart, so that bundlers do not copy the file a second time; some put a file: address here
  const foreign = /^https?:/.test(here) && new URL(here).origin !== location.origin;
  const elsewhere = url ?? (foreign ? new URL('./worker.mjs', here) : null);
  // written so that bundlers find the file
  const worker = elsewhere
    ? workerOf(elsewhere)
    : new Worker(new URL('./worker.mjs', import.meta.url), { type: 'module' });
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    onMessage: (listener) =>
      worker.addEventListener('message', (event: MessageEvent<object>) => {
        if (!('held' in event.data)) listener(event.data);
      }),
    onDeath: (listener) => {
      watch(worker, stopped.signal, listener);
      worker.addEventListener('error', (event) => {
        event.preventDefault();
        listener(event.message || 'Its file could not be loaded.');
      });
      worker.addEventListener('messageerror', () => listener('A message could not be read.'));
    },
    keepAlive: () => undefined,
    terminate: () => {
      stopped.abort();
      worker.terminate();
    },
  };
}

/** `url` is the worker's file; null: the one beside this file. */
export async function startWorker(url: URL | null): Promise<HostWorker> {
  if (!isNode) return startInBrowser(url);
  const here = import.meta.url; // kept apart, so that bundlers do not copy the file a second time
  return startInNode(url ?? new URL('./worker.mjs', here));
}

/** The bytes at an address: over the network, or from the disk in Node. */
export async function readUrl(url: URL): Promise<Blob> {
  if (isNode && url.protocol === 'file:') {
    const fs = await nodeModule<{ readFile(url: URL): Promise<Uint8Array<ArrayBuffer>> }>('fs/promises');
    return new Blob([await fs.readFile(url)]);
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.href} answered with status ${response.status}.`);
  return response.blob();
}

export async function compileAt(url: URL): Promise<WebAssembly.Module> {
  if (isNode && url.protocol === 'file:') return WebAssembly.compile(await (await readUrl(url)).arrayBuffer());
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.href} answered with status ${response.status}.`);
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('application/wasm')) return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}

const sliceMilliseconds = 8;

/** To be awaited again and again in a long loop: lets the thread do what else waits, now and then. */
export function breaths(): () => Promise<void> | undefined {
  let since = performance.now();
  const breath = () =>
    new Promise<void>((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        since = performance.now();
        resolve();
      };
      port2.postMessage(null);
    });
  return () => (performance.now() - since < sliceMilliseconds ? undefined : breath());
}

/** Cores of this machine. */
export async function coreCount(): Promise<number> {
  const known = (globalThis as { navigator?: { hardwareConcurrency?: number } }).navigator?.hardwareConcurrency;
  if (known) return known;
  if (!isNode) return 1;
  return (await nodeModule<{ availableParallelism(): number }>('os')).availableParallelism(); // Node 20 has no navigator
}
