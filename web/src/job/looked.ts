// SPDX-License-Identifier: Apache-2.0
//
// Samples that are looked at one by one: which they are, what float, A and B make of each, and the classes that are likeliest.

import type { SampleFile, SampleRun } from 'tersor';

import { answered, disagree, filePaths } from './answers';
import { configurationOf, letters, resultOf } from './configurations';
import type { DrawRequest, Which } from './drawings';
import { gather } from './inputs';
import { errorOf } from './run_error';
import * as state from './state';

type Runs = AsyncGenerator<SampleRun>;
type Run = (of: { run(files: readonly SampleFile[], options: object): Runs }) => Promise<SampleRun[]>;

/** The files that are these samples, in the data set's order; null where a file holds several. */
function filesOf(numbers: readonly number[]): readonly SampleFile[] | null {
  const paths = filePaths();
  const wanted = new Set(numbers.map((number) => paths?.[number]));
  return paths && (state.samples.value?.files.filter(({ path }) => wanted.has(path)) ?? null);
}

/** Those that were evaluated, `most` of them: `first`, and others spread evenly. */
function chosen(first: readonly number[], most: number): readonly number[] {
  const evaluated = state.result.value?.float.samples ?? [];
  if (evaluated.length === 0) return [];
  const own = new Set(first.slice(0, most));
  const others = evaluated.filter((number) => !own.has(number));
  const room = Math.max(0, Math.min(others.length, most - own.size));
  for (let k = 0; k < room; ++k) own.add(others[Math.floor((k * others.length) / room)] ?? 0);
  return [...own].sort((a, b) => a - b);
}

/** Runs samples with a model; null where there are none. */
function runner(numbers: readonly number[], most: number, signal: AbortSignal): Run | null {
  const inputs = gather();
  if (!inputs) return null;
  const files = numbers.length > 0 ? filesOf(numbers) : null;
  const preprocessing = state.preprocessing.value;
  const options = files
    ? { signal, ...(preprocessing ? { preprocessing } : {}) }
    : { signal, ...inputs.preprocessing, selection: inputs.evaluation, limit: most };
  return async (of) => {
    const list: SampleRun[] = [];
    for await (const one of of.run(files ?? inputs.set.files, options))
      list.push(files ? { ...one, index: numbers[list.length] ?? one.index } : one);
    return list;
  };
}

/** What each configuration that has a result makes of the same samples. */
async function ofOthers(run: Run): Promise<DrawRequest['others']> {
  const others = [];
  for (const which of letters) {
    const done = configurationOf(which) && resultOf(which);
    if (done && !done.pending) others.push({ which, runs: await run(done.quantized) });
  }
  return others;
}

/**
 * `most` of the evaluated samples in float and in every configuration, the worst of all among them where it is known; null where there
 * is nothing to run, or `isWanted` says of the float model's runs that they need not be.
 */
export async function runLooked(
  most: number,
  signal: AbortSignal,
  isWanted: (float: readonly SampleRun[]) => Promise<boolean>,
): Promise<DrawRequest | null> {
  const worst = state.result.value?.comparison.outputs.flatMap(({ worst_sample }) => worst_sample ?? []) ?? [];
  const run = runner(chosen(worst, most), most, signal);
  const open = state.model.value;
  if (!run || !open) return null;
  const float = await run(open.handle);
  if (!(await isWanted(float))) return null;
  const others = await ofOthers(run);
  signal.throwIfAborted();
  return { isBgr: state.preprocessing.value?.channels === 'BGR', float, others };
}

export interface Likely {
  readonly output: number;
  /** 0 to 1. */
  readonly share: number;
}

export interface TopFive {
  /** Number of the sample in the data set. */
  readonly index: number;
  readonly of: Readonly<Partial<Record<Which, readonly Likely[]>>>;
}

/** Outputs from 0 to 1 are shares; others are made into such, as softmax does. */
function likeliest(data: readonly number[], areShares: boolean): Likely[] {
  const most = Math.max(...data);
  const powers = areShares ? data : data.map((value) => Math.exp(value - most));
  const sum = areShares ? 1 : powers.reduce((total, one) => total + one, 0);
  const ranked = powers.map((share, output) => ({ output, share: share / sum }));
  return ranked.sort((a, b) => b.share - a.share).slice(0, 5);
}

/** The output whose largest value is the answer. */
function classesOf({ outputs }: SampleRun, answer: number | undefined): string {
  const isAnswer = ({ data }: SampleRun['outputs'][number]) => {
    const values = Array.from(data, Number);
    return values.length > 1 && values.indexOf(Math.max(...values)) === answer;
  };
  return (outputs.find(isAnswer) ?? outputs[0])?.name ?? '';
}

function fiveOf(float: SampleRun, others: DrawRequest['others'], k: number, answer: number | undefined): TopFive {
  const name = classesOf(float, answer);
  const valuesOf = (run: SampleRun | undefined) =>
    Array.from(run?.outputs.find((one) => one.name === name)?.data ?? [], Number);
  const ofFloat = valuesOf(float);
  const areShares = ofFloat.every((value) => value >= 0 && value <= 1);
  const all = [{ which: 'F' as const, values: ofFloat }].concat(
    others.map(({ which, runs }) => ({ which: which as 'F', values: valuesOf(runs[k]) })),
  );
  return {
    index: float.index,
    of: Object.fromEntries(all.map(({ which, values }) => [which, likeliest(values, areShares)])),
  };
}

/**
 * The five likeliest classes of some samples, those that A or B answers otherwise first, then those whose outputs differ most; of the
 * given sample alone, where there is one. Empty where a sample is none by itself.
 */
export async function topFive(most: number, signal: AbortSignal, number: number | null): Promise<readonly TopFive[]> {
  const rows = new Map(answered().map((row) => [row.index, row]));
  const changed = [...rows.values()].filter(disagree).map(({ index }) => index);
  const numbers = number === null ? chosen(changed, most) : [number];
  const run = number !== null && !filesOf(numbers) ? null : runner(numbers, most, signal);
  const open = state.model.value;
  if (!run || !open) return [];
  const float = await run(open.handle);
  const others = await ofOthers(run);
  signal.throwIfAborted();
  const isChanged = (index: number) => Number(changed.includes(index));
  return float
    .map((one, k) => ({
      five: fiveOf(one, others, k, rows.get(one.index)?.F),
      error: Math.max(0, ...others.map(({ runs }) => errorOf(one, runs[k]))),
    }))
    .sort((a, b) => isChanged(b.five.index) - isChanged(a.five.index) || b.error - a.error)
    .map(({ five }) => five);
}
