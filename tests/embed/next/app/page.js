// SPDX-License-Identifier: Apache-2.0
//
// The app as a client component.
'use client';
import { useEffect } from 'react';
import { Tersor } from 'tersor';

export default function Page() {
  useEffect(() => {
    window.quantize = async (model, table, options = {}) => {
      const tersor = await Tersor.create({ workers: 2, ...options });
      const opened = await tersor.open(new Uint8Array(model));
      const samples = [{ path: 'samples.csv', data: new TextEncoder().encode(table) }];
      const quantized = await opened.quantize({ samples });
      tersor.close();
      return Array.from(quantized.model);
    };
  });
  return <p>App</p>;
}
