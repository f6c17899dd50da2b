// SPDX-License-Identifier: Apache-2.0
//
// The offline worker: keeps the whole site when it is installed, so that a reload works without a network. It asks for
// nothing of its own accord afterwards. Files whose names carry a hash come from the cache; all others come from the
// network while there is one, so that a new version shows at once.

const worker = self as unknown as ServiceWorkerGlobalScope;

// written by the build
const files = '%FILES%'.split('|');
/** What is fetched when it is first used, or when somebody asks for all of it. */
const later = '%LATER%'.split('|').filter(Boolean);
const version = '%VERSION%';

const prefix = `tersor ${worker.registration.scope} `;
const cacheName = prefix + version;

worker.addEventListener('install', (event) => {
  event.waitUntil(
    (async () => {
      const cache = await caches.open(cacheName);
      await cache.addAll(
        files.map((file) => new Request(file, { cache: file.startsWith('assets/') ? 'default' : 'no-cache' })),
      );
    })(),
  );
});

/** Whether all that is fetched later is here now. */
async function keepAll(): Promise<boolean> {
  const cache = await caches.open(cacheName);
  try {
    for (const file of later) if (!(await cache.match(file, { ignoreVary: true }))) await cache.add(file);
    return true;
  } catch {
    return false; // no network, or no room
  }
}

// a newer version waits until no page of the older one is open, or until a page that offered it is told to take it
worker.addEventListener('message', (event) => {
  if (event.data === 'take over') void worker.skipWaiting();
  const [port] = event.ports;
  if (event.data === 'keep all' && port) event.waitUntil(keepAll().then((kept) => port.postMessage(kept)));
});

worker.addEventListener('activate', (event) => {
  event.waitUntil(
    (async () => {
      for (const other of await caches.keys()) {
        if (other.startsWith(prefix) && other !== cacheName) await caches.delete(other);
      }
      await worker.clients.claim();
    })(),
  );
});

async function answer(request: Request): Promise<Response> {
  const cache = await caches.open(cacheName);
  const options = { ignoreSearch: request.mode === 'navigate', ignoreVary: true };
  const { pathname } = new URL(request.url);
  // what verifies, what trains and the photographs are fetched when they are first used, and kept from then on
  if (/\/(verify|assets|demo\/fruit)\//.test(pathname)) {
    const kept = await cache.match(request, options);
    if (kept) return kept;
    const fresh = await fetch(request);
    if (fresh.ok) await cache.put(request, fresh.clone());
    return fresh;
  }
  try {
    return await fetch(request);
  } catch (error) {
    const kept = await cache.match(request.mode === 'navigate' ? './' : request, options);
    if (kept) return kept;
    throw error;
  }
}

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method === 'GET' && request.url.startsWith(worker.registration.scope)) event.respondWith(answer(request));
});
