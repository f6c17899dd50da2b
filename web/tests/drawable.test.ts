// SPDX-License-Identifier: Apache-2.0

import type { NamedTensor } from 'tersor';
import { expect, it } from 'vitest';

import { drawableOf, foundAgain, pictureOf, samePixels, type Drawing } from '../src/job/drawable';

function tensor(name: string, shape: readonly number[], fill: (k: number) => number = () => 0): NamedTensor {
  const length = shape.reduce((product, one) => product * one, 1);
  return { name, type: 'float32', shape, data: Float32Array.from({ length }, (_, k) => fill(k)) };
}

const picture = tensor('image', [1, 3, 64, 64]);
/** Cells of 8, 16 and 32 pixels of a picture of 64. */
const cells = 64 + 16 + 4;

function boxesOf(drawing: Drawing | undefined) {
  if (!drawing || !('boxes' in drawing)) throw new Error('no boxes');
  return drawing.boxes.map(({ x1, y1, x2, y2, kind }) => [...[x1, y1, x2, y2].map(Math.round), kind]);
}

function drawn(outputs: readonly NamedTensor[]): Drawing | undefined {
  return drawableOf(picture, outputs)?.draw(outputs);
}

it('knows a picture in either layout', () => {
  expect(pictureOf([1, 3, 240, 320])).toEqual({ layout: 'NCHW', channels: 3, height: 240, width: 320 });
  expect(pictureOf([1, 256, 128, 3])).toEqual({ layout: 'NHWC', channels: 3, height: 256, width: 128 });
  expect(pictureOf([1, 49, 10, 1])).toBeNull();
  expect(pictureOf([1, 1000])).toBeNull();
});

it('draws a map as large as the picture as a mask, and nothing else of that rank', () => {
  const half = (k: number) => Number(k >= 2048);
  for (const shape of [
    [1, 1, 64, 64],
    [1, 64, 64, 1],
    [1, 64, 64],
  ]) {
    const mask = drawn([tensor('mask', shape, half)]);
    expect(mask && 'mask' in mask && mask.mask.values.reduce((sum, one) => sum + one, 0)).toBe(2048);
  }
  expect(drawn([tensor('depth', [1, 1, 64, 64], (k) => k)])).toBeUndefined();
  expect(drawn([tensor('picture', [1, 3, 64, 64])])).toBeUndefined();
  expect(drawn([tensor('features', [1, 16, 8, 8])])).toBeUndefined();
  expect(drawn([tensor('scores', [1, 10])])).toBeUndefined();
});

it('takes the largest value of each pixel as its class, whatever the layout', () => {
  // left half class 1, right half class 0
  const first = drawn([tensor('map', [1, 2, 64, 64], (k) => Number(k % 64 < 32 === k >= 4096))]);
  const last = drawn([tensor('map', [1, 64, 64, 2], (k) => Number((k >> 1) % 64 < 32 === (k % 2 === 1)))]);
  if (!first || !last || !('mask' in first) || !('mask' in last)) throw new Error('no mask');
  expect(first.mask.values.reduce((sum, one) => sum + one, 0)).toBe(2048);
  expect(samePixels(first.mask, last.mask)).toBe(1);
  const moved = { ...last.mask, values: last.mask.values.map((one, k) => (k < 1024 ? 1 - one : one)) };
  expect(samePixels(first.mask, moved)).toBe(0.75);
});

it('draws corners beside scores that add up to 1', () => {
  const corners = [0.25, 0.25, 0.5, 0.75];
  const boxes = tensor('boxes', [1, 3, 4], (k) => corners[k % 4] ?? 0);
  const scores = tensor('scores', [1, 3, 2], (k) => [0.1, 0.9, 0.2, 0.8, 0.9, 0.1][k] ?? 0);
  // the second overlaps the first, the third is background
  expect(boxesOf(drawn([scores, boxes]))).toEqual([[16, 16, 32, 48, null]]);
  expect(drawn([tensor('scores', [1, 3, 2], () => 0.9), boxes])).toBeUndefined();
});

it('draws heads of a row for each cell, in pixels or against the cell', () => {
  const row = (values: readonly number[], base: readonly number[]) => (k: number) =>
    (Math.floor(k / 7) === 9 ? values : base)[k % 7] ?? 0;
  // cell 9 of stride 8 is column 1 of row 1
  const logarithms = row([0.5, 0.5, Math.log(2), Math.log(2), 1, 0.1, 0.9], [0, 0, 0, 0, 0, 0, 0]);
  expect(boxesOf(drawn([tensor('head', [1, cells, 7], logarithms)]))).toEqual([[4, 4, 20, 20, 1]]);
  const pixels = row([12, 12, 16, 16, 1, 0.9, 0.1], [4, 4, 8, 8, 0, 0, 0]);
  expect(boxesOf(drawn([tensor('head', [1, cells, 7], pixels)]))).toEqual([[4, 4, 20, 20, 0]]);
  const columns = [12, 12, 16, 16, 0.1, 0.9];
  const across = (k: number) => (k % cells === 9 ? columns[Math.floor(k / cells)] : k < 4 * cells ? 8 : 0) ?? 0;
  expect(boxesOf(drawn([tensor('head', [1, 6, cells], across)]))).toEqual([[4, 4, 20, 20, 1]]);
  expect(drawn([tensor('head', [1, cells + 1, 7], logarithms)])).toBeUndefined();
});

it('draws no box whose size was rounded below nothing', () => {
  const head = (width: number) =>
    tensor('head', [1, 6, cells], (k) =>
      k % cells === 9 ? ([12, 12, width, 16, 0.1, 0.9][Math.floor(k / cells)] ?? 0) : k < 4 * cells ? 8 : 0,
    );
  const drawable = drawableOf(picture, [head(16)]);
  expect(boxesOf(drawable?.draw([head(16)])).length).toBe(1);
  expect(boxesOf(drawable?.draw([head(-0.3)]))).toEqual([]);
});

it('draws one output for each grid, and counts the boxes that are found again', () => {
  const outputs = [64, 16, 4].flatMap((n) => [
    tensor(`cls_${n}`, [1, n, 1], (k) => Number(k === 3 && n === 16)),
    tensor(`obj_${n}`, [1, n, 1], () => 0.81),
    tensor(`bbox_${n}`, [1, n, 4]),
    tensor(`kps_${n}`, [1, n, 10]),
  ]);
  const drawing = drawn(outputs);
  expect(boxesOf(drawing)).toEqual([[40, -8, 56, 8, null]]);
  if (!drawing || !('boxes' in drawing)) throw new Error('no boxes');
  expect(foundAgain(drawing.boxes, drawing.boxes)).toBe(1);
  expect(foundAgain(drawing.boxes, [])).toBe(0);
  expect(drawn(outputs.filter(({ name }) => name !== 'bbox_4'))).toBeUndefined();
});
