// SPDX-License-Identifier: Apache-2.0
//
// The app on the server: it is sent {model, table} and sends the file back.
import { Tersor } from 'tersor';

export async function POST(request) {
  const { model, table } = await request.json();
  const tersor = await Tersor.create({ workers: 0 });
  const opened = await tersor.open(Buffer.from(model, 'base64'));
  const quantized = await opened.quantize({ samples: [{ path: 'samples.csv', data: Buffer.from(table) }] });
  tersor.close();
  return new Response(quantized.model);
}
