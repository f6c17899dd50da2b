// SPDX-License-Identifier: Apache-2.0
//
// Pixels as a PNG file: pictures that are pixels already then go the way of all pictures, and have a digest like them.
// By hand: a header and what CompressionStream gives; a canvas would change pixels that are partly clear.

import { sentence, TersorError } from './error.js';
import type { ImageSample } from './types.js';

const crcTable = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; ++bit) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
  return crc;
});

function chunk(type: string, content: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(content.length + 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, content.length);
  bytes.set(new TextEncoder().encode(type), 4);
  bytes.set(content, 8);
  let crc = -1;
  for (const byte of bytes.subarray(4, -4)) crc = (crcTable[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8);
  view.setInt32(bytes.length - 4, ~crc);
  return bytes;
}

async function deflated(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Of RGBA, four bytes a pixel. Rejects with the code `invalid_samples` where the sizes do not fit. */
export async function pngOf({ width, height, data }: ImageSample, place: string): Promise<Uint8Array<ArrayBuffer>> {
  const whole = Number.isInteger(width) && Number.isInteger(height) && width > 0 && height > 0;
  if (!whole || data.byteLength !== 4 * width * height) {
    throw new TersorError({
      code: 'invalid_samples',
      message: `Pixels of ${width} x ${height} are ${4 * width * height} bytes of RGBA; there are ${data.byteLength}.`,
      place,
    });
  }
  const pixels = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const rows = new Uint8Array((4 * width + 1) * height); // a byte before each says that it is not filtered
  for (let y = 0; y < height; ++y)
    rows.set(pixels.subarray(4 * width * y, 4 * width * (y + 1)), (4 * width + 1) * y + 1);
  const head = new Uint8Array([0, 0, 0, 0, 0, 0, 0, 0, 8, 6, 0, 0, 0]); // 8 bits, RGBA
  const view = new DataView(head.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  try {
    const parts = [chunk('IHDR', head), chunk('IDAT', await deflated(rows)), chunk('IEND', new Uint8Array())];
    const signature = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]);
    return new Uint8Array(await new Blob([signature, ...parts]).arrayBuffer());
  } catch (error) {
    throw new TersorError({ code: 'invalid_samples', message: sentence(error), place }, { cause: error });
  }
}
