// SPDX-License-Identifier: Apache-2.0
//
// Outputs that can be drawn over the picture they belong to: maps and boxes, where the shapes of the outputs say that they are such.
// What shapes leave open is taken from the float model's values and named in `assumed`.

import type { NamedTensor } from 'tersor';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Corners in pixels of the input. */
export interface Box {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
  readonly score: number;
  /** Null where there is one class only. */
  readonly kind: number | null;
}

/** A value for each pixel of the input, row by row: 0 to 1, or the number of a class. */
export interface Mask {
  readonly classes: number;
  readonly values: Float32Array;
}

/** A picture that the model makes. */
export interface Image extends Size {
  readonly layout: 'NCHW' | 'NHWC';
  readonly tensor: NamedTensor;
}

export type Drawing = { readonly boxes: readonly Box[] } | { readonly mask: Mask } | { readonly image: Image };

interface Drawable {
  readonly kind: 'boxes' | 'mask' | 'image';
  /** What is drawn and what was assumed, as sentences. */
  readonly assumed: string;
  draw(outputs: readonly NamedTensor[]): Drawing;
}

/** Boxes of a lower score are not drawn; of two that overlap by more than `sameObject` the higher score stays. */
const leastScore = 0.5;
const sameObject = 0.45;
const mostBoxes = 50;
const strides = [8, 16, 32];

/** Of a tensor that is a picture, batch 1; null for any other. */
export function pictureOf(
  shape: readonly number[],
): (Size & { readonly layout: 'NCHW' | 'NHWC'; readonly channels: number }) | null {
  if (shape.length !== 4 || shape[0] !== 1) return null;
  const [, a = 0, b = 0, c = 0] = shape;
  const isPicture = (channels: number, height: number, width: number) =>
    (channels === 1 || channels === 3) && height >= 16 && width >= 16;
  if (isPicture(a, b, c)) return { layout: 'NCHW', channels: a, height: b, width: c };
  if (isPicture(c, a, b)) return { layout: 'NHWC', channels: c, height: a, width: b };
  return null;
}

function overlap(a: Box, b: Box): number {
  const width = Math.min(a.x2, b.x2) - Math.max(a.x1, b.x1);
  const height = Math.min(a.y2, b.y2) - Math.max(a.y1, b.y1);
  if (width <= 0 || height <= 0) return 0;
  const area = (box: Box) => (box.x2 - box.x1) * (box.y2 - box.y1);
  return (width * height) / (area(a) + area(b) - width * height);
}

function kept(boxes: readonly Box[]): Box[] {
  const left: Box[] = [];
  // sizes that were rounded may fall below nothing
  const real = boxes.filter(({ x1, y1, x2, y2 }) => x2 > x1 && y2 > y1);
  for (const box of real.sort((a, b) => b.score - a.score)) {
    if (left.length === mostBoxes) break;
    if (left.every((one) => one.kind !== box.kind || overlap(one, box) < sameObject)) left.push(box);
  }
  return left;
}

/** Boxes of float that a configuration has too: of the same class, each counted once. */
export function foundAgain(float: readonly Box[], other: readonly Box[]): number {
  const left = new Set(other);
  let found = 0;
  for (const box of float) {
    const same = [...left].find((one) => one.kind === box.kind && overlap(one, box) >= 0.5);
    if (!same) continue;
    left.delete(same);
    ++found;
  }
  return found;
}

/** Share of pixels of which two masks say the same. */
export function samePixels(a: Mask, b: Mask): number {
  const of = ({ classes, values }: Mask, k: number) => (classes > 1 ? values[k] : Number((values[k] ?? 0) > 0.5));
  let same = 0;
  for (let k = 0; k < a.values.length; ++k) same += Number(of(a, k) === of(b, k));
  return same / a.values.length;
}

const at = (tensor: NamedTensor | undefined, k: number) => Number(tensor?.data[k] ?? 0);
const named = (outputs: readonly NamedTensor[], name: string) => outputs.find((one) => one.name === name);
const isReal = ({ type }: NamedTensor) => type === 'float32' || type === 'float64';

function every(tensor: NamedTensor, is: (value: number) => boolean): boolean {
  for (let k = 0; k < tensor.data.length; ++k) if (!is(at(tensor, k))) return false;
  return true;
}
const isShare = (value: number) => value >= 0 && value <= 1;

function maskOf(
  outputs: readonly NamedTensor[],
  { width, height, channels }: Size & { readonly channels: number },
): Drawable | null {
  const plane = width * height;
  for (const output of outputs) {
    const { name, shape } = output;
    if (shape[0] !== 1 || !isReal(output) || output.data.length % plane !== 0) continue;
    const classes = output.data.length / plane;
    const rest = shape.slice(1).join();
    const isLast = rest === [height, width, classes].join();
    if (!isLast && rest !== [classes, height, width].join() && !(classes === 1 && rest === [height, width].join()))
      continue;
    // as many channels as the picture has: as likely a picture itself
    if (classes === channels) continue;
    if (classes === 1) {
      if (!every(output, isShare)) continue;
      return {
        kind: 'mask',
        assumed: `Drawn: ${name}, one value from 0 to 1 for each pixel. Assumed: a pixel belongs to the mask above 0.5.`,
        draw: (all) => ({
          mask: { classes, values: Float32Array.from({ length: plane }, (_, k) => at(named(all, name), k)) },
        }),
      };
    }
    return {
      kind: 'mask',
      assumed: `Drawn: ${name}, ${classes} values for each pixel. Assumed: the largest is the pixel's class, and class 0 is background.`,
      draw: (all) => {
        const map = named(all, name);
        const value = (k: number, one: number) => at(map, isLast ? k * classes + one : one * plane + k);
        const values = new Float32Array(plane);
        for (let k = 0; k < plane; ++k) {
          let best = 0;
          for (let one = 1; one < classes; ++one) if (value(k, one) > value(k, best)) best = one;
          values[k] = best;
        }
        return { mask: { classes, values } };
      },
    };
  }
  return null;
}

/** [1, N, 4] beside [1, N, C]: corners as shares of the picture, and scores that add up to 1. */
function cornersOf(outputs: readonly NamedTensor[], { width, height }: Size): Drawable | null {
  if (outputs.length !== 2) return null;
  const boxes = outputs.find(({ shape }) => shape.length === 3 && shape[2] === 4);
  const scores = outputs.find((one) => one !== boxes && one.shape.length === 3 && (one.shape[2] ?? 0) >= 2);
  const rows = boxes?.shape[1] ?? 0;
  if (!boxes || !scores || !isReal(boxes) || !isReal(scores) || scores.shape[1] !== rows || rows < 2) return null;
  const classes = scores.shape[2] ?? 0;
  for (let row = 0; row < rows; ++row) {
    let sum = 0;
    for (let one = 0; one < classes; ++one) sum += at(scores, row * classes + one);
    const [x1, y1, x2, y2] = [0, 1, 2, 3].map((k) => at(boxes, 4 * row + k)) as [number, number, number, number];
    if (Math.abs(sum - 1) > 0.01 || x2 < x1 || y2 < y1 || Math.min(x1, y1) < -1 || Math.max(x2, y2) > 2) return null;
  }
  const [boxName, scoreName] = [boxes.name, scores.name];
  return {
    kind: 'boxes',
    assumed: `Drawn: ${boxName} with ${scoreName}. Assumed: left, top, right and bottom as shares of the picture, and column 0 of the scores is background.`,
    draw: (all) => {
      const [places, sure] = [named(all, boxName), named(all, scoreName)];
      const found: Box[] = [];
      for (let row = 0; row < rows; ++row) {
        for (let one = 1; one < classes; ++one) {
          const score = at(sure, row * classes + one);
          if (score < leastScore) continue;
          const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = [0, 1, 2, 3].map((k) => at(places, 4 * row + k));
          const kind = classes > 2 ? one : null;
          found.push({ x1: x1 * width, y1: y1 * height, x2: x2 * width, y2: y2 * height, score, kind });
        }
      }
      return { boxes: kept(found) };
    },
  };
}

interface Cell {
  readonly stride: number;
  readonly x: number;
  readonly y: number;
}

/** The cells of the grids of strides 8, 16 and 32, one grid after the other. */
function cellsOf({ width, height }: Size): Cell[] {
  if (width % 32 !== 0 || height % 32 !== 0) return [];
  return strides.flatMap((stride) =>
    Array.from({ length: (width / stride) * (height / stride) }, (_, k) => ({
      stride,
      x: k % (width / stride),
      y: Math.floor(k / (width / stride)),
    })),
  );
}

function centred(x: number, y: number, width: number, height: number, score: number, kind: number | null): Box {
  return { x1: x - width / 2, y1: y - height / 2, x2: x + width / 2, y2: y + height / 2, score, kind };
}

/** [1, N, 5+C] or [1, 4+C, N], where N is the cells of the three grids. */
function headOf(outputs: readonly NamedTensor[], size: Size): Drawable | null {
  const [output] = outputs;
  const cells = cellsOf(size);
  const rows = cells.length;
  if (!output || outputs.length !== 1 || !isReal(output) || output.shape.length !== 3 || rows === 0) return null;
  const { name, shape } = output;
  const isRow = shape[1] === rows;
  if (!isRow && shape[2] !== rows) return null;
  const columns = (isRow ? shape[2] : shape[1]) ?? 0;
  const first = isRow ? 5 : 4;
  if (columns <= first) return null;
  const value = (tensor: NamedTensor | undefined, row: number, column: number) =>
    at(tensor, isRow ? row * columns + column : column * rows + row);
  // shares are scores; sizes that are all positive are pixels, others logarithms of cells
  let inPixels = true;
  for (let row = 0; row < rows; ++row) {
    for (let column = 4; column < columns; ++column) if (!isShare(value(output, row, column))) return null;
    if (value(output, row, 2) <= 0 || value(output, row, 3) <= 0) inPixels = false;
  }
  if (!isRow && !inPixels) return null;
  return {
    kind: 'boxes',
    assumed:
      `Drawn: ${name}, a box for each cell of grids of 8, 16 and 32 pixels. Assumed: centre, width and height ` +
      `${inPixels ? 'in pixels' : 'against the cell, sizes as logarithms'}, then ${isRow ? 'one score for the box and ' : ''}one for each class.`,
    draw: (all) => {
      const head = named(all, name);
      const found: Box[] = [];
      cells.forEach(({ stride, x, y }, row) => {
        let best = first;
        for (let one = first + 1; one < columns; ++one) if (value(head, row, one) > value(head, row, best)) best = one;
        const score = value(head, row, best) * (isRow ? value(head, row, 4) : 1);
        if (score < leastScore) return;
        const [a, b, c, d] = [0, 1, 2, 3].map((k) => value(head, row, k)) as [number, number, number, number];
        const kind = columns > first + 1 ? best - first : null;
        found.push(
          inPixels
            ? centred(a, b, c, d, score, kind)
            : centred((a + x) * stride, (b + y) * stride, Math.exp(c) * stride, Math.exp(d) * stride, score, kind),
        );
      });
      return { boxes: kept(found) };
    },
  };
}

/** For each stride [1, n, 4] beside one or two [1, n, 1], where n is the cells of its grid. */
function gridsOf(outputs: readonly NamedTensor[], size: Size): Drawable | null {
  const cells = cellsOf(size);
  const grids = strides.map((stride) => {
    const own = cells.filter((cell) => cell.stride === stride);
    const mine = outputs.filter(({ shape }) => shape.length === 3 && shape[1] === own.length);
    const places = mine.filter(({ shape }) => shape[2] === 4);
    const scores = mine.filter(({ shape }) => shape[2] === 1);
    const fits = own.length > 0 && places.length === 1 && (scores.length === 1 || scores.length === 2);
    const isSure = [...places, ...scores].every(isReal) && scores.every((one) => every(one, isShare));
    return fits && isSure ? { own, places: places[0]?.name ?? '', scores: scores.map(({ name }) => name) } : null;
  });
  const whole = grids.flatMap((grid) => (grid ? [grid] : []));
  if (whole.length !== strides.length) return null;
  return {
    kind: 'boxes',
    assumed: `Drawn: ${whole.map(({ places }) => places).join(', ')}, a box for each cell of grids of 8, 16 and 32 pixels. Assumed: centre, width and height against the cell, sizes as logarithms; the score is the geometric mean of ${whole[0]?.scores.join(' and ') ?? ''}, and so on.`,
    draw: (all) => ({
      boxes: kept(
        whole.flatMap((grid) => {
          const places = named(all, grid.places);
          const scores = grid.scores.map((name) => named(all, name));
          return grid.own.flatMap(({ stride, x, y }, k) => {
            const score = scores.reduce((product, one) => product * Math.max(0, at(one, k)), 1) ** (1 / scores.length);
            if (score < leastScore) return [];
            const [a = 0, b = 0, c = 0, d = 0] = [0, 1, 2, 3].map((one) => at(places, 4 * k + one));
            return [
              centred((a + x) * stride, (b + y) * stride, Math.exp(c) * stride, Math.exp(d) * stride, score, null),
            ];
          });
        }),
      ),
    }),
  };
}

/** A picture of the input's proportions, half as large or larger: cleaned, enlarged, or a depth for each pixel. */
function imageOf(outputs: readonly NamedTensor[], { width, height }: Size): Drawable | null {
  for (const output of outputs) {
    const made = pictureOf(output.shape);
    const { name } = output;
    if (!made || !isReal(output) || made.width * height !== made.height * width || 2 * made.width < width) continue;
    if (every(output, (value) => value === at(output, 0))) continue;
    return {
      kind: 'image',
      assumed: `Drawn: ${name}, ${made.width} by ${made.height} pixels. Assumed: a picture, from float’s least value, black, to its largest, white.`,
      draw: (all) => ({ image: { ...made, tensor: named(all, name) ?? output } }),
    };
  }
  return null;
}

/** How outputs of the float model are drawn over this input; null where their shapes do not say. */
export function drawableOf(input: NamedTensor | undefined, outputs: readonly NamedTensor[]): Drawable | null {
  const picture = input && pictureOf(input.shape);
  if (!picture) return null;
  return (
    maskOf(outputs, picture) ??
    cornersOf(outputs, picture) ??
    headOf(outputs, picture) ??
    gridsOf(outputs, picture) ??
    imageOf(outputs, picture)
  );
}
