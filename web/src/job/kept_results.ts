// SPDX-License-Identifier: Apache-2.0
//
// Results that gave way to others, kept so that undo and redo bring them back as they were; the oldest are freed.

import { batch } from '@preact/signals';

import { gather } from './inputs';
import * as state from './state';

/** Results that are kept besides those that are shown, and the bytes of their files in all. */
const most = 4;
const mostBytes = 2e8;
/** Newest first. */
let kept: readonly state.Result[] = [];

function isShown({ quantized }: state.Result): boolean {
  return [state.result.value, state.parkedResult.value].some((one) => one?.quantized === quantized);
}

function free(result: state.Result): void {
  if (!isShown(result)) result.quantized.close();
}

/** Puts away a result that gave way, unless either configuration still has it; one that was not measured is freed. */
export function drop(result: state.Result | null): void {
  if (!result || isShown(result)) return;
  const others = kept.filter(({ quantized }) => quantized !== result.quantized);
  if (result.pending) {
    kept = others;
    free(result);
    return;
  }
  let bytes = 0;
  const fits = (one: state.Result, k: number) =>
    (bytes += one.quantized.model.length) <= mostBytes && k < most ? true : k === 0;
  const all = [result, ...others];
  kept = all.filter(fits);
  all.filter((one) => !kept.includes(one)).forEach(free);
}

/** Puts away both results. */
export function dropAll(): void {
  const had = [state.result.value, state.parkedResult.value];
  batch(() => {
    state.result.value = null;
    state.parkedResult.value = null;
  });
  had.forEach(drop);
}

/**
 * Gives each configuration the result of its settings as they are, where one is shown or kept; what has none keeps what it shows.
 * Whether the open configuration shows another result then.
 */
export function bringBack(): boolean {
  const dataKey = gather()?.dataKey;
  const [mine, other] = [state.result.value, state.parkedResult.value];
  const isOf = (key: string | null) => (one: state.Result | null) => one?.key === key && one.dataKey === dataKey;
  const whole = [mine, other, ...kept].filter((one) => one !== null && !one.pending);
  const of = (key: string | null, shown: state.Result | null) =>
    isOf(key)(shown) ? shown : (whole.find(isOf(key)) ?? shown);
  batch(() => {
    state.result.value = of(state.settingsKey.value, mine);
    state.parkedResult.value = state.parked.value ? of(state.parkedKey.value, other) : null;
  });
  kept = kept.filter((one) => !isShown(one));
  drop(mine);
  drop(other);
  return state.result.value !== mine;
}

/** For tests: as on a first visit. */
export function forgetResults(): void {
  kept = [];
}
