// SPDX-License-Identifier: Apache-2.0
//
// Begins and ends the job: by the button, by itself after a change of settings, and by what takes its place.

import { batch } from '@preact/signals';
import type { Timer } from 'tersor';

import { gather, type Inputs } from './inputs';
import { fileNamed } from './inspect';
import { bringBack } from './kept_results';
import { isAbort, problemOf, type Problem } from './problem';
import { tick } from './stages';
import * as state from './state';
import { FloatStopped, follow, startedWith, work } from './work';

let controller: AbortController | null = null;
let again: ReturnType<typeof setTimeout> | undefined;
let runningKey = '';
/** How long settings must rest before the job runs again by itself. */
const restMilliseconds = 120;
/** How long after that a click on "Cancel" was meant for the "Quantize" that stood there. */
const surpriseMilliseconds = 500;
let startedByItself = -Infinity;

/** Ends the running job without a word. */
export function giveUp(): void {
  clearTimeout(again);
  controller?.abort();
  controller = null;
  state.run.value = null;
}

/**
 * Where there is a result, makes it anew with the settings as they are now, or brings it back where they were in force before; a
 * job that runs is given up for it.
 */
export function quantizeAgain(): void {
  clearTimeout(again);
  if (bringBack()) {
    giveUp();
    return;
  }
  again = setTimeout(() => {
    if (state.reading.value > 0) {
      quantizeAgain();
      return;
    }
    const key = state.settingsKey.value;
    if (!state.result.value && !state.parkedResult.value) return;
    if (state.run.value ? runningKey === key : state.result.value?.key === key) return;
    giveUp();
    void quantize({ regionsStay: true });
    startedByItself = performance.now();
  }, restMilliseconds);
}

interface How {
  readonly regionsStay?: boolean;
  /** Times files to choose the fastest from. */
  readonly timer?: ((inputs: Inputs, signal: AbortSignal) => Timer) | undefined;
}

/** Runs the job; does nothing while something is missing or another job runs. */
export async function quantize(how: How = {}): Promise<void> {
  clearTimeout(again);
  const inputs = gather();
  if (!state.canQuantize.value || !inputs) return;
  const mine = new AbortController();
  controller = mine;
  startedByItself = -Infinity;
  runningKey = inputs.key;
  batch(() => {
    state.run.value = startedWith(inputs);
    state.runProblem.value = null;
    state.floatStop.value = null;
    state.runNote.value = '';
    if (!how.regionsStay) {
      state.openOnly();
    }
    state.announcement.value = 'Quantizing.';
  });
  const timer = setInterval(() => follow((run) => tick(run, performance.now())), 200);
  try {
    await work(inputs, mine.signal, how.timer?.(inputs, mine.signal));
  } catch (error) {
    if (controller === mine) {
      if (error instanceof FloatStopped)
        state.announcement.value = `Stopped. ${state.floatStop.value?.advice.sentence ?? ''}`;
      else if (isAbort(error)) state.runNote.value = cancelled();
      else showProblem(problemOf(error));
    }
  } finally {
    clearInterval(timer);
    if (controller === mine) {
      controller = null;
      state.run.value = null;
    }
  }
}

function showProblem(problem: Problem): void {
  const path = fileNamed(problem);
  batch(() => {
    state.runProblem.value = problem;
    state.unreadable.value = path === null ? [] : [path];
  });
}

function cancelled(): string {
  const kept = state.measured.value;
  const what = [kept.float ? 'float accuracy' : '', kept.statistics.length > 0 ? 'statistics' : '']
    .filter(Boolean)
    .join(' and ');
  return what === '' ? 'Cancelled.' : `Cancelled. Kept: ${what}; Quantize goes on from there.`;
}

/** Ends the running job; the page is usable at once, the workers stop at their next sample. */
export function cancel(): void {
  if (performance.now() - startedByItself < surpriseMilliseconds) return;
  controller?.abort();
  if (state.run.value) state.announcement.value = 'Cancelled.';
}

/** The card, while model and samples are those that it is about. */
export function currentStop(): state.FloatStop | null {
  const stop = state.floatStop.value;
  return stop && !state.run.value && gather()?.dataKey === stop.dataKey ? stop : null;
}

/** Quantizes although float accuracy says that something else is wrong. */
export function goOnAnyway(): void {
  state.acceptedFloat.value = state.floatStop.value?.dataKey ?? '';
  void quantize();
}
