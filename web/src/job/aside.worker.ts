// SPDX-License-Identifier: Apache-2.0
//
// What takes long and needs no engine, away from the page: archives are opened, pictures of the browser's formats become PNG files, and
// outputs are made into drawings or bars. Entries of an archive come back as blobs, a hundred at a time.

import { unzipSync } from 'fflate';

import { barsOf, type Bars } from './bars';
import { drawRuns, type Drawn, type DrawRequest } from './drawings';
import type { TextFiles, Tokens } from './tokens';

/** What the entries may hold together; checked from the directory before anything is inflated. */
const limit = 2e9;

export type AsideRequest = { readonly id: number } & (
  | { readonly archive: Blob }
  | { readonly picture: Blob }
  | { readonly texts: TextFiles }
  | { readonly runs: DrawRequest; readonly as: 'drawings' | 'bars' }
);

export type AsideAnswer =
  | { readonly started: true }
  | {
      readonly id: number;
      readonly entries: readonly { readonly path: string; readonly data: Blob }[];
      readonly done: boolean;
    }
  | { readonly id: number; readonly drawn: Drawn | null }
  | { readonly id: number; readonly bars: Bars | null }
  | { readonly id: number; readonly png: Blob | null }
  | { readonly id: number; readonly tokens: Tokens }
  | { readonly id: number; readonly failure: string };

async function unzip(id: number, archive: Blob): Promise<void> {
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
    postMessage({ id, entries, done: at + 100 >= paths.length } satisfies AsideAnswer);
  }
}

/** Browsers that guard against being recognized give pages other pixels than there are. */
function givesPixels(): boolean {
  const context = new OffscreenCanvas(16, 16).getContext('2d');
  const pixels = new ImageData(16, 16);
  for (let k = 0; k < pixels.data.length; ++k) pixels.data[k] = k % 4 === 3 ? 255 : (k * 37) % 256;
  context?.putImageData(pixels, 0, 0);
  const read = context?.getImageData(0, 0, 16, 16).data;
  return pixels.data.every((value, k) => value === read?.[k]);
}

/** Found out once, at the first picture. */
let pixelsAreGiven: boolean | undefined;

/** The first picture of a file; null where this browser cannot decode it. */
async function png(file: Blob): Promise<Blob | null> {
  const bitmap = await createImageBitmap(file, { colorSpaceConversion: 'none' }).catch(() => null);
  if (!bitmap || !(pixelsAreGiven ??= givesPixels())) return null;
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
  bitmap.close();
  return canvas.convertToBlob({ type: 'image/png' });
}

function draw(id: number, runs: DrawRequest): void {
  const drawn = drawRuns(runs);
  const figures = drawn?.rows.flatMap((row) => row.figures) ?? [];
  const transfer = [...new Set(figures.map(({ raster }) => raster.rgba.buffer as ArrayBuffer))];
  postMessage({ id, drawn } satisfies AsideAnswer, { transfer });
}

addEventListener('message', ({ data: asked }: MessageEvent<AsideRequest>) => {
  const work = async () => {
    if ('archive' in asked) await unzip(asked.id, asked.archive);
    else if ('picture' in asked) postMessage({ id: asked.id, png: await png(asked.picture) } satisfies AsideAnswer);
    else if ('texts' in asked) {
      const { tokensOf } = await import('./tokens');
      postMessage({ id: asked.id, tokens: await tokensOf(asked.texts) } satisfies AsideAnswer);
    } else if (asked.as === 'drawings') draw(asked.id, asked.runs);
    else postMessage({ id: asked.id, bars: barsOf(asked.runs) } satisfies AsideAnswer);
  };
  work().catch((error: unknown) => {
    const { message, hint = '' } =
      error instanceof Error ? (error as Error & { hint?: string }) : { message: String(error) };
    const failure = `${message} ${hint}`.trim();
    postMessage({ id: asked.id, failure } satisfies AsideAnswer);
  });
});

postMessage({ started: true } satisfies AsideAnswer);
