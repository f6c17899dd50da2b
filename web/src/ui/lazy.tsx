// SPDX-License-Identifier: Apache-2.0
//
// Parts of the page whose code is fetched when somebody looks at them for the first time.

import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

import { loadPart } from '../job/parts';
import { LinkButton } from './LinkButton';

/** A hook that gives the module, or what is said until it is there. */
export function lazy<Module>(what: string, fetch: () => Promise<Module>) {
  const loaded = signal<Module | null>(null);
  const failed = signal(false);
  const load = async () => {
    failed.value = false;
    loaded.value ??= await loadPart(fetch);
    failed.value = loaded.value === null;
  };
  return (): { readonly module: Module | null; readonly failed: boolean; readonly waiting: ComponentChildren } => {
    useEffect(() => void load(), []);
    const waiting = failed.value ? (
      <>
        The {what} could not be loaded. <LinkButton onClick={() => void load()}>Try again</LinkButton>
      </>
    ) : (
      `Loading the ${what} …`
    );
    return { module: loaded.value, failed: failed.value, waiting };
  };
}
