// SPDX-License-Identifier: Apache-2.0
//
// The same samples with what float, A and B make of them: masks and boxes over the pictures, or pictures, where the outputs' shapes say
// that they are such, else bars of values; classes are shown elsewhere.

import { useEffect, useState } from 'preact/hooks';

import { agreementOf } from '../job/answers';
import { bars as barsAside, drawn as drawnAside } from '../job/aside';
import type { Bars } from '../job/bars';
import { resultOf } from '../job/configurations';
import type { Drawn, DrawRequest } from '../job/drawings';
import { runLooked } from '../job/looked';
import { problemOf } from '../job/problem';
import { active, model, parked, preprocessing, preprocessingIsGuess, result, running, samples } from '../job/state';
import { Divided, nameOf, WorstSlider } from './Divided';
import { Note } from './Note';
import { ValueBars } from './ValueBars';

/** Samples drawn: each is run in float and in every configuration again. */
const shownSamples = 8;

interface Shown {
  readonly drawn: Drawn | null;
  readonly bars: Bars | null;
}

/** Runs a few of the evaluated samples; null where outputs are not shown this way. */
async function showAll(mayDraw: boolean, mayList: boolean, signal: AbortSignal): Promise<Shown | null> {
  let isDrawn = false;
  // where the first cannot be drawn the others need not run for it
  const isWanted = async (float: DrawRequest['float']) => {
    const isBgr = preprocessing.value?.channels === 'BGR';
    isDrawn = mayDraw && (await drawnAside({ isBgr, float: float.slice(0, 1), others: [] }, false)) !== null;
    return isDrawn || mayList;
  };
  const runs = await runLooked(shownSamples, signal, isWanted);
  if (!runs) return null;
  return isDrawn ? { drawn: await drawnAside(runs, true), bars: null } : { drawn: null, bars: await barsAside(runs) };
}

/** One of the samples, float's drawing beside the open configuration's. */
function Compared({ rows, isBrief }: { readonly rows: Drawn['rows']; readonly isBrief: boolean }) {
  const [at, setAt] = useState(0);
  useEffect(() => setAt(0), [rows]);
  const row = rows[Math.min(at, rows.length - 1)];
  const float = row?.figures.find(({ which }) => which === 'F');
  const other = row?.figures.find(({ which }) => which === active.value) ?? row?.figures[1];
  if (!row || !float || !other) return null;
  return (
    <figure class="compared" data-testid={isBrief ? 'drawn-first' : 'drawn-compared'}>
      <Divided index={row.index} float={float} other={other} />
      <figcaption>
        {[float, other].map((figure) => (
          <span key={figure.which}>
            <b>{nameOf(figure.which)}</b> {figure.said}
          </span>
        ))}
      </figcaption>
      <WorstSlider at={at} of={rows.length} onMove={setAt} />
    </figure>
  );
}

/** `isBrief`: the pictures alone, where there are any. */
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
  const compared = <Compared rows={drawn.rows} isBrief={isBrief} />;
  if (isBrief) return compared;
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
      {compared}
    </div>
  );
}
