// SPDX-License-Identifier: Apache-2.0
//
// An app that quantizes: what each bundler gets to build.
import { Tersor } from 'tersor';

window.quantize = async (model, table, options = {}) => {
  const tersor = await Tersor.create({ workers: 2, ...options });
  const opened = await tersor.open(new Uint8Array(model));
  const samples = [{ path: 'samples.csv', data: new TextEncoder().encode(table) }];
  const quantized = await opened.quantize({ samples });
  tersor.close();
  return Array.from(quantized.model);
};
