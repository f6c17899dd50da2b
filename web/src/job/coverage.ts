// SPDX-License-Identifier: Apache-2.0
//
// What becomes an integer of the open model under the settings as they are.

import { batch } from '@preact/signals';

import { isAbort, problemOf } from './problem';
import { quantizeAgain } from './quantize';
import * as state from './state';

let asked = 0;

/** Which operators become integers on the chosen platform; the newest question's answer stands. */
export async function updateCoverage(): Promise<void> {
  const open = state.model.value;
  if (!open) return;
  const mine = ++asked;
  try {
    const known = await open.handle.coverage(state.settings.value);
    if (mine !== asked) return;
    batch(() => {
      state.coverage.value = known;
      state.coverageProblem.value = null;
    });
  } catch (error) {
    if (mine !== asked || isAbort(error)) return;
    batch(() => {
      state.coverage.value = null;
      state.coverageProblem.value = problemOf(error);
      state.openRegion('model');
    });
  }
}

/** After a change of settings: what becomes an integer is asked again, and a result is made anew from what was kept. */
export function changed(): void {
  void updateCoverage();
  quantizeAgain();
}
