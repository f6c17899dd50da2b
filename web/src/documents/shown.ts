// SPDX-License-Identifier: Apache-2.0
//
// What shows a sentence of the requirement documents on the demo network: two files that differ by what the sentence is
// about, or what a class gives. Nothing of the page is used here, so that tests may run the table by itself.

import type { QuantizedResult, QuantizeOptions } from 'tersor';
import type * as Package from 'tersor';

export interface Bench {
  readonly tersor: typeof Package;
  /** An engine that has trainable quantizers. */
  readonly whole: () => Promise<Pick<Package.Tersor, 'trainableQuantizer'>>;
  /** The demo network on some of its pictures, more of them where it trains; under the same key the answer is the same. */
  quantize(options: QuantizeOptions, key?: string): Promise<QuantizedResult>;
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
): Promise<string> {
  const before = await bench.quantize(base);
  const after = await bench.quantize(change);
  if (read) {
    const [was, is] = [read(before), read(after)];
    if (was === is) throw refuse(`both files have ${is}.`);
    return `${was ?? 'none'} became ${is ?? 'none'}.`;
  }
  const bytes = differing(before.model, after.model);
  if (bytes === 0) throw refuse('the two files are the same.');
  const [was, is] = [before.model.length, after.model.length];
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
  const shows = (sentence: string, base: QuantizeOptions, change: QuantizeOptions, read?: Reads): void => {
    tells(sentence, (bench) => compared(bench, base, change, read));
  };
  return { claims, shows, tells };
}
