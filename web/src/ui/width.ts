// SPDX-License-Identifier: Apache-2.0

import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Whether the window fits a media query, as it is now and whenever it changes. */
export function useMedia(query: string): boolean {
  const [fits, setFits] = useState(() => matchMedia(query).matches);
  useLayoutEffect(() => {
    const list = matchMedia(query);
    const change = () => setFits(list.matches);
    change();
    list.addEventListener('change', change);
    return () => list.removeEventListener('change', change);
  }, [query]);
  return fits;
}

/** The width of an element in pixels, so that a plot is drawn at its real size and its text never shrinks. */
export function useWidth<T extends Element>(first: number): readonly [{ current: T | null }, number] {
  const element = useRef<T>(null);
  const [width, setWidth] = useState(first);
  useLayoutEffect(() => {
    const target = element.current;
    if (!target) return undefined;
    // it reports once at the beginning too, when the layout is there anyway and before anything is painted
    const observer = new ResizeObserver(() => {
      const now = Math.round(target.clientWidth);
      if (now > 0) setWidth(now);
    });
    observer.observe(target);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
