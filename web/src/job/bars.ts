// SPDX-License-Identifier: Apache-2.0
//
// Outputs that are neither classes nor drawn over a picture, as bars: the same values of float, A and B, those that differ most.
// Pure functions of the runs, computed away from the page (aside.worker.ts), as outputs may have millions of values.

import type { NamedTensor } from 'tersor';

import type { DrawRequest, Which } from './drawings';

/** Values shown of a sample. */
export const mostBars = 24;

/** One value of an output, as float and the configurations have it. */
export interface ValueBar {
  /** Which output, by its number in `outputs`. */
  readonly output: number;
  /** Its index along each axis. */
  readonly at: readonly number[];
  readonly values: Readonly<Partial<Record<Which, number>>>;
}

export interface BarsOfSample {
  /** Its number in the data set. */
  readonly index: number;
  /** Those that differ most in the order of the outputs; all where there are no more than `mostBars`. */
  readonly bars: readonly ValueBar[];
  /** Values of the sample's outputs in all. */
  readonly of: number;
  /** Signal against error of all its values, in dB; null where nothing differs. */
  readonly sqnr: Readonly<Partial<Record<Which, number | null>>>;
}

export interface Bars {
  readonly outputs: readonly {
    readonly name: string;
    /** Extremes of what is shown of it, zero among them: the ends of its bars. */
    readonly low: number;
    readonly high: number;
  }[];
  readonly samples: readonly BarsOfSample[];
}

/** The index along each axis of value `k`. */
function indexOf(shape: readonly number[], k: number): number[] {
  const at: number[] = [];
  let rest = k;
  for (const size of [...shape].reverse()) {
    at.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return at;
}

/** Values that are numbers: not those of 16 bits, which come as their bits. */
function isNumber({ type, data }: NamedTensor): boolean {
  return !/float16|string/.test(type) && data.length > 0;
}

const at = (tensor: NamedTensor | undefined, k: number) => Number(tensor?.data[k] ?? NaN);

/** How far values of a tensor spread, so that outputs of unlike size compare. */
function spreadOf({ data }: NamedTensor): number {
  let [least, most] = [Infinity, -Infinity];
  for (let k = 0; k < data.length; ++k) {
    const one = Number(data[k]);
    if (one < least) least = one;
    if (one > most) most = one;
  }
  return most > least ? most - least : Math.abs(most) || 1;
}

/** The positions of the largest numbers, in rising order. */
function largest(numbers: Float64Array, most: number): number[] {
  const found: number[] = [];
  for (let k = 0; k < numbers.length; ++k) {
    const one = numbers[k] ?? 0;
    if (found.length === most && one <= (numbers[found.at(-1) ?? 0] ?? 0)) continue;
    let place = found.length;
    while (place > 0 && (numbers[found[place - 1] ?? 0] ?? 0) < one) --place;
    found.splice(place, 0, k);
    if (found.length > most) found.pop();
  }
  return found.sort((a, b) => a - b);
}

function decibels(signal: number, error: number): number | null {
  return error > 0 && signal > 0 ? 10 * Math.log10(signal / error) : null;
}

/** Bars of each sample; null where outputs hold no numbers, or the configurations' have other shapes. */
export function barsOf({ float, others }: DrawRequest): Bars | null {
  const first = float[0]?.outputs ?? [];
  const isComparable = ({ name, data }: NamedTensor, k: number) =>
    others.every(({ runs }) => runs[k]?.outputs.find((one) => one.name === name)?.data.length === data.length);
  const names = first.filter((output) => isNumber(output)).map(({ name }) => name);
  const samples = float.flatMap(({ index, outputs }, k): BarsOfSample[] => {
    const shown = names.flatMap((name, output) => {
      const tensor = outputs.find((one) => one.name === name);
      if (!tensor || !isComparable(tensor, k)) return [];
      const theirs = others.map(({ which, runs }) => ({
        which,
        tensor: runs[k]?.outputs.find((one) => one.name === name),
      }));
      return [{ output, tensor, theirs, spread: spreadOf(tensor) }];
    });
    const of = shown.reduce((sum, { tensor }) => sum + tensor.data.length, 0);
    if (of === 0) return [];
    const differences = new Float64Array(of);
    const powers = others.map(({ which }) => ({ which, signal: 0, error: 0 }));
    let start = 0;
    for (const { tensor, theirs, spread } of shown) {
      for (let value = 0; value < tensor.data.length; ++value) {
        const ours = at(tensor, value);
        theirs.forEach((other, one) => {
          const error = at(other.tensor, value) - ours;
          const power = powers[one];
          if (!power || !Number.isFinite(error)) return;
          power.signal += ours * ours;
          power.error += error * error;
          const far = Math.abs(error) / spread;
          if (far > (differences[start + value] ?? 0)) differences[start + value] = far;
        });
      }
      start += tensor.data.length;
    }
    const bars = largest(differences, mostBars).map((place): ValueBar => {
      let value = place;
      let part = 0;
      while (value >= (shown[part]?.tensor.data.length ?? Infinity)) value -= shown[part++]?.tensor.data.length ?? 0;
      const one = shown[part];
      const values: Partial<Record<Which, number>> = { F: at(one?.tensor, value) };
      for (const { which, tensor } of one?.theirs ?? []) values[which] = at(tensor, value);
      return { output: one?.output ?? 0, at: indexOf(one?.tensor.shape ?? [], value), values };
    });
    const sqnr = Object.fromEntries(powers.map(({ which, signal, error }) => [which, decibels(signal, error)]));
    return [{ index, bars, of, sqnr }];
  });
  if (samples.length === 0) return null;
  const outputs = names.map((name, output) => {
    const all = samples
      .flatMap(({ bars }) => bars.filter((bar) => bar.output === output))
      .flatMap(({ values }) => Object.values(values))
      .filter((one) => Number.isFinite(one));
    return { name, low: Math.min(0, ...all), high: Math.max(0, ...all) };
  });
  return { outputs, samples };
}
