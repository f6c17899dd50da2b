// SPDX-License-Identifier: Apache-2.0
//
// The help's code is fetched when somebody opens it for the first time.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { loadPart } from '../job/parts';

type Module = typeof import('../help/Help');

const loaded = signal<Module | null>(null);
const failed = signal(false);

async function load(): Promise<void> {
  failed.value = false;
  loaded.value ??= await loadPart(() => import('../help/Help'));
  failed.value = loaded.value === null;
}

export function LazyHelp() {
  useEffect(() => void load(), []);
  const module = loaded.value;
  if (module) return <module.Help />;
  if (!failed.value) return <p class="soft">Loading the help …</p>;
  return (
    <p>
      The help could not be loaded.{' '}
      <button type="button" class="link" onClick={() => void load()}>
        Try again
      </button>
    </p>
  );
}
