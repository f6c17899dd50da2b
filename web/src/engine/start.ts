// SPDX-License-Identifier: Apache-2.0
//
// What happens after the first paint: the engine and its workers, the demo's data, the offline worker. When all of it is
// here the page does its job without a network and says so with `tersor:ready`.

import { followAddress } from '../job/address';
import { problemOf } from '../job/problem';
import { say } from '../job/say';
import { startUnzip } from '../job/unzip';
import * as state from '../job/state';
import { loadDemo } from './demo';

function compiled(): Promise<WebAssembly.Module | undefined> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL('./compile.worker.ts', import.meta.url), { type: 'module', name: 'compile' });
    const end = (module: WebAssembly.Module | null) => {
      worker.terminate();
      resolve(module ?? undefined);
    };
    worker.addEventListener('message', (event: MessageEvent<WebAssembly.Module | null>) => end(event.data));
    worker.addEventListener('messageerror', () => end(null));
    worker.addEventListener('error', () => end(null));
  });
}

async function startEngine(): Promise<void> {
  try {
    const [{ Tersor }, wasmBinary] = await Promise.all([import('tersor'), compiled()]);
    const engine = await Tersor.create({ workers: 'auto', wasmBinary });
    state.engine.value = engine;
    followAddress(engine);
  } catch (error) {
    state.engineProblem.value = problemOf(error);
  }
}

/** Resolves when the offline worker holds the site, or when it cannot. */
async function storeOffline(): Promise<void> {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  try {
    const known = (await navigator.serviceWorker.getRegistration('./')) !== undefined;
    const registration = await navigator.serviceWorker.register('./sw.js', { updateViaCache: 'all' });
    // asked now, so that the browser's own question a moment later is answered from its cache
    if (known) await registration.update();
    const fresh = registration.installing ?? registration.waiting;
    if (fresh) await settled(fresh, registration);
    if (registration.waiting) offerUpdate(registration.waiting);
    registration.addEventListener('updatefound', () => {
      const newer = registration.installing;
      newer?.addEventListener('statechange', () => {
        if (newer.state === 'installed' && registration.active) offerUpdate(newer);
      });
    });
    state.storedOffline.value = registration.active !== null;
  } catch {
    // a private window, a refused permission or no network: the open page works without it
    state.storedOffline.value = navigator.serviceWorker.controller !== null;
  }
}

/** A newer version is stored; the reader says when it is taken. */
function offerUpdate(worker: ServiceWorker): void {
  say('A newer version of this page is stored.', {
    word: 'Reload',
    act: () => {
      navigator.serviceWorker.addEventListener('controllerchange', () => location.reload(), { once: true });
      worker.postMessage('take over');
    },
  });
}

/** Until it is in force, or waits behind the one that is. */
function settled(worker: ServiceWorker, registration: ServiceWorkerRegistration): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      const waits = worker.state === 'installed' && registration.active !== null;
      if (waits || worker.state === 'activated' || worker.state === 'redundant') resolve();
    };
    worker.addEventListener('statechange', look);
    look();
  });
}

export async function start(): Promise<void> {
  const demo = loadDemo().catch(() => undefined); // "Try the demo" asks again and tells
  await Promise.all([startEngine(), demo, startUnzip(), storeOffline()]);
  if (state.engine.value === null) return;
  state.ready.value = true;
  performance.mark('tersor:ready');
}
