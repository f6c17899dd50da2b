// SPDX-License-Identifier: Apache-2.0
//
// Pictures of outputs over the samples they belong to, with what is to be said of each. Pure functions of the runs, computed away
// from the page (aside.worker.ts), as outputs may have millions of values.

import type { NamedTensor, SampleRun } from 'tersor';

import { counted, percent } from '../numbers';
import { drawableOf, foundAgain, pictureOf, samePixels, type Box, type Drawing } from './drawable';
import { rasterOf, type Raster } from './raster';

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

function rasterOfInput(input: NamedTensor, isBgr: boolean): Raster | null {
  const picture = pictureOf(input.shape);
  if (!picture) return null;
  const values = input.data as ArrayLike<number>;
  let [least, most] = [Infinity, -Infinity];
  for (let k = 0; k < values.length; ++k) {
    const value = values[k] ?? 0;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return rasterOf({ shape: input.shape, values }, picture.layout, isBgr, () => [least, most]);
}

function covered(raster: Raster, drawing: Drawing): Raster {
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

function words(drawing: Drawing, float: Drawing): string {
  const isFloat = float === drawing;
  if ('boxes' in drawing) {
    const found = counted(drawing.boxes.length, 'box', 'boxes');
    if (isFloat || !('boxes' in float)) return found;
    if (float.boxes.length === 0) return drawing.boxes.length === 0 ? 'no box, as float' : `${found}, float none`;
    return `${found}, ${foundAgain(float.boxes, drawing.boxes)} of float’s ${float.boxes.length}`;
  }
  const { mask } = drawing;
  if (!isFloat && 'mask' in float) return `${percent(samePixels(float.mask, mask), 1)} of pixels as float`;
  const inside = mask.values.reduce((sum, value) => sum + Number(value > 0.5), 0);
  return `covers ${percent(inside / mask.values.length, 1)}`;
}

/** A row for each sample; null where outputs cannot be drawn. */
export function drawRuns({ isBgr, float, others }: DrawRequest): Drawn | null {
  const drawable = drawableOf(float[0]?.inputs[0], float[0]?.outputs ?? []);
  if (!drawable) return null;
  const rows = float.flatMap(({ index, inputs: [input], outputs }, k) => {
    const raster = input && rasterOfInput(input, isBgr);
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
      raster: covered(raster, drawing),
      boxes: 'boxes' in drawing ? drawing.boxes : [],
      said: words(drawing, ofFloat),
    }));
    return [{ index, figures }];
  });
  const ofFloat = rows.flatMap(({ figures }) => figures.filter(({ which }) => which === 'F'));
  const isEmpty = drawable.kind === 'boxes' && ofFloat.every(({ boxes }) => boxes.length === 0);
  return { assumed: drawable.assumed, isEmpty, rows };
}
