// SPDX-License-Identifier: Apache-2.0
//
// Files of texts as token ids, with the tokenizer that came beside them: an .npz file for each text. Runs in the worker beside the page.

import { Tokenizer } from '@huggingface/tokenizers';
import { zipSync, type Zippable } from 'fflate';
import type { Tensor, TensorInfo } from 'tersor';
import { readTexts, textSample } from 'tersor/text';

interface NamedBlob {
  readonly path: string;
  readonly data: Blob;
}

export interface TextFiles {
  readonly texts: readonly NamedBlob[];
  /** tokenizer.json, and tokenizer_config.json where it is there. */
  readonly tokenizer: Blob;
  readonly config: Blob | null;
  readonly inputs: readonly TensorInfo[];
}

export interface Tokens {
  readonly files: readonly NamedBlob[];
  /** The text of each file, by its path. */
  readonly lines: ReadonlyMap<string, string>;
  /** All files as one archive, for the program. */
  readonly archive: Blob;
  /** Texts that have more tokens than `most`, which were taken. */
  readonly cut: number;
  readonly most: number;
}

/** Longer texts are rare among samples, and take long. */
const mostTokens = 512;
/** The earliest that a zip archive can say, so that bytes do not depend on the day. */
const made = new Date(1980, 0, 1);

/** An array in NumPy's format, version 1. */
function npy({ data, shape }: Tensor): Uint8Array {
  const kinds: readonly (readonly [unknown, string])[] = [
    [BigInt64Array, '<i8'],
    [Int32Array, '<i4'],
    [Float32Array, '<f4'],
  ];
  const type = kinds.find(([kind]) => data.constructor === kind)?.[1] ?? '';
  const axes = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  const text = `{'descr': '${type}', 'fortran_order': False, 'shape': (${axes}), }`;
  const length = Math.ceil((10 + text.length + 1) / 64) * 64;
  const bytes = new Uint8Array(length + data.byteLength);
  bytes.set([0x93, ...new TextEncoder().encode('NUMPY'), 1, 0, (length - 10) & 255, (length - 10) >> 8]);
  bytes.set(new TextEncoder().encode(text.padEnd(length - 11) + '\n'), 10);
  bytes.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), length);
  return bytes;
}

/** JSON of a file, or an error that names it. */
async function json(file: Blob, name: string): Promise<Record<string, unknown>> {
  try {
    return JSON.parse(await file.text()) as Record<string, unknown>;
  } catch {
    throw new Error(`${name} is no JSON: get it again from where the model came`);
  }
}

function tokenizerOf(json: object, config: object): Tokenizer {
  try {
    return new Tokenizer(json, config);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `tokenizer.json could not be used (${why}): make token ids with it elsewhere, and bring them as .npz`,
    );
  }
}

function padIdOf(tokenizer: Tokenizer, { pad_token: pad }: Record<string, unknown>): number {
  const word = typeof pad === 'object' ? (pad as { content?: unknown } | null)?.content : pad;
  return (typeof word === 'string' ? tokenizer.token_to_id(word) : undefined) ?? 0;
}

export async function tokensOf({ texts, tokenizer, config, inputs }: TextFiles): Promise<Tokens> {
  const settings = config ? await json(config, 'tokenizer_config.json') : {};
  const encoder = tokenizerOf(await json(tokenizer, 'tokenizer.json'), settings);
  const limit = Number(settings['model_max_length'] ?? mostTokens);
  const most = limit > 0 ? Math.min(limit, mostTokens) : mostTokens;
  const padId = padIdOf(encoder, settings);
  const files: Record<string, Uint8Array<ArrayBuffer>> = {};
  const known = new Map<string, string>();
  let cut = 0;
  for (const { path, data } of texts) {
    const { texts: lines, labels } = readTexts(path, await data.text());
    const digits = Math.max(4, String(lines.length).length);
    for (const [k, line] of lines.entries()) {
      const { tensors, isCut } = textSample(line, encoder, inputs, { mostTokens: most, padId });
      if (isCut) ++cut;
      const entries: Zippable = {};
      for (const [name, tensor] of Object.entries(tensors)) entries[`${name}.npy`] = npy(tensor);
      if (labels) entries['labels.npy'] = npy({ data: BigInt64Array.of(BigInt(labels[k] ?? 0)), shape: [1] });
      const name = `${path}.${String(k + 1).padStart(digits, '0')}.npz`;
      known.set(name, line);
      files[name] = zipSync(entries, { level: 0, mtime: made }) as Uint8Array<ArrayBuffer>;
    }
  }
  const named = Object.entries(files).map(([path, bytes]) => ({ path, data: new Blob([bytes]) }));
  if (named.length === 0) throw new Error(`${texts[0]?.path ?? ''} holds no text`);
  const archive = new Blob([zipSync(files, { level: 0, mtime: made }) as Uint8Array<ArrayBuffer>]);
  return { files: named, lines: known, archive, cut, most };
}
