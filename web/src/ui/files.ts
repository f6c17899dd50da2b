// SPDX-License-Identifier: Apache-2.0
//
// The one file input of the page, "Model and samples", and a folder input made when it is asked for.

import { inputArrivals } from '../job/drop';
import { addArrivals } from '../job/load';

export const filesInputId = 'model-and-samples';

export function takeFiles(event: Event): void {
  const input = event.currentTarget as HTMLInputElement;
  const arrivals = inputArrivals(input.files ?? []);
  // the same file may be chosen again after it was changed
  input.value = '';
  if (arrivals.length > 0) void addArrivals(arrivals);
}

export function chooseFiles(): void {
  document.getElementById(filesInputId)?.click();
}

export function chooseFolder(): void {
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = true;
  input.webkitdirectory = true;
  input.addEventListener('change', () => {
    const arrivals = inputArrivals(input.files ?? []);
    if (arrivals.length > 0) void addArrivals(arrivals);
  });
  input.click();
}
