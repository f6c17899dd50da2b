// SPDX-License-Identifier: Apache-2.0
//
// Makes the files that tests drop on the page: PNG pictures, .npy arrays, folders of them.

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';

function chunk(tag, data) {
  const bytes = Buffer.alloc(12 + data.length);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(tag, 4, 'latin1');
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
  return bytes;
}

/** A PNG of `pixels`, row-major, 1 or 3 channels of 8 bits. */
export function png(pixels, width, height, channels = 3) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  header[9] = channels === 3 ? 2 : 0;
  const rows = Buffer.alloc((1 + width * channels) * height);
  for (let y = 0; y < height; ++y) {
    Buffer.from(pixels.buffer, pixels.byteOffset + y * width * channels, width * channels).copy(
      rows,
      y * (1 + width * channels) + 1,
    );
  }
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A PNG whose header promises a size that nothing stands behind. */
export function enormousPng(width, height) {
  const file = png(new Uint8Array(3), 1, 1);
  file.writeUInt32BE(width, 16);
  file.writeUInt32BE(height, 20);
  file.writeUInt32BE(crc32(file.subarray(12, 29)), 29);
  return file;
}

export function npy(values, shape) {
  const type = { Float32Array: '<f4', Uint8Array: '|u1', Int32Array: '<i4' }[values.constructor.name];
  const text = `{'descr': '${type}', 'fortran_order': False, 'shape': (${shape.join(', ')}${shape.length === 1 ? ',' : ''}), }`;
  const header = Buffer.from(`${text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11)}\n`, 'latin1');
  const preamble = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8]);
  return Buffer.concat([preamble, header, Buffer.from(values.buffer, values.byteOffset, values.byteLength)]);
}

/** Writes { path: bytes } below a folder. */
export async function writeFiles(folder, files) {
  for (const [path, bytes] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
}

/** What setInputFiles takes. */
export function asInput(name, bytes) {
  return { name, mimeType: 'application/octet-stream', buffer: Buffer.from(bytes) };
}

/** A picture of one colour with some grain, so that pictures of a class are not the same. */
export function plainPicture(colour, side, grain = 1) {
  const pixels = new Uint8Array(side * side * 3).map((_v, k) =>
    Math.min(255, colour[k % 3] + ((k * 7 + grain * 31) % 23)),
  );
  return png(pixels, side, side);
}

/** A recording of 16 kHz, mono, 16 bits, of these values. */
export function recording(values) {
  const bytes = Buffer.alloc(44 + 2 * values.length);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(36 + 2 * values.length, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(16000, 24);
  bytes.writeUInt32LE(32000, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36);
  bytes.writeUInt32LE(2 * values.length, 40);
  values.forEach((value, k) => bytes.writeInt16LE(value, 44 + 2 * k));
  return bytes;
}

/** A tone that grows. */
export function wav(frames) {
  return recording(Array.from({ length: frames }, (_, k) => Math.round(20000 * Math.sin(k / 7) * (k / frames))));
}
