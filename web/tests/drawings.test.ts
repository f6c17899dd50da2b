// SPDX-License-Identifier: Apache-2.0

import type { NamedTensor, SampleRun } from 'tersor';
import { expect, it } from 'vitest';

import { drawRuns, type DrawRequest } from '../src/job/drawings';
import { tensor } from './helpers';

/** Black, but for the second pixel, which is white. */
const picture = tensor('image', [1, 3, 16, 16], (k) => (k % 256 === 1 ? 265 : 10));
const run = (output: NamedTensor, input = picture, index = 3): SampleRun => ({
  index,
  inputs: [input],
  outputs: [output],
});
const mask = (fill: (k: number) => number) => tensor('mask', [1, 16, 16], fill);
const classes = (fill: (pixel: number) => number, input = picture) =>
  run(
    tensor('map', [1, 9, 16, 16], (k) => Number(fill(k % 256) === Math.floor(k / 256))),
    input,
  );
const colour = tensor('image', [1, 3, 16, 16], (k) => (k < 256 ? 1 : 0));

function drawn(float: SampleRun, a?: SampleRun, isBgr = false) {
  const others: DrawRequest['others'] = a ? [{ which: 'A', runs: [a] }] : [];
  return drawRuns({ isBgr, float: [float], others });
}
const figures = (...of: Parameters<typeof drawn>) => drawn(...of)?.rows[0]?.figures ?? [];
const pixel = (figure: { raster: { rgba: Uint8ClampedArray } } | undefined, k: number) => [
  ...(figure?.raster.rgba.subarray(4 * k, 4 * k + 3) ?? []),
];

it('lays a mask over the picture as strongly as its value says, and no stronger than six tenths', () => {
  // grey 0, 255 and 0 below; float's own drawing is of real numbers from 0 to 1
  const of = (k: number) => [0, 1, 0.5][k] ?? 0;
  const [float] = figures(run(mask(of)));
  expect(pixel(float, 0)).toEqual([0, 0, 0]);
  // 255 + 0.6 * (191 - 255)
  expect(pixel(float, 1)).toEqual([217, 137, 113]);
  expect(pixel(float, 2)).toEqual([57, 17, 5]);
  expect(float?.raster.rgba[7]).toBe(255);
  const [, other] = figures(run(mask(of)), run(mask((k) => [-1, 2][k] ?? 0)));
  expect(pixel(other, 0)).toEqual([0, 0, 0]);
  expect(pixel(other, 1)).toEqual([217, 137, 113]);
});

it('paints each class in a colour, the seventh as the first, and leaves background as it is', () => {
  const [float] = figures(classes((k) => [0, 255, 1, 2, 7, 8][k] ?? 0));
  expect(pixel(float, 0)).toEqual([0, 0, 0]);
  expect(pixel(float, 1)).toEqual([255, 255, 255]);
  const first = [115, 35, 11];
  expect(pixel(float, 2)).toEqual(first);
  expect(pixel(float, 3)).toEqual([0, 68, 107]);
  expect(pixel(float, 4)).toEqual(first);
  expect(pixel(float, 5)).toEqual([0, 68, 107]);
});

it('shows the picture red first, whatever the model has first', () => {
  expect(pixel(figures(classes(() => 0, colour))[0], 0)).toEqual([255, 0, 0]);
  expect(
    pixel(
      figures(
        classes(() => 0, colour),
        undefined,
        true,
      )[0],
      0,
    ),
  ).toEqual([0, 0, 255]);
});

it('says how much a mask covers, and how much of it is float’s', () => {
  const float = run(mask((k) => (k < 64 ? 0.51 : 0.5)));
  const other = run(mask((k) => (k < 96 ? 0.9 : 0.1)));
  expect(figures(float, other).map(({ which, said }) => `${which} ${said}`)).toEqual([
    'F covers 25.0\u202f%',
    'A 87.5\u202f% of pixels as float',
  ]);
  expect(drawn(float)).toMatchObject({ isEmpty: false, rows: [{ index: 3 }] });
});

/** Corners as shares, each with its score. */
function boxes(...scores: number[]): SampleRun {
  const corner = (k: number) => [0, 0, 0.5, 0.5, 0.5, 0.5, 1, 1][k % 8] ?? 0;
  const places = tensor('boxes', [1, 2, 4], corner);
  const sure = tensor('scores', [1, 2, 2], (k) => (k % 2 === 1 ? (scores[k >> 1] ?? 0) : 1 - (scores[k >> 1] ?? 0)));
  return { index: 0, inputs: [picture], outputs: [places, sure] };
}

it('counts boxes, and those of float that are found again', () => {
  const said = (float: SampleRun, a: SampleRun) => figures(float, a).map((figure) => figure.said);
  expect(said(boxes(0.9, 0.8), boxes(0.9))).toEqual(['2 boxes', '1 box, 1 of float’s 2']);
  expect(said(boxes(), boxes())).toEqual(['0 boxes', 'no box, as float']);
  expect(said(boxes(), boxes(0.9))).toEqual(['0 boxes', '1 box, float none']);
  expect(figures(boxes(0.9, 0.8))[0]?.boxes).toHaveLength(2);
  expect(pixel(figures(boxes(0.9))[0], 1)).toEqual([255, 255, 255]);
});

it('says where float has no boxes at all', () => {
  expect(drawn(boxes(0.9))?.isEmpty).toBe(false);
  expect(drawn(boxes(), boxes(0.9))?.isEmpty).toBe(true);
  const both = drawRuns({ isBgr: false, float: [boxes(), boxes(0.9)], others: [] });
  expect(both?.isEmpty).toBe(false);
  expect(drawn(run(mask(() => 0)))?.isEmpty).toBe(false);
});

it('draws the runs that there are, and nothing of outputs that are no drawing', () => {
  expect(drawn(run(tensor('scores', [1, 10])))).toBeNull();
  expect(drawRuns({ isBgr: false, float: [], others: [] })).toBeNull();
  const two = drawRuns({
    isBgr: false,
    float: [
      run(mask(() => 0)),
      run(
        mask(() => 1),
        picture,
        4,
      ),
      run(
        mask(() => 1),
        tensor('x', [4]),
        5,
      ),
    ],
    others: [{ which: 'B', runs: [run(mask(() => 0))] }],
  });
  expect(two?.rows.map(({ index, figures: all }) => [index, ...all.map(({ which }) => which)])).toEqual([
    [3, 'F', 'B'],
    [4, 'F'],
  ]);
});

it('shows a picture that the model makes on float’s scale, with how far the other is from it', () => {
  const image = (fill: (k: number) => number) => tensor('out', [1, 3, 16, 16], fill);
  const float = run(image((k) => (k % 256 === 1 ? 3 : -1)));
  const other = run(image((k) => (k % 256 === 1 ? 3 : 0)));
  const [first, second] = figures(float, other);
  expect([pixel(first, 0), pixel(first, 1)]).toEqual([
    [0, 0, 0],
    [255, 255, 255],
  ]);
  expect(pixel(second, 0)).toEqual([64, 64, 64]);
  expect([first?.said, second?.said]).toEqual(['16×16', 'differs by 24.9\u202f% of black to white on average']);
});

it('has the samples first whose outputs differ most from float’s', () => {
  const of = (share: number) => run(mask((k) => (k < 64 ? share : 0)));
  const float = [of(0.9), of(0.9), of(0.9)].map((one, index) => ({ ...one, index }));
  const runs = [of(0.8), of(0.1), of(0.5)];
  const rows = drawRuns({ isBgr: false, float, others: [{ which: 'A', runs }] })?.rows ?? [];
  expect(rows.map(({ index }) => index)).toEqual([1, 2, 0]);
});
