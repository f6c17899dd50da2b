// SPDX-License-Identifier: Apache-2.0

import { signal } from '@preact/signals';

import { gather } from '../job/inputs';
import { result } from '../job/state';
import { compareLimit } from '../job/work';
import { lazy } from './lazy';

const useTable = lazy('variants', () => import('./VariantsTable'));

function Opened() {
  const { module, waiting } = useTable();
  return module ? <module.VariantsTable inputs={gather()} limit={compareLimit} /> : <p class="soft">{waiting}</p>;
}

const isOpen = signal(false);

/** Folded, as most readers want one file; what makes the others is fetched when it is opened. */
export function Variants() {
  if (!result.value) return null;
  return (
    <details
      class="block tradeoff"
      data-testid="variants"
      open={isOpen.value}
      onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}
    >
      <summary>Variants: float16, 8 and 4 bits, each with what it costs</summary>
      {isOpen.value && <Opened />}
    </details>
  );
}
