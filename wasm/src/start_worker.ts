// SPDX-License-Identifier: Apache-2.0
//
// How a worker is started, and why one does not start. The worker itself refers to nothing here: bundlers that follow it
// would be led in a circle.

import { answering } from './answers.js';
import { sentence, TersorError } from './error.js';
import { breaths, isNode, nodeModule } from './host.js';
import type { Request } from './protocol.js';

/** A worker of any kind. */
export interface HostWorker {
  /** `transfer`: memory that goes over with the message, and is empty here afterwards. */
  post(message: unknown, transfer: Transferable[]): void;
  onMessage(listener: (message: unknown) => void): void;
  /** The worker is gone, with a sentence why, or did not start, with the error that says so. */
  onDeath(listener: (why: string | TersorError) => void): void;
  /** Whether the process stays alive for it; Node only. */
  keepAlive(wanted: boolean): void;
  terminate(): void;
}

/** A worker's first message: its file has been loaded and runs. */
export interface Ready {
  readonly ready: true;
}
/** To a worker in a browser: hold the lock of that name for as long as you live. */
export interface Hold {
  readonly hold: string;
}
/** Its answer. */
export interface Held {
  readonly held: true;
}

const instead = 'create the engine with workers: 0, which needs none';

function notStarted(message: string, place: string, hint: string, cause?: unknown): TersorError {
  return new TersorError({ code: 'worker_died', message, place, hint }, { cause });
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
  let isReady = false;
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    onMessage: (listener) =>
      worker.on('message', (message: object) => {
        if ('ready' in message) isReady = true;
        else listener(message);
      }),
    onDeath: (listener) => {
      worker.on('error', (error: Error & { code?: unknown }) => {
        if (isReady) return listener(error.message);
        const isMissing = /MODULE_NOT_FOUND/.test(String(error.code));
        listener(
          notStarted(
            isMissing ? "The worker's file is not there." : `The worker's file could not be run: ${error.message}`,
            url.href,
            `Where a bundler has moved the package, leave it out of the bundle (in Next: serverExternalPackages: ['tersor']), say with locateFile where worker.js is, or ${instead}.`,
            error,
          ),
        );
      });
      worker.on('messageerror', () => listener('A message could not be read.'));
      worker.on('exit', (code: number) => listener(`It ended with exit code ${code}.`));
    },
    keepAlive: (wanted) => (wanted ? worker.ref() : worker.unref()),
    terminate: () => void worker.terminate(),
  };
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

/** Written so that bundlers find the file. */
const bundledWorker = () => new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });

/** The address that a bundler has put there: nothing is started. */
function bundledAddress(): URL | null {
  const scope = globalThis as { Worker: unknown };
  const { Worker: own } = scope;
  let seen: URL | null = null;
  try {
    scope.Worker = class {
      constructor(url: string | URL) {
        seen = new URL(url, location.href);
      }
    };
    bundledWorker();
  } catch {
    return null;
  } finally {
    scope.Worker = own;
  }
  return seen;
}

const scriptTypes = /^(text|application)\/(x-)?(java|ecma)script\b/;

/** Why the file did not run. A worker's own event says next to nothing of it. */
async function whyNotRun(url: URL | null, said: string, forbidden: () => boolean): Promise<TersorError> {
  const place = url?.href ?? '';
  let answer: Response | null = null;
  let unreachable: unknown = null;
  try {
    if (url) answer = await fetch(url);
  } catch (error) {
    unreachable = error;
  }
  if (forbidden()) {
    return notStarted(
      "The page's Content-Security-Policy forbids workers.",
      place,
      `Add worker-src 'self'${url && url.origin !== location.origin ? ' blob:' : ''} to that policy, in the page's header or its meta element, or ${instead}.`,
    );
  }
  if (unreachable || (answer && !answer.ok)) {
    return notStarted(
      `The worker's file could not be loaded: ${answer ? `the server answered with status ${answer.status}` : sentence(unreachable)}.`,
      place,
      `Put worker.js of the package there (for esbuild and Rollup an entry of its own, tersor/worker.js), say with locateFile where it is, or ${instead}.`,
    );
  }
  const type = answer?.headers.get('content-type') ?? '';
  if (answer && !scriptTypes.test(type)) {
    const isPage = type.startsWith('text/html');
    return notStarted(
      `The worker's file is served as ${type ? `"${type}"` : 'of no type'}, which browsers do not run.`,
      place,
      isPage
        ? `A page came in its place: most likely it is not there. Put worker.js of the package there, or say with locateFile where it is.`
        : `Have the server send it as text/javascript.`,
    );
  }
  return notStarted(
    `The worker's file could not be run${said ? `: ${said}` : ', or a file that it imports could not be loaded.'}`,
    place,
    `Check that all files of the package's dist lie beside it, as text/javascript, or ${instead}.`,
  );
}

/** Whether the page's policy forbids a worker, from here on. */
function policyWatch(stopped: AbortSignal): () => boolean {
  let isForbidden = false;
  const hear = (event: Event) => {
    const { effectiveDirective = '', blockedURI = '' } = event as SecurityPolicyViolationEvent;
    if (
      /^(worker|child)-src$/.test(effectiveDirective) ||
      (/^(script|default)-src/.test(effectiveDirective) && /worker|^blob/.test(blockedURI))
    )
      isForbidden = true;
  };
  addEventListener('securitypolicyviolation', hear, { signal: stopped });
  return () => isForbidden;
}

function startInBrowser(url: URL | null): HostWorker {
  if (typeof Worker === 'undefined') {
    throw notStarted(
      'Workers cannot be started here: there is no Worker in a service worker and the like.',
      '',
      `In this place ${instead}.`,
    );
  }
  const stopped = new AbortController();
  const here = import.meta.url; // kept apart, so that bundlers do not copy the file a second time; some put a file: address here
  const foreign = /^https?:/.test(here) && new URL(here).origin !== location.origin;
  const elsewhere = url ?? (foreign ? new URL('./worker.js', here) : null);
  const forbidden = policyWatch(stopped.signal);
  let worker: Worker;
  try {
    worker = elsewhere ? workerOf(elsewhere) : bundledWorker();
  } catch (error) {
    stopped.abort();
    const said = sentence(error);
    const place = elsewhere?.href ?? '';
    if (/trusted/i.test(said)) {
      throw notStarted(
        "The page's policy wants addresses of scripts as Trusted Types, and a worker's is none.",
        place,
        `Let worker.js pass in a policy named "default": trustedTypes.createPolicy('default', { createScriptURL: (url) => url }), with a check of your own; or ${instead}.`,
        error,
      );
    }
    const isForbidden = /content.security.policy|insecure|denied/i.test(said);
    throw notStarted(
      isForbidden ? "The page's Content-Security-Policy forbids workers." : `The worker could not be started: ${said}`,
      place,
      isForbidden ? `Add worker-src 'self' to that policy, or ${instead}.` : `You can ${instead}.`,
      error,
    );
  }
  let isReady = false;
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    onMessage: (listener) =>
      worker.addEventListener('message', ({ data }: MessageEvent<object>) => {
        if ('ready' in data) isReady = true;
        else if (!('held' in data)) listener(data);
      }),
    onDeath: (listener) => {
      watch(worker, stopped.signal, listener);
      worker.addEventListener('error', (event) => {
        event.preventDefault();
        if (isReady) listener(event.message || 'It met an error.');
        else void whyNotRun(elsewhere ?? bundledAddress(), event.message ?? '', forbidden).then(listener);
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

/** `url` is the worker's file; null: the one beside this file. Error worker_died where one cannot be started here. */
export async function startWorker(url: URL | null): Promise<HostWorker> {
  if (!isNode) return startInBrowser(url);
  const here = import.meta.url; // kept apart, so that bundlers do not copy the file a second time
  return startInNode(url ?? new URL('./worker.js', here));
}

/** No worker: the caller's own thread does the work, and breathes between two requests. */
export function startHere(): HostWorker {
  const answer = answering();
  const breathe = breaths();
  let listener: (message: unknown) => void = () => undefined;
  let isOver = false;
  let last: Promise<void> = Promise.resolve();
  return {
    post: (message) => {
      last = last.then(async () => {
        await breathe();
        if (isOver) return;
        await answer(message as Request, (reply) => {
          if (!isOver) listener(reply);
        });
      });
    },
    onMessage: (hears) => (listener = hears),
    onDeath: () => undefined,
    keepAlive: () => undefined,
    terminate: () => (isOver = true),
  };
}
