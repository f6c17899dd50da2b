// SPDX-License-Identifier: Apache-2.0
// Runs in the page: JPEG files of what a photograph has, coarse shapes and fine grain, from the browser's own encoder.
import { sample } from '/bench/sample.mjs';

const grain = sample(1 << 16);

async function photograph(number, width, height) {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext('2d');
  context.filter = `blur(${Math.round(width / 60)}px)`;
  for (let k = 0; k < 60; ++k) {
    const at = (which) => grain[(number * 977 + k * 7 + which) % grain.length] + 0.5;
    context.fillStyle = `hsl(${at(0) * 360} ${at(1) * 60}% ${20 + at(2) * 60}%)`;
    context.fillRect(at(3) * width, at(4) * height, (at(5) * width) / 2, (at(6) * height) / 2);
  }
  const pixels = context.getImageData(0, 0, width, height);
  for (let k = 0; k < pixels.data.length; ++k)
    if (k % 4 < 3) pixels.data[k] += 30 * grain[(k * 31 + number * 101) % grain.length];
  context.putImageData(pixels, 0, 0);
  const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.9 });
  return new File([blob], `${String(number).padStart(4, '0')}.jpg`, { type: blob.type });
}

export async function photographs(count, width, height) {
  const files = [];
  for (let k = 0; k < count; ++k) files.push(await photograph(k, width, height));
  return files;
}

/** What the browser makes of a picture: planes of 224x224 out of the middle, the short side scaled to 256. */
export async function decodedByBrowser(file) {
  const bitmap = await createImageBitmap(file);
  const side = 224;
  const scale = 256 / Math.min(bitmap.width, bitmap.height);
  const [width, height] = [bitmap.width * scale, bitmap.height * scale];
  const context = new OffscreenCanvas(side, side).getContext('2d', { willReadFrequently: true });
  context.drawImage(bitmap, (side - width) / 2, (side - height) / 2, width, height);
  bitmap.close();
  const { data } = context.getImageData(0, 0, side, side);
  const planes = new Float32Array(3 * side * side);
  for (let c = 0; c < 3; ++c)
    for (let k = 0; k < side * side; ++k) planes[c * side * side + k] = (data[4 * k + c] / 255 - 0.45) / 0.225;
  return planes;
}
