// SPDX-License-Identifier: Apache-2.0
//
// What keeping an operator in float takes with it, asked of the engine before the choice is made.

import { signal } from '@preact/signals';

import * as state from './state';

/** Operators that become float with one, by the settings and its name; null while it is not known. */
const known = signal<ReadonlyMap<string, readonly string[] | null>>(new Map());
const most = 200;

function keyOf(name: string): string {
  return JSON.stringify([state.model.value?.handle.info.sha256, state.settingsKey.value, name]);
}

function remember(key: string, names: readonly string[] | null): void {
  const kept = [...known.peek()].slice(-most);
  known.value = new Map([...kept, [key, names]]);
}

/** Names of the other operators that would be float too; null while nobody knows, or where the operator is float already. */
export function takenAlong(name: string): readonly string[] | null {
  return known.value.get(keyOf(name)) ?? null;
}

export async function askWhatGoesAlong(name: string): Promise<void> {
  const open = state.model.value;
  const now = state.coverage.value;
  const key = keyOf(name);
  if (!open || !now || known.peek().has(key) || now.stays_float.some((node) => node.name === name)) return;
  remember(key, null);
  try {
    const then = await open.handle.coverage({
      ...state.settings.value,
      overrides: [
        ...state.overrides.value,
        { name, config: { enable_weights_quantization: false, enable_activation_quantization: false } },
      ],
    });
    const before = new Set(now.stays_float.map((node) => node.name));
    const more = then.stays_float.map((node) => node.name).filter((one) => one !== name && !before.has(one));
    remember(key, more);
  } catch {
    // settings that cannot be are told where they are made
  }
}
