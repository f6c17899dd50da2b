// SPDX-License-Identifier: Apache-2.0
//
// Long lists show their first rows, and a button that shows all of them and folds them again.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { count } from '../numbers';

/** More rows than this beyond the first make a list long. */
const slack = 4;

/** The rows to show, and the button below them where there are more. */
export function useFold<T>(rows: readonly T[], first: number, what: string): [readonly T[], ComponentChildren] {
  const [all, setAll] = useState(false);
  if (rows.length <= first + slack) return [rows, null];
  return [
    all ? rows : rows.slice(0, first),
    <button
      type="button"
      class="link show-all"
      onClick={({ currentTarget }) => {
        setAll(!all);
        // what is folded was above the button
        if (all) requestAnimationFrame(() => currentTarget.scrollIntoView({ block: 'nearest' }));
      }}
    >
      {all ? 'Show fewer' : `Show all ${count(rows.length)}`} {what}
    </button>,
  ];
}
