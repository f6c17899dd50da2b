// SPDX-License-Identifier: Apache-2.0
//
// Opens one archive per message, away from the page. Entries come back as blobs, a hundred at a time.

import { unzipSync } from 'fflate';

/** What the entries may hold together; checked from the directory before anything is inflated. */
const limit = 2e9;

export interface UnzipRequest {
  readonly id: number;
  readonly archive: Blob;
}

export type UnzipAnswer =
  | { readonly started: true }
  | {
      readonly id: number;
      readonly entries: readonly { readonly path: string; readonly data: Blob }[];
      readonly done: boolean;
    }
  | { readonly id: number; readonly failure: string };

async function unzip({ id, archive }: UnzipRequest): Promise<void> {
  const bytes = new Uint8Array(await archive.arrayBuffer());
  let total = 0;
  const files = unzipSync(bytes, {
    filter: (entry) => {
      total += entry.originalSize;
      if (total > limit) throw new Error(`its files hold more than ${limit / 1e9} GB`);
      return !entry.name.endsWith('/');
    },
  });
  const paths = Object.keys(files);
  for (let at = 0; at < paths.length || at === 0; at += 100) {
    const entries = paths
      .slice(at, at + 100)
      .map((path) => ({ path, data: new Blob([(files[path] ?? new Uint8Array()) as Uint8Array<ArrayBuffer>]) }));
    postMessage({ id, entries, done: at + 100 >= paths.length } satisfies UnzipAnswer);
  }
}

addEventListener('message', (event: MessageEvent<UnzipRequest>) => {
  unzip(event.data).catch((error: unknown) => {
    const failure = error instanceof Error ? error.message : String(error);
    postMessage({ id: event.data.id, failure } satisfies UnzipAnswer);
  });
});

postMessage({ started: true } satisfies UnzipAnswer);
