// SPDX-License-Identifier: Apache-2.0
//
// One sample with the five likeliest classes of float, A and B, and the slider over the samples, the worst first.

import { useEffect, useState } from 'preact/hooks';

import { answered, className } from '../job/answers';
import { resultOf } from '../job/configurations';
import { topFive, type TopFive } from '../job/likeliest';
import { problemOf } from '../job/problem';
import { preprocessing, result, running, samples } from '../job/state';
import { percent } from '../numbers';
import { nameOf, useLooks, WorstSlider } from './Divided';
import { Sample } from './Pictures';

/** Samples gone through: each is run in float and in every configuration again. */
const mostLookedAt = 24;

function Classes({ five, label }: { readonly five: TopFive; readonly label: number | null }) {
  const looks = useLooks();
  const shown = (['F', 'A', 'B'] as const).filter((which) => five.of[which] && (looks === 'all' || looks === which));
  return (
    <div class="top-five">
      {shown.map((which) => (
        <table key={which} class="figures">
          <caption>{nameOf(which)}</caption>
          <tbody>
            {five.of[which]?.map(({ output, share }) => (
              <tr key={output} class={output === label ? 'label' : ''}>
                <th scope="row">
                  {className(output)}
                  {output === label && <span class="visually-hidden"> (the label)</span>}
                </th>
                <td class="right">{percent(share, 1)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </div>
  );
}

/** `number`: of one sample, whose picture is elsewhere; null goes through those that were evaluated. */
export function Closer({ number }: { readonly number: number | null }) {
  const [rows, setRows] = useState<readonly TopFive[] | null>(null);
  const [fault, setFault] = useState('');
  const [at, setAt] = useState(0);
  const done = result.value;
  const isWaiting = running.value || !done || done.pending !== null;
  useEffect(() => {
    if (isWaiting) return undefined;
    const abort = new AbortController();
    setFault('');
    topFive(mostLookedAt, abort.signal, number).then(
      (found) => {
        if (abort.signal.aborted) return;
        setRows(found);
        setAt(0);
      },
      (error: unknown) => !abort.signal.aborted && setFault(problemOf(error).message),
    );
    return () => abort.abort();
  }, [isWaiting, number, done?.quantized, resultOf('B')?.quantized, samples.value, preprocessing.value]);
  if (fault) return <p class="soft">The likeliest classes could not be shown: {fault}</p>;
  if (!rows) return <p class="soft">Running the samples …</p>;
  const five = rows[Math.min(at, rows.length - 1)];
  if (!five) return null;
  const row = answered().find(({ index }) => index === five.index);
  return (
    <div class="closer" data-testid="closer">
      {number === null && <WorstSlider at={at} of={rows.length} onMove={setAt} />}
      <div class="closer-row">
        {number === null && row && <Sample index={row.index} path={row.path} />}
        <Classes five={five} label={row?.label ?? null} />
      </div>
      {number === null && row && <p class="soft">{row.path}</p>}
    </div>
  );
}
