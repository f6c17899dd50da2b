// SPDX-License-Identifier: Apache-2.0
//
// Samples that are looked at one by one: which they are, and what float, A and B make of each.

import type { RunOptions, SampleFile, SampleRun } from 'tersor';

import { configurationOf, letters, resultOf } from './configurations';
import type { DrawRequest } from './drawings';
import { gather } from './inputs';
import * as state from './state';

interface Runs {
  run(files: readonly SampleFile[], options: RunOptions): AsyncGenerator<SampleRun>;
}
type Run = (of: Runs) => Promise<SampleRun[]>;

/** Those that were evaluated, `most` of them: `first`, and others spread evenly. */
export function chosen(first: readonly number[], most: number): readonly number[] {
  const evaluated = state.result.value?.float.samples ?? [];
  if (evaluated.length === 0) return [];
  const own = new Set(first.slice(0, most));
  const others = evaluated.filter((number) => !own.has(number));
  const room = Math.max(0, Math.min(others.length, most - own.size));
  for (let k = 0; k < room; ++k) own.add(others[Math.floor((k * others.length) / room)] ?? 0);
  return [...own].sort((a, b) => a - b);
}

/** Runs the samples of these numbers with a model, or `most` of those that evaluate where there are no numbers; null without samples. */
export function runner(numbers: readonly number[], most: number, signal: AbortSignal): Run | null {
  const inputs = gather();
  if (!inputs) return null;
  const chosen = numbers.length > 0 ? { numbers } : { selection: inputs.evaluation, limit: most };
  return async (of) => {
    const list: SampleRun[] = [];
    for await (const one of of.run(inputs.set.files, { signal, ...inputs.preprocessing, ...chosen })) list.push(one);
    return list;
  };
}

/** What each configuration that has a result makes of the same samples. */
export async function ofOthers(run: Run): Promise<DrawRequest['others']> {
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
