// SPDX-License-Identifier: Apache-2.0

import { openLayer } from '../job/state';

export const layerSearchId = 'layer-search';

export function rowId(output: string): string {
  return `layer-${output}`;
}

/** Closes the layer's panel; the focus returns to its row. */
export function closeLayer(): void {
  const output = openLayer.value;
  openLayer.value = null;
  if (output !== null) setTimeout(() => document.getElementById(rowId(output))?.focus(), 0);
}
