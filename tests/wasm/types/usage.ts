// SPDX-License-Identifier: Apache-2.0
//
// A program for Node, checked without TypeScript's library of the browser and with the package's types themselves.
import { readFile } from 'node:fs/promises';

import { Tersor, type QuantizedResult } from 'tersor';

export async function quantized(path: string): Promise<QuantizedResult> {
  const tersor = await Tersor.create({ workers: 0, wasmBinary: await readFile('tersor.wasm') });
  const model = await tersor.open(await readFile(path));
  const pixels = { width: 1, height: 1, data: new Uint8ClampedArray(4) };
  return model.quantize({
    samples: [pixels, { path: 'a.npy', data: new Blob([]) }],
    signal: AbortSignal.timeout(1000),
  });
}
