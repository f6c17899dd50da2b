// SPDX-License-Identifier: Apache-2.0
//
// The worker beside the page for what needs no engine.

import type { AsideAnswer, AsideRequest } from './aside.worker';
import type { Bars } from './bars';
import type { Drawn, DrawRequest } from './drawings';
import type { Arrival } from './intake';
import { lookForParts } from './parts';
import type { Problem } from './problem';
import type { TextFiles, Tokens } from './tokens';

interface Pending {
  /** Takes an answer; says whether it was the last. */
  readonly take: (answer: AsideAnswer) => boolean;
  readonly fail: (reason: string) => void;
}

let worker: Worker | null = null;
let lastId = 0;
const pending = new Map<number, Pending>();

function fail(id: number, reason: string): void {
  const call = pending.get(id);
  pending.delete(id);
  call?.fail(reason);
}

/** Starts the worker, so that nothing later needs a request. Resolves when its script runs, or has failed to. */
export function startAside(): Promise<void> {
  const started = new Worker(new URL('./aside.worker.ts', import.meta.url), { type: 'module', name: 'aside' });
  worker = started;
  const runs = new Promise<void>((resolve) => {
    started.addEventListener('message', () => resolve(), { once: true });
    started.addEventListener('error', () => resolve(), { once: true });
  });
  started.addEventListener('message', ({ data: answer }: MessageEvent<AsideAnswer>) => {
    if ('started' in answer) return;
    if ('failure' in answer) fail(answer.id, answer.failure.replace(/\.$/, ''));
    else if (pending.get(answer.id)?.take(answer)) pending.delete(answer.id);
  });
  started.addEventListener('error', () => {
    for (const id of [...pending.keys()]) fail(id, 'it does not fit into memory');
    void lookForParts();
  });
  return runs;
}

type Request = AsideRequest extends infer One ? (One extends AsideRequest ? Omit<One, 'id'> : never) : never;

function ask(what: Pending, request: Request, transfer: Transferable[] = []): void {
  if (!worker) void startAside();
  const id = ++lastId;
  pending.set(id, what);
  worker?.postMessage({ ...request, id }, transfer);
}

export function unzip(archive: Arrival): Promise<Arrival[]> {
  const entries: Arrival[] = [];
  return new Promise((resolve, reject) => {
    const take = (answer: AsideAnswer) => {
      if (!('entries' in answer)) return false;
      entries.push(...answer.entries);
      if (answer.done) resolve(entries);
      return answer.done;
    };
    const refuse = (reason: string) =>
      reject({
        code: 'invalid_samples',
        message: `${archive.path} could not be opened as a zip archive: ${reason}.`,
        place: archive.path,
        hint: 'Where it was cut short, download it again; else unpack it and drop the folder.',
      } satisfies Problem);
    ask({ take, fail: refuse }, { archive: archive.data });
  });
}

interface Answers {
  readonly png: Blob | null;
  readonly tokens: Tokens;
  readonly drawn: Drawn | null;
  readonly bars: Bars | null;
}

/** The one answer to a request, by its name. Rejects with a problem of that code, which says why there is none. */
function answerTo<K extends keyof Answers>(
  request: Request,
  name: K,
  code: string,
  transfer: Transferable[] = [],
): Promise<Answers[K]> {
  return new Promise((resolve, reject) => {
    const take = (answer: AsideAnswer) => {
      if (name in answer) resolve((answer as unknown as Answers)[name]);
      return name in answer;
    };
    const fail = (reason: string) => reject({ code, message: `${reason}.`, place: '', hint: '' } satisfies Problem);
    ask({ take, fail }, request, transfer);
  });
}

/** A picture of one of the browser's formats as a PNG file; null where this browser cannot make it one. */
export function pngOf(picture: Blob): Promise<Blob | null> {
  return answerTo({ picture }, 'png', 'invalid_samples').catch(() => null);
}

/** Texts as token ids. */
export function tokens(texts: TextFiles): Promise<Tokens> {
  return answerTo({ texts }, 'tokens', 'invalid_samples');
}

/** The memory of all tensors of some runs, which goes to the worker. */
function buffersOf({ float, others }: DrawRequest): ArrayBuffer[] {
  const runs = [...float, ...others.flatMap((other) => other.runs)];
  const tensors = runs.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]);
  return [...new Set(tensors.map(({ data }) => data.buffer as ArrayBuffer))];
}

/** Masks or boxes over their pictures, null where outputs cannot be drawn; the runs are `given` away, or copied. */
export function drawn(runs: DrawRequest, given: boolean): Promise<Drawn | null> {
  return answerTo({ runs, as: 'drawings' }, 'drawn', 'out_of_memory', given ? buffersOf(runs) : []);
}

/** Values as bars, null where there are none to compare; the runs are given away. */
export function bars(runs: DrawRequest): Promise<Bars | null> {
  return answerTo({ runs, as: 'bars' }, 'bars', 'out_of_memory', buffersOf(runs));
}
