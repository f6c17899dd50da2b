// SPDX-License-Identifier: Apache-2.0
//
// Parts of the page that are loaded on first use, and workers that are started anew: their files are gone where a newer version of
// the page has taken the place of the one that this tab was loaded from.

import { effect, signal } from '@preact/signals';

import * as state from './state';

/** This tab's files are gone from the site. */
export const isOutdated = signal(false);

/** Asks the site whether it still has this tab's script; without an answer nothing is said. */
export async function lookForParts(): Promise<void> {
  const own = document.querySelector<HTMLScriptElement>('script[type="module"][src]')?.src;
  if (!own || isOutdated.value) return;
  try {
    const { ok, headers } = await fetch(own, { method: 'HEAD', cache: 'no-store' });
    // a host may answer with its start page in place of what is not there
    if (!ok || !(headers.get('content-type') ?? '').includes('javascript')) isOutdated.value = true;
  } catch {
    // no network
  }
}

/** A part that is loaded on first use; null where it cannot be had. */
export async function loadPart<T>(load: () => Promise<T>): Promise<T | null> {
  try {
    return await load();
  } catch {
    await lookForParts();
    return null;
  }
}

/** A worker whose file is gone ends what it was asked for with a problem. */
export function followDeaths(): void {
  const problems = [
    state.engineProblem,
    state.modelProblem,
    state.coverageProblem,
    state.samplesProblem,
    state.previewProblem,
    state.settingsProblem,
    state.runProblem,
    state.tradeoffProblem,
    state.trainingProblem,
  ];
  effect(() => {
    const isDead = problems.map(({ value }) => value?.code === 'worker_died').includes(true);
    if (isDead || state.engineProblem.value) void lookForParts();
  });
}
