// SPDX-License-Identifier: Apache-2.0
//
// Outputs that are neither classes nor drawn over a picture: the same values of float, A and B as bars, those that differ most. A
// table, whose bars are what its numbers say.

import { useSignal } from '@preact/signals';

import { mostBars, type Bars, type BarsOfSample, type ValueBar } from '../job/bars';
import type { Which } from '../job/drawings';
import { looksAt } from '../job/state';
import { count, counted, decibels, fixed, none, range, shortName, value } from '../numbers';
import { useFold } from './fold';
import { Badge } from './Icons';
import { Neighbours } from './Neighbours';

/** Rows shown before "Show all". */
const firstRows = 12;
const wide = 200;
const thick = 5;
const titles = { F: 'Float', A: 'Configuration A', B: 'Configuration B' } as const;

function Bar(props: {
  readonly bar: ValueBar;
  readonly letters: readonly Which[];
  readonly ends: Bars['outputs'][number];
}) {
  const { bar, letters, ends } = props;
  const span = ends.high - ends.low || 1;
  const along = (x: number) => (wide * (x - ends.low)) / span;
  const high = letters.length * (thick + 2);
  return (
    <svg viewBox={`0 0 ${wide} ${high}`} width="100%" height={high} preserveAspectRatio="none" aria-hidden="true">
      {letters.map((letter, k) => {
        const x = bar.values[letter];
        if (x === undefined || !Number.isFinite(x)) return null;
        const [from, to] = [Math.min(along(0), along(x)), Math.max(along(0), along(x))];
        return (
          <rect
            key={letter}
            class={`value-bar value-bar-${letter.toLowerCase()}`}
            x={from}
            y={k * (thick + 2) + 1}
            width={Math.max(to - from, 1)}
            height={thick}
          />
        );
      })}
      <path class="value-zero" d={`M${along(0)} 0V${high}`} />
    </svg>
  );
}

/** Digits after the point that tell the values apart. */
function digitsFor(bars: readonly ValueBar[]): number {
  const far = bars.flatMap(({ values: { F = 0, A = F, B = F } }) => [Math.abs(A - F), Math.abs(B - F)]);
  const most = Math.max(...far.filter((one) => Number.isFinite(one)), 0);
  return most > 0 ? Math.min(6, Math.max(0, Math.ceil(1 - Math.log10(most)))) : 2;
}

/** What is beyond these digits is told as elsewhere. */
function numberText(x: number | undefined, digits: number): string {
  if (x === undefined || !Number.isFinite(x)) return none;
  return Math.abs(x) >= 1e5 || (x !== 0 && Math.abs(x) < 0.5 * 10 ** -digits) ? value(x) : fixed(x, digits);
}

/** "The 24 of 514 values that differ most from float in sample 3. All of them: A 31.2 dB." */
function words({ bars, of, index, sqnr }: BarsOfSample): string {
  const which =
    of > mostBars
      ? `The ${count(mostBars)} of ${count(of)} output values that differ most from float in sample ${count(index)}, against the spread of their output.`
      : `${of === 1 ? 'The one output value' : `All ${counted(bars.length, 'output value')}`} of sample ${count(index)}.`;
  const kept = Object.entries(sqnr).map(([letter, dB]) => `${letter} ${dB === null ? 'is as float' : decibels(dB)}`);
  return `${which} Over the whole sample: ${kept.join(', ')}. Values are in the model’s own unit.`;
}

export function ValueBars({ bars }: { readonly bars: Bars }) {
  const chosen = useSignal(0);
  const at = Math.min(chosen.value, bars.samples.length - 1);
  const sample = bars.samples[at];
  const looks = looksAt.value;
  const there = (['F', 'A', 'B'] as const).filter((letter) => sample?.bars.some(({ values }) => letter in values));
  const letters = there.filter((letter) => looks === 'all' || looks === letter);
  const [shown, more] = useFold(sample?.bars ?? [], firstRows, 'values');
  if (!sample) return null;
  const named = bars.outputs.filter((_, output) => sample.bars.some((bar) => bar.output === output));
  const isOne = named.length === 1;
  const digits = digitsFor(sample.bars);
  return (
    <div class="block pictures-block" data-testid="value-bars">
      <div class="tab-bar">
        <h3 class="tab chosen">Values</h3>
        <span class="pair">
          <span class="soft">sample {count(sample.index)}</span>
          <Neighbours what="sample" at={at} last={bars.samples.length - 1} go={(to) => (chosen.value = to)} />
        </span>
      </div>
      <p class="soft" aria-live="polite">
        {words(sample)}
      </p>
      <table class="figures value-bars">
        <thead>
          <tr>
            <th scope="col">{isOne ? shortName(named[0]?.name ?? '') : 'Value'}</th>
            <td class="soft">
              {named.map(({ name, low, high }) => (
                <span class="sub" key={name}>
                  {isOne ? `${letters.join(', ')} from` : shortName(name)} {range(low, high)}
                </span>
              ))}
            </td>
            {letters.map((letter) => (
              <th scope="col" class="right" key={letter}>
                <Badge letter={letter} title={titles[letter]} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((bar) => {
            const ends = bars.outputs[bar.output];
            return (
              <tr key={`${bar.output} ${bar.at.join()}`}>
                <th scope="row">
                  [{bar.at.join(', ')}]{!isOne && <span class="sub">{shortName(ends?.name ?? '')}</span>}
                </th>
                <td class="value-bar-cell">{ends && <Bar bar={bar} letters={letters} ends={ends} />}</td>
                {letters.map((letter) => (
                  <td class="right" key={letter}>
                    {numberText(bar.values[letter], digits)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
      {more}
    </div>
  );
}
