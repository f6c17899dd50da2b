// SPDX-License-Identifier: Apache-2.0

import type { Arrival } from './intake';
import { lookForParts } from './parts';
import type { Problem } from './problem';
import type { UnzipAnswer, UnzipRequest } from './unzip.worker';

interface Pending {
  readonly entries: Arrival[];
  readonly resolve: (entries: Arrival[]) => void;
  readonly reject: (problem: Problem) => void;
  readonly path: string;
}

let worker: Worker | null = null;
let lastId = 0;
const pending = new Map<number, Pending>();

function fail(id: number, reason: string): void {
  const call = pending.get(id);
  pending.delete(id);
  call?.reject({
    code: 'invalid_samples',
    message: `${call.path} could not be opened as a zip archive: ${reason}.`,
    place: call.path,
    hint: 'Where it was cut short, download it again; else unpack it and drop the folder.',
  });
}

/** Starts the worker, so that a later archive needs no request. Resolves when its script runs, or has failed to. */
export function startUnzip(): Promise<void> {
  const started = new Worker(new URL('./unzip.worker.ts', import.meta.url), { type: 'module', name: 'unzip' });
  worker = started;
  const runs = new Promise<void>((resolve) => {
    started.addEventListener('message', () => resolve(), { once: true });
    started.addEventListener('error', () => resolve(), { once: true });
  });
  started.addEventListener('message', (event: MessageEvent<UnzipAnswer>) => {
    const answer = event.data;
    if ('started' in answer) return;
    if ('failure' in answer) {
      fail(answer.id, answer.failure.replace(/\.$/, ''));
      return;
    }
    const call = pending.get(answer.id);
    call?.entries.push(...answer.entries);
    if (answer.done && call) {
      pending.delete(answer.id);
      call.resolve(call.entries);
    }
  });
  started.addEventListener('error', () => {
    for (const id of [...pending.keys()]) fail(id, 'it does not fit into memory');
    void lookForParts();
  });
  return runs;
}

export function unzip(archive: Arrival): Promise<Arrival[]> {
  if (!worker) void startUnzip();
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    pending.set(id, { entries: [], resolve, reject, path: archive.path });
    worker?.postMessage({ id, archive: archive.data } satisfies UnzipRequest);
  });
}
