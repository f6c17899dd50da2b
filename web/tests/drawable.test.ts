// SPDX-License-Identifier: Apache-2.0

import type { NamedTensor } from 'tersor';
import { describe, expect, it } from 'vitest';

import { drawableOf, foundAgain, pictureOf, samePixels, type Box, type Drawing, type Mask } from '../src/job/drawable';
import { tensor, values } from './helpers';

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
  expect(drawn([tensor('picture', [1, 3, 64, 64])])).toBeUndefined();
  expect(drawn([tensor('features', [1, 16, 8, 8])])).toBeUndefined();
  expect(drawn([tensor('scores', [1, 10])])).toBeUndefined();
});

it('draws a picture of the same proportions, half as large or larger, and none that is of one colour', () => {
  const images = [
    tensor('depth', [1, 1, 64, 64], (k) => k),
    tensor('small', [1, 32, 32, 3], (k) => k),
    tensor('large', [1, 3, 256, 256], (k) => k),
  ];
  const sizes = images.map((image) => {
    const drawing = drawn([image]);
    return drawing && 'image' in drawing && [drawing.image.width, drawing.image.tensor.name];
  });
  expect(sizes).toEqual([
    [64, 'depth'],
    [32, 'small'],
    [256, 'large'],
  ]);
  expect(drawn([tensor('thumb', [1, 3, 16, 16], (k) => k)])).toBeUndefined();
  expect(drawn([tensor('wide', [1, 3, 64, 128], (k) => k)])).toBeUndefined();
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
  expect(boxesOf(drawable?.draw([head(0)]))).toEqual([]);
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

it('takes for a picture what has a batch of 1, one or three channels and 16 pixels at least', () => {
  expect(pictureOf([1, 1, 16, 20])).toEqual({ layout: 'NCHW', channels: 1, height: 16, width: 20 });
  expect(pictureOf([1, 16, 20, 1])).toEqual({ layout: 'NHWC', channels: 1, height: 16, width: 20 });
  expect(pictureOf([1, 3, 20, 16])).toEqual({ layout: 'NCHW', channels: 3, height: 20, width: 16 });
  for (const shape of [
    [2, 3, 16, 16],
    [1, 2, 16, 16],
    [1, 4, 16, 16],
    [1, 3, 15, 16],
    [1, 3, 16, 15],
    [3, 16, 16],
    [1, 1, 3, 16, 16],
  ])
    expect(pictureOf(shape)).toBeNull();
});

describe('boxes of float', () => {
  const box = (x1: number, x2: number, more: Partial<Box> = {}): Box => ({
    ...{ x1, x2, y1: 0, y2: 10, score: 1, kind: null },
    ...more,
  });

  it('are found again where half of both is shared, of the same class, once', () => {
    const float = [box(0, 10)];
    // 10 of 15 wide, 10 of 20, 10 of 21
    expect(foundAgain(float, [box(0, 15)])).toBe(1);
    expect(foundAgain(float, [box(0, 20)])).toBe(1);
    expect(foundAgain(float, [box(0, 21)])).toBe(0);
    expect(foundAgain(float, [box(2, 12)])).toBe(1);
    expect(foundAgain(float, [box(4, 14)])).toBe(0);
    expect(foundAgain(float, [box(0, 10, { y1: 2, y2: 12 })])).toBe(1);
    expect(foundAgain(float, [box(0, 10, { y1: 4, y2: 14 })])).toBe(0);
    expect(foundAgain(float, [box(0, 10, { kind: 1 })])).toBe(0);
    expect(foundAgain([box(0, 10), box(0, 10)], [box(0, 10)])).toBe(1);
    expect(foundAgain([box(0, 10), box(0, 10)], [box(0, 10), box(1, 10)])).toBe(2);
  });

  it('share nothing where they lie apart in one direction or both', () => {
    expect(foundAgain([box(0, 10)], [box(20, 30)])).toBe(0);
    expect(foundAgain([box(0, 10)], [box(0, 10, { y1: 20, y2: 30 })])).toBe(0);
    expect(foundAgain([box(0, 10)], [box(20, 30, { y1: 20, y2: 30 })])).toBe(0);
  });
});

it('compares masks of one class by what is inside, and of several by the class', () => {
  const mask = (classes: number, ...of: number[]): Mask => ({ classes, values: Float32Array.from(of) });
  expect(samePixels(mask(1, 0.1, 0.5, 0.6, 0.9), mask(1, 0.4, 0.51, 0.7, 0.2))).toBe(0.5);
  expect(samePixels(mask(3, 0, 1, 2, 2), mask(3, 0, 2, 2, 1))).toBe(0.5);
});

describe('masks', () => {
  const says = (...outputs: Parameters<typeof tensor>[]) =>
    drawableOf(
      picture,
      outputs.map((of) => tensor(...of)),
    )?.assumed;

  it('are values from 0 to 1 of real numbers, one for each pixel', () => {
    expect(says(['m', [1, 1, 64, 64], () => 1])).toMatch(/^Drawn: m, one value from 0 to 1/);
    expect(says(['m', [1, 1, 64, 64], () => 1, 'float64'])).toMatch(/^Drawn: m/);
    expect(says(['m', [1, 1, 64, 64], () => 1, 'float16'])).toBeUndefined();
    expect(says(['m', [1, 1, 64, 64], (k) => (k === 4095 ? 1.01 : 0.5)])).toMatch(/Assumed: a picture/);
    expect(says(['m', [1, 1, 64, 64], (k) => (k === 0 ? -0.01 : 0.5)])).toMatch(/Assumed: a picture/);
  });

  it('are classes where there are several values for each pixel, but not as many as the picture has channels', () => {
    expect(says(['m', [1, 2, 64, 64]])).toMatch(/^Drawn: m, 2 values for each pixel/);
    expect(says(['m', [1, 64, 64, 4]])).toMatch(/^Drawn: m, 4 values/);
    expect(says(['m', [1, 64, 64, 3]])).toBeUndefined();
    const grey = tensor('grey', [1, 1, 64, 64]);
    expect(drawableOf(grey, [tensor('m', [1, 1, 64, 64])])).toBeNull();
    expect(drawableOf(grey, [tensor('m', [1, 3, 64, 64])])?.assumed).toMatch(/3 values/);
  });

  it('are as high and as wide as the picture, in this order', () => {
    const wide = tensor('wide', [1, 3, 32, 64]);
    const assumed = (shape: readonly number[]) => drawableOf(wide, [tensor('m', shape)])?.kind;
    expect(assumed([1, 2, 32, 64])).toBe('mask');
    expect(assumed([1, 32, 64, 2])).toBe('mask');
    expect(assumed([1, 2, 64, 32])).toBeUndefined();
    expect(assumed([1, 64, 32])).toBeUndefined();
    expect(assumed([1, 32, 64])).toBe('mask');
    expect(assumed([1, 64, 64])).toBeUndefined();
    expect(assumed([2, 1, 32, 64])).toBeUndefined();
    expect(assumed([1, 33, 64])).toBeUndefined();
  });

  it('are found among other outputs', () => {
    expect(says(['a', [1, 5]], ['b', [1, 3, 64, 64]], ['m', [1, 1, 64, 64]])).toMatch(/^Drawn: m/);
    expect(drawableOf(undefined, [])).toBeNull();
    expect(drawableOf(tensor('tokens', [1, 64]), [tensor('m', [1, 64])])).toBeNull();
  });

  it('have the largest as the class where all are below zero', () => {
    for (const [shape, classOf] of [
      [[1, 2, 64, 64], (k: number) => Math.floor(k / 4096)],
      [[1, 64, 64, 2], (k: number) => k % 2],
    ] as const) {
      const drawing = drawn([tensor('m', shape, (k) => (classOf(k) === 1 ? -1 : -2))]);
      expect(drawing && 'mask' in drawing && new Set(drawing.mask.values)).toEqual(new Set([1]));
    }
  });

  it('have the first of equal values as the class', () => {
    const map = [tensor('m', [1, 4, 64, 64], (k) => [0, 5, 5, 1][Math.floor(k / 4096)] ?? 0)];
    const drawing = drawn(map);
    expect(drawing && 'mask' in drawing && [drawing.mask.classes, new Set(drawing.mask.values)]).toEqual([
      4,
      new Set([1]),
    ]);
  });
});

describe('corners beside scores', () => {
  const wide = tensor('wide', [1, 3, 64, 128]);
  const corners = [
    [0, 0, 0.5, 0.5],
    [0.5, 0.5, 1, 1],
  ];
  const sure = [
    [0.5, 0.5],
    [0.2, 0.8],
  ];
  const outputsOf = (boxes: readonly number[][], scores: readonly number[][]) => [
    values('boxes', [1, boxes.length, 4], boxes.flat()),
    values('scores', [1, scores.length, scores[0]?.length ?? 0], scores.flat()),
  ];
  const boxes = (places: readonly number[][] = corners, scores: readonly number[][] = sure) => {
    const outputs = outputsOf(places, scores);
    const drawing = drawableOf(wide, outputs)?.draw(outputs);
    return drawing && boxesOf(drawing);
  };

  it('are shares of width and height, the surest first', () => {
    expect(boxes()).toEqual([
      [64, 32, 128, 64, null],
      [0, 0, 64, 32, null],
    ]);
    expect(boxes(corners, [[0.51, 0.49], ...sure.slice(1)])).toEqual([[64, 32, 128, 64, null]]);
  });

  it('have a class where there are several, and column 0 is none', () => {
    expect(
      boxes(corners, [
        [0.1, 0.1, 0.8],
        [0.9, 0.1, 0],
      ]),
    ).toEqual([[0, 0, 64, 32, 2]]);
  });

  it('stay where they share no more than 45 % with a surer one, or are of another class', () => {
    const beside = (x: number) => [
      [0, 0, 0.4, 1],
      [x, 0, 0.4 + x, 1],
    ];
    // shares of 0.45 at x = 0.1517
    expect(boxes(beside(0.155))).toHaveLength(2);
    expect(boxes(beside(0.148))).toHaveLength(1);
    const kinds = [
      [0, 0.9, 0.1],
      [0, 0.1, 0.9],
    ];
    expect(boxes(beside(0.148), kinds)).toHaveLength(2);
  });

  it('are refused where they cannot be what they were taken for', () => {
    const [row = [], other = []] = sure;
    for (const scores of [
      [[0.5, 0.52], other],
      [[0.48, 0.5], other],
    ])
      expect(boxes(corners, scores)).toBeUndefined();
    expect(boxes(corners, [[0.5, 0.509], other])).toBeDefined();
    const [place = []] = corners;
    for (const bad of [
      [0.5, 0, 0.4, 1],
      [0, 0.5, 1, 0.4],
      [-1.1, 0, 1, 1],
      [0, -1.1, 1, 1],
      [0, 0, 2.1, 1],
      [0, 0, 1, 2.1],
    ]) {
      expect(boxes([place, bad])).toBeUndefined();
      expect(boxes([bad, place])).toBeUndefined();
    }
    for (const good of [
      [-1, -1, 2, 2],
      [0.5, 0, 0.5, 1],
      [0, 0.5, 1, 0.5],
    ])
      expect(boxes([place, good])).toBeDefined();
    expect(boxes([place], [row])).toBeUndefined();
    expect(boxes(corners, [row, other, other])).toBeUndefined();
  });

  it('are two outputs of three axes and real numbers', () => {
    const [places, scores] = outputsOf(corners, sure) as [ReturnType<typeof values>, ReturnType<typeof values>];
    const isDrawn = (...outputs: ReturnType<typeof values>[]) => drawableOf(wide, outputs) !== null;
    expect(isDrawn(places, scores)).toBe(true);
    expect(isDrawn(scores, places)).toBe(true);
    expect(isDrawn(places, scores, tensor('more', [1]))).toBe(false);
    expect(isDrawn({ ...places, type: 'float16' }, scores)).toBe(false);
    expect(isDrawn(places, { ...scores, type: 'float16' })).toBe(false);
    expect(isDrawn({ ...places, shape: [1, 1, 2, 4] }, scores)).toBe(false);
    expect(isDrawn({ ...places, shape: [2, 4] }, scores)).toBe(false);
    expect(isDrawn(places, { ...scores, shape: [2, 2] })).toBe(false);
    expect(isDrawn(places, { ...scores, shape: [1, 1, 2, 2] })).toBe(false);
    expect(isDrawn(places, values('scores', [1, 2, 1], [1, 1]))).toBe(false);
  });
});

describe('heads of a row for each cell', () => {
  /** All cells empty but number `cell`. */
  const rowsOf = (columns: number, cell: number, of: readonly number[], base: readonly number[] = []) =>
    tensor('head', [1, cells, columns], (k) => (Math.floor(k / columns) === cell ? of : base)[k % columns] ?? 0);
  const columnsOf = (columns: number, cell: number, of: readonly number[]) =>
    tensor('head', [1, columns, cells], (k) =>
      k % cells === cell ? (of[Math.floor(k / cells)] ?? 0) : Number(k < 4 * cells),
    );
  const boxes = (head: ReturnType<typeof tensor>) => boxesOf(drawn([head]));

  it('have centres against the cell where a size is not above zero', () => {
    // cell 64 + 5 is column 1, row 1 of stride 16; cell 64 + 16 + 3 is column 1, row 1 of stride 32
    expect(boxes(rowsOf(6, 69, [0.25, 0.75, 0, Math.log(2), 1, 1]))).toEqual([[12, 12, 28, 44, null]]);
    expect(boxes(rowsOf(6, 83, [0, 0.5, 0, 0, 1, 1]))).toEqual([[16, 32, 48, 64, null]]);
    // a single size of 0 among sizes above
    const base = [0, 0, 1, 1, 0, 0];
    expect(boxes(rowsOf(6, 69, [0, 0, 0, 1e-9, 1, 1], base))).toEqual([[8, 8, 24, 24, null]]);
    expect(boxes(rowsOf(6, 69, [0, 0, 1e-9, 0, 1, 1], base))).toEqual([[8, 8, 24, 24, null]]);
  });

  it('count on a picture that is wider than high', () => {
    const wide = tensor('wide', [1, 3, 32, 64]);
    const few = 32 + 8 + 2;
    const outputs = [
      tensor('head', [1, few, 6], (k) => (Math.floor(k / 6) === 9 ? ([0, 0, 0, 0, 1, 1][k % 6] ?? 0) : 0)),
    ];
    // column 1, row 1 of 8 columns
    expect(boxesOf(drawableOf(wide, outputs)?.draw(outputs))).toEqual([[4, 4, 12, 12, null]]);
  });

  it('multiply the score of the box with that of the class, or have the class alone', () => {
    const score = (of: number, by: number) => boxes(rowsOf(6, 0, [0, 0, 0, 0, of, by])).length;
    expect(score(0.5, 1)).toBe(1);
    expect(score(0.7, 0.7)).toBe(0);
    expect(boxes(columnsOf(5, 0, [8, 8, 16, 16, 0.5]))).toEqual([[0, 0, 16, 16, null]]);
    expect(boxes(columnsOf(5, 0, [8, 8, 16, 16, 0.49]))).toEqual([]);
    expect(boxes(columnsOf(7, 0, [8, 8, 16, 16, 0.6, 0.6, 0.7]))).toEqual([[0, 0, 16, 16, 2]]);
    expect(boxes(columnsOf(7, 0, [8, 8, 16, 16, 0.1, 0.7, 0.7]))).toEqual([[0, 0, 16, 16, 1]]);
  });

  it('are one output of shares, with a column for a class at least', () => {
    const head = rowsOf(6, 0, [0, 0, 0, 0, 1, 1]);
    const isDrawn = (...outputs: ReturnType<typeof tensor>[]) => drawableOf(picture, outputs) !== null;
    expect(isDrawn(head)).toBe(true);
    expect(isDrawn(head, tensor('more', [1]))).toBe(false);
    expect(isDrawn({ ...head, type: 'float16' })).toBe(false);
    expect(isDrawn({ ...head, shape: [cells, 6] })).toBe(false);
    expect(isDrawn(rowsOf(5, 0, [0, 0, 0, 0, 1]))).toBe(false);
    expect(isDrawn(tensor('head', [1, 4, cells], () => 1))).toBe(false);
    expect(isDrawn(rowsOf(6, 83, [0, 0, 0, 0, 1, 1.1]))).toBe(false);
    expect(isDrawn(rowsOf(6, 83, [0, 0, 0, 0, 1.1, 1]))).toBe(false);
    // columns are in pixels, and pixels are above zero
    expect(isDrawn(columnsOf(5, 3, [0, 0, 0, 1, 1]))).toBe(false);
    expect(isDrawn(columnsOf(5, 3, [0, 0, 1, 0, 1]))).toBe(false);
    expect(drawableOf(tensor('odd', [1, 3, 64, 72]), [head])).toBeNull();
    expect(drawableOf(tensor('odd', [1, 3, 72, 64]), [head])).toBeNull();
    expect(drawableOf(tensor('odd', [1, 3, 16, 16]), [tensor('none', [1, 0, 6])])).toBeNull();
  });

  it('say what was assumed of them', () => {
    const assumed = (head: ReturnType<typeof tensor>) => drawableOf(picture, [head])?.assumed;
    expect(assumed(rowsOf(6, 0, []))).toMatch(
      /against the cell, sizes as logarithms, then one score for the box and one/,
    );
    expect(assumed(rowsOf(6, 0, [1, 1, 1, 1], [1, 1, 1, 1]))).toMatch(/in pixels, then one score for the box and one/);
    expect(assumed(columnsOf(5, 0, [1, 1, 1, 1]))).toMatch(/in pixels, then one for each class/);
  });

  it('draw 50 boxes at most', () => {
    const many = tensor('head', [1, cells, 6], (k) => (k % 6 > 3 ? 1 : k % 6 > 1 ? -3 : 0));
    expect(boxes(many)).toHaveLength(50);
  });
});

describe('an output for each grid', () => {
  const grids = (more: (name: string, n: number) => Parameters<typeof tensor>[] = () => []) =>
    [64, 16, 4].flatMap((n) => {
      const made = more('x', n);
      return made.length > 0
        ? made.map((of) => tensor(...of))
        : [tensor(`box_${n}`, [1, n, 4]), tensor(`score_${n}`, [1, n, 1], (k) => Number(k === 3))];
    });
  const only = (size: number, ...of: Parameters<typeof tensor>[]) => grids((_, n) => (n === size ? of : []));

  it('is drawn with one score or the mean of two', () => {
    // column 3 of stride 8, column 3 of stride 16, column 1 and row 1 of stride 32
    const all = [
      [20, -4, 28, 4, null],
      [40, -8, 56, 8, null],
      [16, 16, 48, 48, null],
    ];
    expect(boxesOf(drawn(grids()))).toEqual(all);
    const two = (score: number) =>
      boxesOf(
        drawn(
          only(
            16,
            ['box', [1, 16, 4], (k) => [0.5, 1.5, 0, Math.log(2)][k % 4] ?? 0],
            ['a', [1, 16, 1], (k) => (k === 3 ? score : 0)],
            ['b', [1, 16, 1], (k) => (k === 3 ? 1 : 0)],
          ),
        ),
      );
    // column 3, row 0
    expect(two(0.25)).toContainEqual([48, 8, 64, 40, null]);
    expect(two(0.24)).toHaveLength(2);
  });

  it('takes no negative score of a configuration for a real one', () => {
    const outputs = grids();
    const drawable = drawableOf(picture, outputs);
    const other = outputs.map((one) => (one.name === 'score_16' ? tensor(one.name, [1, 16, 1], () => -1) : one));
    expect(boxesOf(drawable?.draw(other))).toHaveLength(2);
  });

  it('says which outputs it drew, and of what the score is', () => {
    expect(drawableOf(picture, grids())?.assumed).toMatch(
      /^Drawn: box_64, box_16, box_4, .* mean of score_64, and so on/,
    );
  });

  it('is refused where one grid has not what the others have', () => {
    const box: Parameters<typeof tensor> = ['box', [1, 16, 4]];
    const score: Parameters<typeof tensor> = ['a', [1, 16, 1]];
    const named = (name: string): Parameters<typeof tensor> => [name, [1, 16, 1]];
    expect(drawn(only(16, box, score))).toBeDefined();
    for (const of of [
      [box],
      [score],
      [box, box, score],
      [box, named('a'), named('b'), named('c')],
      [box, ['a', [1, 16, 1], () => 1.5]],
      [box, ['a', [1, 16, 1], () => 0, 'float16']],
      [['box', [1, 16, 4], () => 0, 'float16'], score],
      [['box', [16, 4]], score],
      [box, ['a', [1, 16, 1, 1]]],
    ] as Parameters<typeof tensor>[][])
      expect(drawn(only(16, ...of))).toBeUndefined();
    expect(drawableOf(tensor('odd', [1, 3, 64, 72]), grids())).toBeNull();
  });
});
