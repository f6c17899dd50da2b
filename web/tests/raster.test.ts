// SPDX-License-Identifier: Apache-2.0

import { expect, it } from 'vitest';

import { rasterOf, type Scale } from '../src/job/raster';

/** A picture of one row: red 0 and 1, green 2 and 3, blue 4 and 5. */
const planes = { shape: [1, 3, 1, 2], values: [0, 1, 2, 3, 4, 5] };
const pixels = { shape: [1, 1, 2, 3], values: [0, 2, 4, 1, 3, 5] };
const toFive: Scale = () => [0, 5];
const bytes = (raster: ReturnType<typeof rasterOf>) => raster && [...raster.rgba];

it('draws a tensor of either layout, with or without its batch, opaque and on the scale', () => {
  const drawn = [0, 102, 204, 255, 51, 153, 255, 255];
  expect(rasterOf(planes, 'NCHW', false, toFive)).toMatchObject({ width: 2, height: 1 });
  expect(bytes(rasterOf(planes, 'NCHW', false, toFive))).toEqual(drawn);
  expect(bytes(rasterOf(pixels, 'NHWC', false, toFive))).toEqual(drawn);
  expect(rasterOf(pixels, 'NHWC', false, toFive)).toMatchObject({ width: 2, height: 1 });
  expect(bytes(rasterOf({ ...planes, shape: [3, 1, 2] }, 'NCHW', false, toFive))).toEqual(drawn);
});

it('draws red first where the model has blue first', () => {
  const drawn = [204, 102, 0, 255, 255, 153, 51, 255];
  expect(bytes(rasterOf(planes, 'NCHW', true, toFive))).toEqual(drawn);
  expect(bytes(rasterOf(pixels, 'NHWC', true, toFive))).toEqual(drawn);
});

it('draws each channel on its own scale, and what lies beyond as the end', () => {
  const own: Scale = (channel) => [2 * channel, 2 * channel + 1];
  expect(bytes(rasterOf(planes, 'NCHW', false, own))).toEqual([0, 0, 0, 255, 255, 255, 255, 255]);
  expect(bytes(rasterOf(planes, 'NCHW', false, () => [1, 4]))).toEqual([0, 85, 255, 255, 0, 170, 255, 255]);
});

it('draws one channel grey, on the scale of that channel', () => {
  const grey = { shape: [1, 1, 2, 2], values: [0, 1, 2, 3] };
  const scale: Scale = (channel) => (channel === 0 ? [0, 3] : [0, 1000]);
  const drawn = [0, 85, 170, 255].flatMap((byte) => [byte, byte, byte, 255]);
  expect(bytes(rasterOf(grey, 'NCHW', false, scale))).toEqual(drawn);
  expect(bytes(rasterOf({ ...grey, shape: [1, 2, 2, 1] }, 'NHWC', true, scale))).toEqual(drawn);
});

it('draws a scale without extent black', () => {
  expect(bytes(rasterOf({ shape: [1, 1, 2], values: [7, 8] }, 'NCHW', false, () => [7, 7]))).toEqual([
    0, 0, 0, 255, 0, 0, 0, 255,
  ]);
});

it('draws nothing that is no picture', () => {
  for (const [shape, length] of [
    [[1, 2, 2, 2], 8],
    [[1, 4, 2, 2], 16],
    [[2, 2], 4],
    [[1, 1, 3, 2, 2], 12],
    [[1, 3, 2, 2], 11],
    [[1, 3, 2, 2], 24],
  ] as const)
    expect(rasterOf({ shape, values: new Float32Array(length) }, 'NCHW', false, toFive)).toBeNull();
});
