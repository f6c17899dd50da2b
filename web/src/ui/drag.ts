// SPDX-License-Identifier: Apache-2.0
//
// Files dragged over the page and pasted into it, wherever they land.

import { signal } from '@preact/signals';

import { carriesFiles, transferArrivals } from '../job/drop';
import { addArrivals } from '../job/load';

/** Items over the page right now; null when there is no drag, 0 when their number is hidden. */
export const dragged = signal<number | null>(null);

export function listenForFiles(): void {
  let depth = 0;
  addEventListener('dragenter', (event) => {
    if (!carriesFiles(event.dataTransfer)) return;
    depth += 1;
    dragged.value = event.dataTransfer.items.length;
  });
  addEventListener('dragleave', (event) => {
    if (!carriesFiles(event.dataTransfer)) return;
    depth = Math.max(0, depth - 1);
    if (depth === 0) dragged.value = null;
  });
  addEventListener('dragover', (event) => {
    if (!carriesFiles(event.dataTransfer)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'copy';
  });
  addEventListener('drop', (event) => {
    depth = 0;
    dragged.value = null;
    if (!carriesFiles(event.dataTransfer)) return;
    event.preventDefault();
    void addArrivals(transferArrivals(event.dataTransfer));
  });
  addEventListener('paste', (event) => {
    if (!carriesFiles(event.clipboardData)) return;
    event.preventDefault();
    void addArrivals(transferArrivals(event.clipboardData));
  });
}
