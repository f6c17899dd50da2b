// SPDX-License-Identifier: Apache-2.0
//
// In place of site.ts in the page that is one file: what the site has as files stands in elements that no browser reads, compressed
// and as text.

async function inside(name: string): Promise<Blob> {
  const text = document.querySelector(`script[data-file="${name}"]`)?.textContent;
  if (!text) throw new Error(`${name} is not in this file.`);
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).blob();
}

/** What trains is in it. */
export const light = false;

export async function compiled(): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await (await inside('tersor.wasm')).arrayBuffer());
}

export function demoFile(name: string): Promise<Blob> {
  return inside(`demo/${name}`);
}

export function storeOffline(): Promise<void> {
  return Promise.resolve();
}

export function keepAll(): Promise<boolean> {
  return Promise.resolve(false);
}
