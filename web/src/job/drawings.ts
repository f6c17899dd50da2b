// SPDX-License-Identifier: Apache-2.0
//
// Pictures of outputs over the samples they belong to, the worst first, with what is to be said of each. Pure functions of the runs,
// computed away from the page (aside.worker.ts), as outputs may have millions of values.

import type { NamedTensor, SampleRun } from 'tersor';

import { counted, percent } from '../numbers';
import { drawableOf, foundAgain, pictureOf, samePixels, type Box, type Drawing } from './drawable';
import { rasterOf, type Raster } from './raster';
import { errorOf } from './run_error';

/** How strongly a mask covers the picture. */
const cover = 0.6;
/** Colours of masks' classes, background aside. */
const paints = [
  [191, 58, 18],
  [0, 114, 178],
  [0, 158, 115],
  [240, 228, 66],
  [204, 121, 167],
  [86, 180, 233],
] as const;

export type Which = 'F' | 'A' | 'B';

export interface DrawRequest {
  /** The picture's first channel is blue. */
  readonly isBgr: boolean;
  readonly float: readonly SampleRun[];
  /** The same samples, as configurations run them. */
  readonly others: readonly { readonly which: Exclude<Which, 'F'>; readonly runs: readonly SampleRun[] }[];
}

export interface DrawnFigure {
  readonly which: Which;
  /** The picture, with its mask where there is one. */
  readonly raster: Raster;
  readonly boxes: readonly Box[];
  /** What it shows, in words. */
  readonly said: string;
}

export interface Drawn {
  /** What is drawn and what was assumed, as sentences. */
  readonly assumed: string;
  /** Boxes are drawn, and float has none. */
  readonly isEmpty: boolean;
  readonly rows: readonly { readonly index: number; readonly figures: readonly DrawnFigure[] }[];
}

function extremesOf({ data }: NamedTensor): readonly [number, number] {
  const values = data as ArrayLike<number>;
  let [least, most] = [Infinity, -Infinity];
  for (let k = 0; k < values.length; ++k) {
    const value = values[k] ?? 0;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return [least, most];
}

/** Drawn from the least of float's values to the largest. */
function rasterOfPicture(picture: NamedTensor, float: NamedTensor, isBgr: boolean): Raster | null {
  const layout = pictureOf(picture.shape)?.layout;
  const [least, most] = extremesOf(float);
  const values = picture.data as ArrayLike<number>;
  return layout ? rasterOf({ shape: picture.shape, values }, layout, isBgr, () => [least, most]) : null;
}

/** What is shown of a drawing but its boxes: the model's own picture, or the sample with what lies over it. */
function covered(raster: Raster, drawing: Drawing, float: Drawing, isBgr: boolean): Raster {
  if ('image' in drawing && 'image' in float)
    return rasterOfPicture(drawing.image.tensor, float.image.tensor, isBgr) ?? raster;
  const rgba = new Uint8ClampedArray(raster.rgba);
  if ('mask' in drawing) {
    const { classes, values } = drawing.mask;
    values.forEach((value, k) => {
      const paint = paints[classes > 1 ? (value - 1) % paints.length : 0];
      const share = cover * (classes > 1 ? 1 : Math.min(1, Math.max(0, value)));
      if (!paint) return;
      for (let channel = 0; channel < 3; ++channel) {
        const under = rgba[4 * k + channel] ?? 0;
        rgba[4 * k + channel] = under + share * ((paint[channel] ?? 0) - under);
      }
    });
  }
  return { ...raster, rgba };
}

function imageWords({ image }: Extract<Drawing, { image: unknown }>, float: Drawing): string {
  if (!('image' in float) || image === float.image) return `${image.width}×${image.height}`;
  const [least, most] = extremesOf(float.image.tensor);
  const [ours, theirs] = [image.tensor.data, float.image.tensor.data];
  let sum = 0;
  for (let k = 0; k < ours.length; ++k) sum += Math.abs(Number(ours[k]) - Number(theirs[k]));
  return `differs by ${percent(sum / ours.length / (most - least), 1)} of black to white on average`;
}

function words(drawing: Drawing, float: Drawing): string {
  const isFloat = float === drawing;
  if ('boxes' in drawing) {
    const found = counted(drawing.boxes.length, 'box', 'boxes');
    if (isFloat || !('boxes' in float)) return found;
    if (float.boxes.length === 0) return drawing.boxes.length === 0 ? 'no box, as float' : `${found}, float none`;
    return `${found}, ${foundAgain(float.boxes, drawing.boxes)} of float’s ${float.boxes.length}`;
  }
  if ('image' in drawing) return imageWords(drawing, float);
  const { mask } = drawing;
  if (!isFloat && 'mask' in float) return `${percent(samePixels(float.mask, mask), 1)} of pixels as float`;
  const inside = mask.values.reduce((sum, value) => sum + Number(value > 0.5), 0);
  return `covers ${percent(inside / mask.values.length, 1)}`;
}

/** A row for each sample, those whose outputs differ most from float's first; null where outputs cannot be drawn. */
export function drawRuns({ isBgr, float, others }: DrawRequest): Drawn | null {
  const drawable = drawableOf(float[0]?.inputs[0], float[0]?.outputs ?? []);
  if (!drawable) return null;
  const errors = float.map((one, k) => Math.max(0, ...others.map(({ runs }) => errorOf(one, runs[k]))));
  const worstFirst = [...errors.keys()].sort((a, b) => (errors[b] ?? 0) - (errors[a] ?? 0));
  const rows = worstFirst.flatMap((k) => {
    const { index, inputs, outputs } = float[k] as SampleRun;
    const [input] = inputs;
    const raster = input && rasterOfPicture(input, input, isBgr);
    if (!raster) return [];
    const ofFloat = drawable.draw(outputs);
    const drawings = [
      { which: 'F' as const, drawing: ofFloat },
      ...others.flatMap(({ which, runs }) => {
        const run = runs[k];
        return run ? [{ which, drawing: drawable.draw(run.outputs) }] : [];
      }),
    ];
    const figures = drawings.map(({ which, drawing }) => ({
      which,
      raster: covered(raster, drawing, ofFloat, isBgr),
      boxes: 'boxes' in drawing ? drawing.boxes : [],
      said: words(drawing, ofFloat),
    }));
    return [{ index, figures }];
  });
  const ofFloat = rows.flatMap(({ figures }) => figures.filter(({ which }) => which === 'F'));
  const isEmpty = drawable.kind === 'boxes' && ofFloat.every(({ boxes }) => boxes.length === 0);
  return { assumed: drawable.assumed, isEmpty, rows };
}
