// SPDX-License-Identifier: Apache-2.0

import { openLayer } from '../job/state';

export const layerSearchId = 'layer-search';

export function rowId(output: string): string {
  return `layer-${output}`;
}

/** Brings the open panel into view, and the focus to it. */
export function revealPanel(): void {
  const panel = document.querySelector<HTMLElement>('.panel');
  panel?.scrollIntoView({ block: 'start' });
  panel?.focus({ preventScroll: true });
}

/** Where the focus returns to: the layer's row, the graph, or the search where the row is folded. */
function places(output: string): (HTMLElement | null)[] {
  return [rowId(output), `${layerSearchId}-window`, layerSearchId].map((id) => document.getElementById(id));
}

/** Closes the layer's panel. */
export function closeLayer(): void {
  const output = openLayer.value;
  openLayer.value = null;
  if (output === null) return;
  setTimeout(
    () =>
      places(output)
        .find((element) => element !== null)
        ?.focus(),
    0,
  );
}
