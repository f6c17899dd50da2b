// SPDX-License-Identifier: Apache-2.0
//
// What shows a sentence of the requirement documents on the demo network: two files that differ by what the sentence is
// about, or what a class gives. Nothing of the page is used here, so that tests may run the table by itself.

import type { QuantizedResult, QuantizeOptions } from 'tersor';
import type * as Package from 'tersor';

/** How many of the demo's pictures are taken. */
export const calibrated = 8;
/** And where it trains: what training takes at least, and some that it holds aside. */
export const trainedOn = 24;

export interface Bench {
  readonly tersor: typeof Package;
  /** An engine that has trainable quantizers. */
  readonly whole: () => Promise<Pick<Package.Tersor, 'trainableQuantizer'>>;
  /** The demo network on some of its pictures, more of them where it trains; the same question has one answer. */
  quantize(options: QuantizeOptions, asked?: Asked): Promise<QuantizedResult>;
}

export interface Asked {
  /** In the place of the options as the question's name. */
  readonly key?: string;
  /** With Celu, which has a negative side, where the network has Relu. */
  readonly celu?: boolean;
}

/** That network's file. */
export function withCelu(model: Uint8Array): Uint8Array {
  const relu = [...'\x22\x04Relu'].map((letter) => letter.charCodeAt(0)); // a node's op_type, field 4
  const changed = model.slice();
  for (let at = 0; at + relu.length <= changed.length; ++at)
    if (relu.every((byte, k) => changed[at + k] === byte)) changed[at + 2] = 'C'.charCodeAt(0);
  return changed;
}

export interface Claim {
  readonly document: string;
  /** As the document has it. */
  readonly sentence: string;
  /** What was seen; throws where it does not hold. */
  readonly show: (bench: Bench) => Promise<string>;
}

export type Json = Readonly<Record<string, unknown>>;
export type Reads = (made: QuantizedResult) => string | number | null | undefined;

/** An ONNX file without what it says of how it was made (`metadata_props`, field 14), which tells any two settings apart. */
export function withoutMetadata(file: Uint8Array): Uint8Array {
  const kept: Uint8Array[] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = file[at++] ?? 0;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < file.length) {
    const begin = at;
    const tag = varint();
    const length = varint();
    if (tag % 8 === 2) at += length;
    if (tag >> 3 !== 14) kept.push(file.subarray(begin, at));
  }
  return new Uint8Array(kept.flatMap((part) => [...part]));
}

/** How many of the bytes of the longer file the other has not in their place. */
export function differing(a: Uint8Array, b: Uint8Array): number {
  const [long, short] = a.length >= b.length ? [a, b] : [b, a];
  return long.reduce((sum, byte, k) => sum + (byte === short[k] ? 0 : 1), 0);
}

export function count(n: number): string {
  return n.toLocaleString('en').replaceAll(',', ' ');
}

export const refuse = (what: string) => new Error(`The sentence does not hold: ${what}`);

export async function compared(
  bench: Bench,
  base: QuantizeOptions,
  change: QuantizeOptions,
  read?: Reads,
  asked?: Asked,
): Promise<string> {
  const before = await bench.quantize(base, asked);
  const after = await bench.quantize(change, asked);
  if (read) {
    const [was, is] = [read(before), read(after)];
    if (was === is) throw refuse(`both files have ${is}.`);
    return `${was ?? 'none'} became ${is ?? 'none'}.`;
  }
  const [one, other] = [withoutMetadata(before.model), withoutMetadata(after.model)];
  const bytes = differing(one, other);
  if (bytes === 0) throw refuse('the two files are the same.');
  const [was, is] = [one.length, other.length];
  return was === is ? `${count(bytes)} of ${count(is)} bytes differ.` : `${count(was)} bytes became ${count(is)}.`;
}

/** What is said where a class does not do what it is responsible for. */
export async function refused(attempt: () => unknown): Promise<string> {
  try {
    await attempt();
  } catch (error) {
    return `Otherwise it is refused: ${(error as Error).message}`;
  }
  throw refuse('nothing was refused.');
}

export const quick = { effort: 0, holdout: false } as const;

/** The claims of a document, in its order: `shows` adds two questions, and what to read of their answers where it is not
 * their bytes, and `tells` what was seen in another way. */
export function claimsOf(document: string) {
  const claims: Claim[] = [];
  const tells = (sentence: string, show: Claim['show']): void => {
    claims.push({ document, sentence, show });
  };
  const shows = (
    sentence: string,
    base: QuantizeOptions,
    change: QuantizeOptions,
    read?: Reads,
    asked?: Asked,
  ): void => {
    tells(sentence, (bench) => compared(bench, base, change, read, asked));
  };
  return { claims, shows, tells };
}
