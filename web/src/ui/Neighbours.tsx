// SPDX-License-Identifier: Apache-2.0

import type { JSX } from 'preact';

import { Next, Previous } from './Icons';

/** Buttons to the one before and the one after it; at an end they keep the focus and do nothing. */
export function Neighbours(props: {
  readonly what: string;
  readonly at: number;
  readonly last: number;
  readonly go: (to: number) => void;
}) {
  const { what, at, last, go } = props;
  const button = (word: string, to: number, icon: JSX.Element) => {
    const none = at < 0 || to < 0 || to > last;
    return (
      <button
        type="button"
        class="ghost"
        aria-label={`${word} ${what}`}
        aria-disabled={none}
        onClick={() => none || go(to)}
      >
        {icon}
      </button>
    );
  };
  return (
    <>
      {button('Previous', at - 1, <Previous />)}
      {button('Next', at + 1, <Next />)}
    </>
  );
}
