// SPDX-License-Identifier: Apache-2.0
//
// The classes that are likeliest to float, A and B, of samples that are looked at one by one; loaded with what shows them.

import type { SampleRun } from 'tersor';

import { answered, disagree } from './answers';
import type { DrawRequest, Which } from './drawings';
import { chosen, ofOthers, runner } from './looked';
import { errorOf } from './run_error';
import * as state from './state';

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
 * given sample alone, where there is one.
 */
export async function topFive(most: number, signal: AbortSignal, number: number | null): Promise<readonly TopFive[]> {
  const rows = new Map(answered().map((row) => [row.index, row]));
  const changed = [...rows.values()].filter(disagree).map(({ index }) => index);
  const numbers = number === null ? chosen(changed, most) : [number];
  const run = runner(numbers, most, signal);
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
