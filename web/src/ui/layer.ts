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

/** Closes the layer's panel; the focus returns to its row, or to the search where that is folded. */
export function closeLayer(): void {
  const output = openLayer.value;
  openLayer.value = null;
  if (output === null) return;
  setTimeout(() => (document.getElementById(rowId(output)) ?? document.getElementById(layerSearchId))?.focus(), 0);
}
