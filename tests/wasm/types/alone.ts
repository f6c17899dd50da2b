// SPDX-License-Identifier: Apache-2.0
//
// A program that has no types of a host at all: neither TypeScript's library of the browser nor those of Node.
import { Tersor } from 'tersor';

export async function quantized(bytes: Uint8Array): Promise<Uint8Array | null> {
  const tersor = await Tersor.create({ workers: 0 });
  const model = await tersor.open(bytes);
  const { model: made } = await model.quantize({ samples: [{ input: new Float32Array(4) }] });
  for await (const { refused, model: file } of model.variants({ only: ['q8'] })) if (!refused) return file;
  return made;
}
