// SPDX-License-Identifier: Apache-2.0
//
// Long tables: only the rows near the window are drawn, with empty rows of the right height above and below.

import { useEffect, useRef, useState } from 'preact/hooks';

/** Tables up to this length are drawn whole. */
const wholeUpTo = 200;
/** Rows drawn of a longer one, and how many of them lie above the window. */
const drawn = 120;
const above = 20;

interface RowWindow {
  readonly body: { current: HTMLTableSectionElement | null };
  readonly from: number;
  readonly to: number;
  /** Height of one row in pixels. */
  readonly height: number;
}

function rowHeight(body: HTMLTableSectionElement | null): number {
  const row = body?.querySelector('tr:not([aria-hidden])');
  return row?.getBoundingClientRect().height || 31;
}

export function useRowWindow(total: number): RowWindow {
  const body = useRef<HTMLTableSectionElement>(null);
  const [place, setPlace] = useState({ from: 0, height: 31 });
  useEffect(() => {
    if (total <= wholeUpTo) return undefined;
    const look = () => {
      const height = rowHeight(body.current);
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const from = Math.max(0, Math.floor(-top / height / above) * above - above);
      setPlace((before) => (before.from === from && before.height === height ? before : { from, height }));
    };
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [total]);
  if (total <= wholeUpTo) return { body, from: 0, to: total, height: place.height };
  const from = Math.min(place.from, Math.max(0, total - drawn));
  return { body, from, to: Math.min(total, from + drawn), height: place.height };
}

/** Focuses the element of row `index`; where it is not drawn, the page scrolls there first. */
export function focusRow(body: HTMLTableSectionElement | null, index: number, id: string): void {
  const element = document.getElementById(id);
  if (element) {
    element.focus();
    return;
  }
  const top = body?.getBoundingClientRect().top ?? 0;
  scrollBy({ top: top + index * rowHeight(body) - innerHeight / 2, behavior: 'instant' });
  requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById(id)?.focus()));
}
