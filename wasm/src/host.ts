// SPDX-License-Identifier: Apache-2.0
//
// What differs between a browser and Node; how workers are started is in start_worker.ts.

interface NodeProcess {
  readonly versions?: { readonly node?: string };
}

const nodeProcess = (globalThis as { process?: NodeProcess }).process;
export const isNode = typeof nodeProcess?.versions?.node === 'string';

/** A module of Node that bundlers must not look for. */
export function nodeModule<T>(name: string): Promise<T> {
  return import(/* @vite-ignore */ /* webpackIgnore: true */ `node:${name}`) as Promise<T>;
}

/** Bytes as this realm has them: those of another (a frame, a context of Node's vm, Electron, Jest) are no instance of our classes. */
export function ownBytes(value: unknown): Uint8Array | null {
  if (value instanceof Uint8Array) return value;
  const kind = Object.prototype.toString.call(value);
  if (kind === '[object ArrayBuffer]') return new Uint8Array(value as ArrayBuffer);
  if (kind !== '[object Uint8Array]' || !ArrayBuffer.isView(value)) return null;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
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
