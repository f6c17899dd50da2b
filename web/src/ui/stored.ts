// SPDX-License-Identifier: Apache-2.0
//
// Choices that last in this browser; where it stores nothing, as long as the page.

import { signal } from '@preact/signals';

/** A signal, and what sets it. */
export function storedChoice(name: string, first: string) {
  const choice = signal(first);
  try {
    choice.value = localStorage.getItem(name) ?? first;
  } catch {
    // nothing is stored
  }
  const choose = (value: string) => {
    choice.value = value;
    try {
      localStorage.setItem(name, value);
    } catch {
      // see above
    }
  };
  return [choice, choose] as const;
}
