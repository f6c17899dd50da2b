// SPDX-License-Identifier: Apache-2.0
//
// Choices that last in this browser; where it stores nothing, as long as the page.

import { effect, signal } from '@preact/signals';

/** A value that lasts in this browser; where it stores nothing, as long as the page. */
export function remembered(name: string, signalOf: { value: string }, choices: readonly string[]): void {
  const [choice, choose] = storedChoice(name, signalOf.value);
  if (choices.includes(choice.value)) signalOf.value = choice.value;
  effect(() => choose(signalOf.value));
}

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
