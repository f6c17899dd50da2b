// SPDX-License-Identifier: Apache-2.0
//
// The same samples with what float, A and B make of them: masks and boxes over the pictures where the outputs' shapes say that they
// are such, else bars of values; classes are shown elsewhere.

import { useEffect, useState } from 'preact/hooks';
import type { SampleRun } from 'tersor';

import { agreementOf } from '../job/answers';
import { bars as barsAside, drawn as drawnAside } from '../job/aside';
import type { Bars } from '../job/bars';
import { configurationOf, letters, resultOf } from '../job/configurations';
import type { Drawn, DrawnFigure } from '../job/drawings';
import { problemOf } from '../job/problem';
import { gather } from '../job/inputs';
import { looksAt, model, parked, preprocessing, preprocessingIsGuess, result, running, samples } from '../job/state';
import { percent } from '../numbers';
import { Note } from './Note';
import { Pixels } from './Pixels';
import { ValueBars } from './ValueBars';

/** Samples drawn: each is run in float and in every configuration again. */
const shownSamples = 4;

async function all(runs: AsyncGenerator<SampleRun>): Promise<SampleRun[]> {
  const list: SampleRun[] = [];
  for await (const one of runs) list.push(one);
  return list;
}

interface Shown {
  readonly drawn: Drawn | null;
  readonly bars: Bars | null;
}

/** Runs a few of the evaluated samples; null where outputs are not shown this way. */
async function showAll(mayDraw: boolean, mayList: boolean, signal: AbortSignal): Promise<Shown | null> {
  const inputs = gather();
  if (!inputs) return null;
  const isBgr = preprocessing.value?.channels === 'BGR';
  const options = { signal, ...inputs.preprocessing, selection: inputs.evaluation, limit: shownSamples };
  const float = await all(inputs.model.handle.run(inputs.set.files, options));
  // where the first cannot be drawn the others need not run for it
  const isDrawn = mayDraw && (await drawnAside({ isBgr, float: float.slice(0, 1), others: [] }, false)) !== null;
  if (!isDrawn && !mayList) return null;
  const others = [];
  for (const which of letters) {
    const done = configurationOf(which) && resultOf(which);
    if (!done || done.pending) continue;
    others.push({ which, runs: await all(done.quantized.run(inputs.set.files, options)) });
  }
  signal.throwIfAborted();
  const runs = { isBgr, float, others };
  return isDrawn ? { drawn: await drawnAside(runs, true), bars: null } : { drawn: null, bars: await barsAside(runs) };
}

function Figure(props: { readonly index: number; readonly figure: DrawnFigure }) {
  const { index, figure } = props;
  const { which, raster, boxes, said } = figure;
  const { width, height } = raster;
  const name = which === 'F' ? 'Float' : which;
  return (
    <figure class="drawn">
      <div class="drawn-picture">
        <Pixels raster={raster} label={`Sample ${index}, ${name}: ${said}`} />
        {boxes.length > 0 && (
          <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
            {boxes.map(({ x1, y1, x2, y2, score, kind }) => (
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

/** `isBrief`: the first picture alone, where there are pictures. */
export function DrawnOutputs({ isBrief = false }: { readonly isBrief?: boolean }) {
  const [open, set, chosen] = [model.value, samples.value, preprocessing.value];
  const [mine, other] = [result.value, resultOf('B')];
  const isWaiting = running.value || !mine || mine.pending !== null;
  const mayDraw =
    open?.handle.info.inputs[0]?.shape?.length === 4 &&
    open.handle.info.outputs.some(({ shape }) => (shape?.length ?? 0) >= 3);
  // answers that are classes are listed as such
  const mayList = mine !== null && agreementOf(mine) === null;
  const [shown, setShown] = useState<Shown | null>(null);
  const [fault, setFault] = useState('');
  useEffect(() => setShown(null), [open, set, chosen]);
  useEffect(() => {
    if (isWaiting || !(mayDraw || mayList)) return;
    const abort = new AbortController();
    setFault('');
    showAll(mayDraw, mayList, abort.signal).then(
      (made) => !abort.signal.aborted && setShown(made),
      (error: unknown) => !abort.signal.aborted && setFault(problemOf(error).message),
    );
    return () => abort.abort();
  }, [isWaiting, mayDraw, mayList, open, set, chosen, mine?.quantized, other?.quantized, parked.value === null]);
  if (fault) return <p class="block soft">The outputs could not be shown: {fault}</p>;
  if (shown?.bars) return isBrief ? null : <ValueBars bars={shown.bars} />;
  const drawn = shown?.drawn;
  if (!drawn || drawn.rows.length === 0) return null;
  const looks = looksAt.value;
  const [first] = drawn.rows;
  if (isBrief)
    return (
      <div class="drawn-row" data-testid="drawn-first">
        {first?.figures.map((figure) => (
          <Figure key={figure.which} index={first.index} figure={figure} />
        ))}
      </div>
    );
  return (
    <div class="block pictures-block" data-testid="drawn-outputs">
      <div class="tab-bar">
        <h3 class="tab chosen">Pictures</h3>
      </div>
      <p class="soft">{drawn.assumed} The pictures are drawn as the model receives them.</p>
      {drawn.isEmpty && (
        <Note kind="caution">
          <p>
            The float model finds nothing in these pictures.
            {preprocessingIsGuess.value &&
              ' How they become tensors was guessed from its input: compare the preprocessing with what it was trained on.'}
          </p>
        </Note>
      )}
      {drawn.rows.map(({ index, figures }) => (
        <div class="drawn-row" key={index}>
          {figures.map(
            (figure) =>
              (looks === 'all' || looks === figure.which) && (
                <Figure key={figure.which} index={index} figure={figure} />
              ),
          )}
        </div>
      ))}
    </div>
  );
}
