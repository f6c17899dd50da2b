// SPDX-License-Identifier: Apache-2.0
//
// The files that the model may be shipped as, each as soon as it is there. Loaded when somebody opens their part.

import { effect, signal } from '@preact/signals';
import type { Variant } from 'tersor';

import { count } from '../numbers';
import type { Inputs } from './inputs';
import { isAbort, problemOf, type Problem } from './problem';
import * as state from './state';
import type { Checked } from './verify';

/** The rows so far, and the model and samples that they are of. */
export const variants = signal<{ readonly dataKey: string; readonly rows: readonly Variant[] } | null>(null);
/** What goes on, as words; null while nothing does. */
export const making = signal<string | null>(null);
/** What verifying some of them came to. */
export const checks = signal<ReadonlyMap<Variant, Checked | Problem>>(new Map());
export const variantsProblem = signal<Problem | null>(null);

const stages: Readonly<Record<string, string>> = { calibrate: 'calibrating', compare: 'judging' };

let controller: AbortController | null = null;

/** Makes them of the open samples, judged on at most so many, whatever the settings; ends where a job begins. */
export async function makeVariants(inputs: Inputs, limit: number): Promise<void> {
  if (making.value !== null || state.running.value || state.tradeoffRun.value) return;
  const mine = new AbortController();
  controller = mine;
  const { dataKey } = inputs;
  variants.value = { dataKey, rows: [] };
  checks.value = new Map();
  variantsProblem.value = null;
  making.value = 'Loading the whole engine';
  const stop = effect(() => {
    if (state.running.value || state.model.value?.handle !== inputs.model.handle) mine.abort();
  });
  let rows: readonly Variant[] = [];
  try {
    const all = inputs.model.handle.variants({
      samples: inputs.set.files,
      ...inputs.preprocessing,
      calibrationSamples: inputs.calibration.count,
      limit,
      signal: mine.signal,
      onProgress({ stage, done, total }) {
        if (mine.signal.aborted) return;
        making.value = `File ${rows.length + 1}, ${stages[stage] ?? 'quantizing'}: ${count(done)} of ${count(total)}`;
      },
    });
    for await (const row of all) {
      rows = [...rows, row];
      variants.value = { dataKey, rows };
    }
    state.announcement.value = 'All variants are made.';
  } catch (error) {
    if (!isAbort(error)) variantsProblem.value = problemOf(error);
  } finally {
    stop();
    if (controller === mine) making.value = null;
  }
}

/** Ends it; the rows that are there stay. */
export function cancelVariants(): void {
  controller?.abort();
}
