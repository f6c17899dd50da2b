// SPDX-License-Identifier: Apache-2.0
//
// Files on their way to the workers, without copying them into each. In a browser they become one Blob: a handle, whose
// parts stay where they are (a File on the disk) until a worker reads them. In Node they become shared memory.

import { breaths, isNode } from './host.js';

export interface NamedData {
  readonly path: string;
  readonly data: Blob | Uint8Array;
}

export interface PackedFile {
  readonly path: string;
  readonly size: number;
}

/** Can be posted to a worker any number of times. */
export interface Packed {
  readonly files: readonly PackedFile[];
  /** All files one after the other, or each by itself. */
  readonly content: Blob | readonly Uint8Array[];
}

function sizeOf(data: Blob | Uint8Array): number {
  return data instanceof Blob ? data.size : data.byteLength;
}

async function shared(data: Blob | Uint8Array): Promise<Uint8Array> {
  const bytes = data instanceof Blob ? new Uint8Array(await data.arrayBuffer()) : data;
  if (bytes.buffer instanceof SharedArrayBuffer) return bytes;
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  copy.set(bytes);
  return copy;
}

/** Parts of a Blob that are joined at once. */
const mostParts = 32;

/** One Blob of many. */
async function joined(parts: readonly BlobPart[]): Promise<Blob> {
  const rest = breaths();
  let whole = parts;
  while (whole.length > mostParts) {
    const groups: Blob[] = [];
    for (let at = 0; at < whole.length; at += mostParts) {
      groups.push(new Blob(whole.slice(at, at + mostParts)));
      await rest();
    }
    whole = groups;
  }
  return new Blob([...whole]);
}

/** Asking a File for its size asks the disk; of thousands of Files that takes seconds. */
async function tableOf(files: readonly NamedData[]): Promise<PackedFile[]> {
  const rest = breaths();
  const table: PackedFile[] = [];
  for (const { path, data } of files) {
    table.push({ path, size: sizeOf(data) });
    await rest();
  }
  return table;
}

export async function pack(files: readonly NamedData[]): Promise<Packed> {
  const table = await tableOf(files);
  if (isNode) return { files: table, content: await Promise.all(files.map(({ data }) => shared(data))) };
  return { files: table, content: await joined(files.map(({ data }) => data as BlobPart)) };
}

interface SyncFileReader {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}
declare const FileReaderSync: new () => SyncFileReader;

/** Where nothing reads a Blob at once, as in the caller's own thread, its bytes are fetched before. */
export async function atHand(packed: Packed): Promise<Packed> {
  const { files, content } = packed;
  if (!(content instanceof Blob) || typeof FileReaderSync !== 'undefined') return packed;
  const all = new Uint8Array(await content.arrayBuffer());
  let from = 0;
  return { files, content: files.map(({ size }) => all.subarray(from, (from += size))) };
}

/** `length` bytes of a file from `offset` on, which hold until the next call, or the sentence why they cannot be read. In workers only. */
export type ReadBytes = (file: number, offset: number, length: number) => Uint8Array | string;

/** Bytes read at once from a Blob, so that many small files cost few reads. */
const windowBytes = 1 << 18;

/**
 * Gives memory back at once: a large file would else pass through memory that waits to be collected. Chromium does so with
 * what is sent to nobody, and not with what `transfer(0)` detaches.
 */
function discarder(): (window: Uint8Array<ArrayBuffer>) => void {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  return ({ buffer }) => port1.postMessage(null, [buffer]);
}

export function readerOf(packed: Packed): ReadBytes {
  const { content } = packed;
  if (!(content instanceof Blob)) {
    return (file, offset, length) =>
      content[file]?.subarray(offset, offset + length) ?? `There is no file number ${file}.`;
  }
  const starts: number[] = [];
  let total = 0;
  for (const { size } of packed.files) {
    starts.push(total);
    total += size;
  }
  const reader = new FileReaderSync();
  const discard = discarder();
  let from = 0;
  let window = new Uint8Array(0);
  return (file, offset, length) => {
    const begin = (starts[file] ?? 0) + offset;
    if (begin < from || begin + length > from + window.byteLength) {
      try {
        const end = Math.min(total, begin + Math.max(length, windowBytes));
        discard(window);
        window = new Uint8Array(reader.readAsArrayBuffer(content.slice(begin, end)));
        from = begin;
      } catch (error) {
        window = new Uint8Array(0);
        return error instanceof Error ? error.message : String(error);
      }
    }
    return window.subarray(begin - from, begin - from + length);
  };
}
