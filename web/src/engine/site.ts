// SPDX-License-Identifier: Apache-2.0
//
// All that the page asks its site for: the engine, the demo's files, to be stored. one_file.ts stands here in the page that is one
// file.

import { say } from '../job/say';
import * as state from '../job/state';

/** The site begins with the engine that does not train; the other is loaded when somebody first trains. */
export { default as light } from 'tersor/light';

/** The engine, compiled away from the page; undefined where the package is to try again, and tells what is wrong. */
export function compiled(): Promise<WebAssembly.Module | undefined> {
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

/** A file of the demo. */
export async function demoFile(name: string): Promise<Blob> {
  const path = `demo/${name}`;
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path} could not be loaded (status ${response.status}).`);
  return response.blob();
}

/** Resolves when the offline worker holds the site, or when it cannot. */
export async function storeOffline(): Promise<void> {
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

/** Has the offline worker fetch what it keeps only once it was used; false where it could not. */
export function keepAll(): Promise<boolean> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }: MessageEvent<boolean>) => resolve(data);
    const { controller } = navigator.serviceWorker;
    if (controller) controller.postMessage('keep all', [port2]);
    else resolve(false);
  });
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
