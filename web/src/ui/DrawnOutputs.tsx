// SPDX-License-Identifier: Apache-2.0
//
// The same pictures with what float, A and B make of them: masks and boxes, where the outputs' shapes say that they are such.

import { useEffect, useState } from 'preact/hooks';
import type { NamedTensor, SampleRun } from 'tersor';

import { configurationOf, letters, resultOf } from '../job/configurations';
import { drawableOf, foundAgain, pictureOf, samePixels, type Drawable, type Drawing } from '../job/drawable';
import { problemOf } from '../job/problem';
import { gather } from '../job/quantize';
import { looksAt, model, parked, preprocessing, result, running, samples } from '../job/state';
import { counted, percent } from '../numbers';
import { Pixels, rasterOf, type Raster } from './Pixels';

/** Samples drawn: each is run in float and in every configuration again. */
const shownSamples = 4;
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

type Which = 'F' | 'A' | 'B';

interface Row {
  readonly index: number;
  readonly raster: Raster;
  readonly drawings: ReadonlyMap<Which, Drawing>;
}

interface Drawn {
  readonly assumed: string;
  readonly rows: readonly Row[];
}

function rasterOfInput(input: NamedTensor): Raster | null {
  const picture = pictureOf(input.shape);
  if (!picture) return null;
  const values = Float32Array.from(input.data as ArrayLike<number>);
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) [least, most] = [Math.min(least, value), Math.max(most, value)];
  return rasterOf({ shape: input.shape, values }, picture.layout, preprocessing.value?.channels === 'BGR', () => [
    least,
    most,
  ]);
}

async function all(runs: AsyncGenerator<SampleRun>): Promise<SampleRun[]> {
  const list: SampleRun[] = [];
  for await (const one of runs) list.push(one);
  return list;
}

/** Runs a few of the evaluated samples; null where outputs cannot be drawn. */
async function drawAll(signal: AbortSignal): Promise<Drawn | null> {
  const inputs = gather();
  if (!inputs) return null;
  const options = { signal, ...inputs.preprocessing, selection: inputs.evaluation, limit: shownSamples };
  const float = await all(inputs.model.handle.run(inputs.set.files, options));
  const drawable: Drawable | null = drawableOf(float[0]?.inputs[0], float[0]?.outputs ?? []);
  if (!drawable) return null;
  const drawings = float.map(({ outputs }) => new Map<Which, Drawing>([['F', drawable.draw(outputs)]]));
  for (const letter of letters) {
    const done = configurationOf(letter) && resultOf(letter);
    if (!done || done.pending) continue;
    const ran = await all(done.quantized.run(inputs.set.files, options));
    ran.forEach(({ outputs }, k) => drawings[k]?.set(letter, drawable.draw(outputs)));
  }
  const rows = float.flatMap(({ index, inputs: [input] }, k) => {
    const raster = input && rasterOfInput(input);
    return raster ? [{ index, raster, drawings: drawings[k] ?? new Map<Which, Drawing>() }] : [];
  });
  return { assumed: drawable.assumed, rows };
}

function covered(raster: Raster, drawing: Drawing): Raster {
  if (!('mask' in drawing)) return raster;
  const { classes, values } = drawing.mask;
  const rgba = new Uint8ClampedArray(raster.rgba);
  values.forEach((value, k) => {
    const paint = paints[classes > 1 ? (value - 1) % paints.length : 0];
    const share = cover * (classes > 1 ? 1 : Math.min(1, Math.max(0, value)));
    if (!paint) return;
    for (let channel = 0; channel < 3; ++channel) {
      const under = rgba[4 * k + channel] ?? 0;
      rgba[4 * k + channel] = under + share * ((paint[channel] ?? 0) - under);
    }
  });
  return { ...raster, rgba };
}

function words(drawing: Drawing, float: Drawing | undefined): string {
  if ('boxes' in drawing) {
    const found = counted(drawing.boxes.length, 'box', 'boxes');
    if (!float || !('boxes' in float) || float === drawing) return found;
    if (float.boxes.length === 0) return drawing.boxes.length === 0 ? 'no box, as float' : `${found}, float none`;
    return `${found}, ${foundAgain(float.boxes, drawing.boxes)} of float’s ${float.boxes.length}`;
  }
  const { mask } = drawing;
  if (float && 'mask' in float && float !== drawing)
    return `${percent(samePixels(float.mask, mask), 1)} of pixels as float`;
  const inside = mask.values.reduce((sum, value) => sum + Number(value > 0.5), 0);
  return `covers ${percent(inside / mask.values.length, 1)}`;
}

function Figure(props: { readonly which: Which; readonly row: Row }) {
  const { which, row } = props;
  const drawing = row.drawings.get(which);
  const [shown, setShown] = useState<Raster | null>(null);
  useEffect(() => setShown(drawing ? covered(row.raster, drawing) : null), [row, drawing]);
  if (!drawing) return null;
  const { width, height } = row.raster;
  const name = which === 'F' ? 'Float' : which;
  const said = words(drawing, row.drawings.get('F'));
  return (
    <figure class="drawn">
      <div class="drawn-picture">
        {shown && <Pixels raster={shown} label={`Sample ${row.index}, ${name}: ${said}`} />}
        {'boxes' in drawing && (
          <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
            {drawing.boxes.map(({ x1, y1, x2, y2, score, kind }) => (
              <g key={`${x1} ${y1} ${x2} ${y2} ${kind ?? ''}`}>
                <rect class="drawn-under" x={x1} y={y1} width={x2 - x1} height={y2 - y1} />
                <rect class="drawn-box" x={x1} y={y1} width={x2 - x1} height={y2 - y1}>
                  <title>{`${kind === null ? '' : `class ${kind}, `}score ${percent(score, 0)}`}</title>
                </rect>
              </g>
            ))}
          </svg>
        )}
      </div>
      <figcaption>
        <b>{name}</b> {said}
      </figcaption>
    </figure>
  );
}

export function DrawnOutputs() {
  const [open, set, chosen] = [model.value, samples.value, preprocessing.value];
  const [mine, other] = [result.value, resultOf('B')];
  const isWaiting = running.value || !mine || mine.pending !== null;
  const mayDraw =
    open?.handle.info.inputs[0]?.shape?.length === 4 &&
    open.handle.info.outputs.some(({ shape }) => (shape?.length ?? 0) >= 3);
  const [drawn, setDrawn] = useState<Drawn | null>(null);
  const [fault, setFault] = useState('');
  useEffect(() => setDrawn(null), [open, set, chosen]);
  useEffect(() => {
    if (isWaiting || !mayDraw) return;
    const abort = new AbortController();
    setFault('');
    drawAll(abort.signal).then(
      (made) => !abort.signal.aborted && setDrawn(made),
      (error: unknown) => !abort.signal.aborted && setFault(problemOf(error).message),
    );
    return () => abort.abort();
  }, [isWaiting, mayDraw, open, set, chosen, mine?.quantized, other?.quantized, parked.value === null]);
  if (fault) return <p class="block soft">The outputs could not be drawn over the pictures: {fault}</p>;
  if (!drawn || drawn.rows.length === 0) return null;
  const looks = looksAt.value;
  return (
    <div class="block pictures-block" data-testid="drawn-outputs">
      <div class="tab-bar">
        <h3 class="tab chosen">Pictures</h3>
      </div>
      <p class="soft">{drawn.assumed} The pictures are drawn as the model receives them.</p>
      {drawn.rows.map((row) => (
        <div class="drawn-row" key={row.index}>
          {(['F', 'A', 'B'] as const).map(
            (which) => (looks === 'all' || looks === which) && <Figure key={which} which={which} row={row} />,
          )}
        </div>
      ))}
    </div>
  );
}
