// SPDX-License-Identifier: Apache-2.0
//
// Texts as samples of models that take token ids. The tokenizer is the caller's: the model's own, by the npm package
// @huggingface/tokenizers or anything else that encodes as it does.

import { TersorError } from './error.js';
import type { Tensor, TensorInfo } from './types.js';

export interface Encoding {
  readonly ids: readonly number[];
  readonly attention_mask?: readonly number[];
  readonly token_type_ids?: readonly number[];
}

export interface Tokenizer {
  encode(text: string, options: { readonly return_token_type_ids: true }): Encoding;
}

export interface TextOptions {
  /** Longer texts are cut to so many tokens, before the special tokens at their end. Default 512. */
  readonly mostTokens?: number | undefined;
  /** What fills an input of fixed length, where the attention mask is 0. Default 0. */
  readonly padId?: number | undefined;
}

/** A text as the model takes it. */
export interface TextSample {
  readonly tensors: Readonly<Record<string, Tensor>>;
  /** It has more tokens than are taken. */
  readonly isCut: boolean;
}

function wrong(message: string, place: string, hint: string): TersorError {
  return new TersorError({ code: 'invalid_samples', message, place, hint });
}

/** Keys of a line of .jsonl that may hold its text. */
const textKeys = ['text', 'sentence', 'content', 'prompt', 'query', 'question', 'instruction', 'input'];
const labelKeys = ['label', 'labels', 'target', 'y'];

interface Line {
  readonly text: string;
  readonly label: number | null;
}

function lineOf(value: unknown): Line | null {
  if (typeof value === 'string') return { text: value, label: null };
  if (value === null || typeof value !== 'object') return null;
  const fields = value as Readonly<Record<string, unknown>>;
  const text = textKeys.map((key) => fields[key]).find((one) => typeof one === 'string');
  const label = labelKeys.map((key) => fields[key]).find((one) => Number.isSafeInteger(one));
  return text === undefined ? null : { text: text as string, label: (label as number | undefined) ?? null };
}

/**
 * The texts of a file: of `.jsonl` one in each line, a string or an object with `text`, `sentence`, `prompt` or the like (and `label`, a
 * whole number); else each line that is not blank. `labels` are there where every line has one. Throws `invalid_samples` with the line.
 */
export function readTexts(path: string, content: string): { texts: string[]; labels: number[] | null } {
  const isJson = /\.jsonl$/i.test(path);
  const found: Line[] = [];
  for (const [k, line] of content
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .entries()) {
    if (line.trim() === '') continue;
    if (!isJson) {
      found.push({ text: line, label: null });
      continue;
    }
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      value = undefined;
    }
    const one = lineOf(value);
    if (!one)
      throw wrong(
        `Line ${k + 1} of ${path} has no text.`,
        `${path}, line ${k + 1}`,
        `A line of .jsonl is a string, or an object with one of ${textKeys.join(', ')}.`,
      );
    found.push(one);
  }
  const labels = found.flatMap(({ label }) => (label === null ? [] : [label]));
  return {
    texts: found.map(({ text }) => text),
    labels: found.length > 0 && labels.length === found.length ? labels : null,
  };
}

const kinds = ['input_ids', 'attention_mask', 'token_type_ids', 'position_ids'] as const;

function kindOf({ name }: TensorInfo, inputs: readonly TensorInfo[]): (typeof kinds)[number] | null {
  const known = kinds.find((kind) => name.toLowerCase().endsWith(kind));
  if (known) return known;
  if (/(^|[^a-z])mask$/i.test(name)) return 'attention_mask';
  if (/(segment|type)_ids$/i.test(name)) return 'token_type_ids';
  return inputs.length === 1 || /(^|[^a-z])(ids|tokens)$/i.test(name) ? 'input_ids' : null;
}

/** The tokens in front that are taken, and after them the special tokens that every text ends with. */
function cut(encoding: Encoding, most: number, tokenizer: Tokenizer): number[] {
  const { ids } = encoding;
  const empty = tokenizer.encode('', { return_token_type_ids: true }).ids;
  let tail = 0;
  while (tail < empty.length && tail < most && empty[empty.length - 1 - tail] === ids[ids.length - 1 - tail]) ++tail;
  return [...ids.keys()].filter((k) => k < most - tail || k >= ids.length - tail);
}

function dataOf(type: string, values: readonly number[], input: string): Tensor['data'] {
  if (type === 'int64') return BigInt64Array.from(values, BigInt);
  if (type === 'int32') return Int32Array.from(values);
  if (type === 'float32') return Float32Array.from(values);
  throw wrong(
    `The model's input "${input}" takes ${type}, which token ids are not.`,
    input,
    'Give its samples as arrays (.npy, .npz).',
  );
}

/**
 * The inputs of a model that takes token ids, made of a text: ids, attention mask, token types and places, known by their names, each of
 * shape [1, tokens]. An input of fixed length is filled up. A decoder's past (`past_key_values.0.key`) is left out,
 * which makes it empty: the text is its prompt.
 * Throws `invalid_samples` that names an input which no text gives.
 */
export function textSample(
  text: string,
  tokenizer: Tokenizer,
  inputs: readonly TensorInfo[],
  { mostTokens = 512, padId = 0 }: TextOptions = {},
): TextSample {
  const known = inputs.map((input) => ({ ...input, kind: kindOf(input, inputs) }));
  const ids = known.find(({ kind }) => kind === 'input_ids');
  const other = known.find(({ kind, name, shape }) =>
    kind === null ? !name.includes('past') : shape !== null && shape.length !== 2,
  );
  if (!ids || other)
    throw wrong(
      `The model's input "${(other ?? inputs[0])?.name ?? ''}" is not made of a text.`,
      (other ?? inputs[0])?.name ?? '',
      'Give its samples as arrays: an .npz file for each, with an array for each input.',
    );
  const fixed = ids.shape?.[1];
  const most = typeof fixed === 'number' ? fixed : mostTokens;
  const encoding = tokenizer.encode(text, { return_token_type_ids: true });
  const isCut = encoding.ids.length > most;
  const taken = isCut ? cut(encoding, most, tokenizer) : [...encoding.ids.keys()];
  const length = typeof fixed === 'number' ? fixed : taken.length;
  if (length === 0) throw wrong(`The text "${text.slice(0, 40)}" has no tokens.`, '', 'Leave it out.');
  const filled = (of: (k: number) => number, rest: number) =>
    Array.from({ length }, (_, k) => (k < taken.length ? of(taken[k] ?? 0) : rest));
  const values = {
    input_ids: filled((k) => encoding.ids[k] ?? 0, padId),
    attention_mask: filled((k) => encoding.attention_mask?.[k] ?? 1, 0),
    token_type_ids: filled((k) => encoding.token_type_ids?.[k] ?? 0, 0),
    position_ids: Array.from({ length }, (_, k) => k),
  };
  const tensors: Record<string, Tensor> = {};
  for (const { name, type, kind } of known)
    if (kind) tensors[name] = { data: dataOf(type, values[kind], name), shape: [1, length] };
  return { tensors, isCut };
}
