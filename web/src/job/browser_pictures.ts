// SPDX-License-Identifier: Apache-2.0
//
// Pictures that the core does not read are decoded by the browser, one after the other, and go on as PNG files. What it cannot decode
// stays as it is, and is named among the files that are skipped.

import { pngOf } from './aside';
import { browserPictures, ending, type Arrival, type NamedSet } from './intake';
import type { SampleSet } from './state';

export async function decodePictures(set: NamedSet): Promise<NamedSet & Pick<SampleSet, 'decoded'>> {
  const endings = new Set<string>();
  let count = 0;
  const files: Arrival[] = [];
  for (const file of set.files) {
    const kind = ending(file.path);
    const type = `image/${kind === 'tif' ? 'tiff' : kind}`;
    const png = browserPictures.has(kind) ? await pngOf(new Blob([file.data], { type })) : null;
    files.push(png ? { path: `${file.path}.png`, data: png } : file);
    if (!png) continue;
    endings.add(kind.toUpperCase());
    ++count;
  }
  return { ...set, files, decoded: count > 0 ? { endings: [...endings].sort().join(', '), count } : null };
}
