// SPDX-License-Identifier: Apache-2.0
//
// What callers give as samples, in one of the two forms that go on from here: a list of files with names, or tensors one by one.

import { TersorError } from './error.js';
import { isNode, nodeModule, ownBytes } from './host.js';
import { pngOf } from './png.js';
import type { ImageSample, SampleFile as AnyFile, Samples, TensorSample } from './types.js';

/** A file of a data set as it goes to workers. */
export interface SampleFile extends AnyFile {
  readonly data: Blob | Uint8Array;
}

/** A sample source that is looked into no further. */
export type GivenSamples = readonly (SampleFile | File)[] | Iterable<TensorSample> | AsyncIterable<TensorSample>;

function wrong(message: string, place: string, hint = ''): TersorError {
  return new TersorError({ code: 'invalid_samples', message, place, hint });
}

function isObject(value: unknown): value is object {
  return value !== null && typeof value === 'object';
}

function isBytes(value: unknown): value is Blob | Uint8Array {
  return value instanceof Blob || value instanceof Uint8Array;
}

/** A file in the form that workers take. */
export function isFile(value: unknown): value is SampleFile | File {
  if (!isObject(value)) return false;
  if (value instanceof Blob) return typeof (value as Partial<File>).name === 'string';
  const { path, data } = value as Partial<SampleFile>;
  return typeof path === 'string' && isBytes(data);
}

function isImage(value: unknown): value is ImageSample {
  if (!isObject(value)) return false;
  const { width, height, data } = value as Partial<ImageSample>;
  return typeof width === 'number' && typeof height === 'number' && ArrayBuffer.isView(data);
}

/** What has a name, or will get one: the others are tensors. */
function isFileLike(value: unknown): boolean {
  if (typeof value === 'string' || value instanceof Blob || isImage(value)) return true;
  return isObject(value) && typeof (value as { path?: unknown }).path === 'string' && 'data' in value;
}

interface NodeFiles {
  readFile(path: string): Promise<Uint8Array<ArrayBuffer>>;
  readdir(path: string, options: { recursive: true }): Promise<string[]>;
  stat(path: string): Promise<{ isDirectory(): boolean; isFile(): boolean }>;
}

/** Files on the disk, by the paths that they have in `folder`. */
async function readFiles(folder: string, paths: readonly string[]): Promise<SampleFile[]> {
  const fs = await nodeModule<NodeFiles>('fs/promises');
  const files: SampleFile[] = [];
  for (const path of paths) {
    const whole = folder === '' ? path : `${folder}/${path}`;
    if ((await fs.stat(whole)).isFile()) files.push({ path, data: await fs.readFile(whole) });
  }
  return files;
}

/** `path` names a folder of samples or one file of them. */
async function readPath(path: string, place: string): Promise<SampleFile[]> {
  if (!isNode) throw wrong(`"${path}" is a path, and a page cannot read it.`, place, 'Give Files.');
  try {
    const fs = await nodeModule<NodeFiles>('fs/promises');
    const name = path.replaceAll('\\', '/').replace(/\/+$/, '');
    if (!(await fs.stat(path)).isDirectory()) {
      return [{ path: name.slice(name.lastIndexOf('/') + 1), data: await fs.readFile(path) }];
    }
    const inside = (await fs.readdir(path, { recursive: true })).map((one) => one.replaceAll('\\', '/'));
    return await readFiles(name === '' ? '/' : name, inside);
  } catch (error) {
    throw new TersorError(
      { code: 'io', message: `"${path}" cannot be read: ${(error as Error).message}.`, place },
      { cause: error },
    );
  }
}

/** Names in order, as files are sorted by them. */
function numbered(index: number, extension = ''): string {
  return `sample-${String(index).padStart(8, '0')}${extension}`;
}

async function asFile(value: unknown, index: number): Promise<SampleFile | File> {
  const place = `samples[${index}]`;
  if (isFile(value)) return value;
  if (value instanceof Blob) return { path: numbered(index), data: value };
  if (typeof value === 'string') {
    const files = await readPath(value, place);
    const [file] = files;
    if (file === undefined || files.length > 1)
      throw wrong(`"${value}" is a folder.`, place, 'Give a folder alone, not in a list.');
    const inside = value.replaceAll('\\', '/').replace(/^(\.\/)+/, '');
    // the folders of a path that stays below are those of the data set
    return /^(\/|[a-z]:|(.*\/)?\.\.\/)/i.test(inside) ? file : { path: inside, data: file.data };
  }
  if (isImage(value)) return { path: numbered(index, '.png'), data: await pngOf(value, place) };
  const { path, data } = (isObject(value) ? value : {}) as { path?: unknown; data?: unknown };
  const bytes = ownBytes(data);
  if (typeof path === 'string' && bytes) return { path, data: bytes };
  if (typeof path === 'string') throw wrong(`The data of "${path}" is neither bytes nor a Blob.`, `${place}.data`);
  throw wrong('This is no file, though the first sample is one.', place, 'Give files, or tensors, but not both.');
}

/** Lists that were brought into the form, so that a list that is given again is the same data set. */
const converted = new WeakMap<
  object,
  { readonly from: readonly unknown[]; readonly to: readonly (SampleFile | File)[] }
>();

async function asFiles(list: readonly unknown[]): Promise<readonly (SampleFile | File)[]> {
  if (list.every(isFile)) return list;
  const known = converted.get(list);
  if (known?.from.length === list.length && known.from.every((one, k) => one === list[k])) return known.to;
  const to: (SampleFile | File)[] = [];
  for (const [index, value] of list.entries()) to.push(await asFile(value, index));
  converted.set(list, { from: [...list], to });
  return to;
}

/** The first again, then the others. */
async function* again(first: unknown, rest: AsyncIterator<unknown>): AsyncGenerator<TensorSample> {
  try {
    yield first as TensorSample;
    for (;;) {
      const next = await rest.next();
      if (next.done) return;
      yield next.value as TensorSample;
    }
  } finally {
    await rest.return?.();
  }
}

async function* each(samples: Iterable<unknown> | AsyncIterable<unknown>): AsyncGenerator<unknown> {
  yield* samples;
}

/** Rejects with the code `invalid_samples` where it is nothing of the kind. */
export async function given(samples: Samples): Promise<GivenSamples> {
  const source = samples as unknown;
  if (typeof source === 'string') return readPath(source, 'samples');
  if (source instanceof Blob || isImage(source)) return asFiles([source]);
  if (Array.isArray(source)) {
    return source.length === 0 || isFileLike(source[0]) ? asFiles(source) : (source as readonly TensorSample[]);
  }
  if (
    !isObject(source) ||
    !(Symbol.iterator in source || Symbol.asyncIterator in source) ||
    ArrayBuffer.isView(source)
  ) {
    throw wrong(
      'Samples are a list of files or of tensors by input name, or something to iterate over that gives them.',
      'samples',
      isObject(source) ? 'One sample alone goes into a list.' : '',
    );
  }
  const rest = each(source as Iterable<unknown>);
  const first = await rest.next();
  if (first.done) return [];
  if (!isFileLike(first.value)) return again(first.value, rest);
  const list = [first.value];
  for await (const one of rest) list.push(one);
  return asFiles(list);
}
