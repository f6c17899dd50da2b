// SPDX-License-Identifier: Apache-2.0
//
// The samples on which float, A and B disagree, each with its picture and the three answers, and how the confusion of classes
// changed.

import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { SamplePreview } from 'tersor';

import { answered, className, confusionChange, disagree, type Answered } from '../job/answers';
import { active, looksAt, model, parked, preprocessing, result, samples, view, type Letter } from '../job/state';
import { count, counted, percent } from '../numbers';
import { useFold } from './fold';
import { LazyCloser } from './LazyCloser';
import { Pixels } from './Pixels';
import { isSound, Player } from './Player';

type Filter = 'disagree' | 'lost' | 'won' | 'all';

/** What the reader chose; else those that disagree, where any do. */
const chosenFilter = signal<Filter | null>(null);
/** Samples shown before "Show all", and at most: each is decoded again. */
const firstShown = 12;
const mostShown = 96;
/** Classes of the table of confusion at most. */
const mostClasses = 16;

function isLost(row: Answered, letter: Letter): boolean {
  return row.label !== null && row.F === row.label && row[letter] !== null && row[letter] !== row.label;
}
function isWon(row: Answered, letter: Letter): boolean {
  return row.label !== null && row.F !== row.label && row[letter] === row.label;
}

function Thumbnail(props: { readonly index: number; readonly path: string }) {
  const { index, path } = props;
  const [shown, setShown] = useState<SamplePreview | null>(null);
  const [open, set, chosen] = [model.value, samples.value, preprocessing.value];
  useEffect(() => {
    const abort = new AbortController();
    const options = { signal: abort.signal, ...(chosen ? { preprocessing: chosen } : {}) };
    if (open && set) open.handle.previewSample(set.files, index, options).then(setShown, () => undefined);
    return () => abort.abort();
  }, [open, set, index, chosen]);
  const raster = shown?.picture;
  return <div class="thumbnail">{raster && <Pixels raster={raster} label={path} />}</div>;
}

/** The sample itself, to be seen or heard. */
export function Sample(props: { readonly index: number; readonly path: string }) {
  return isSound(props.path) ? <Player path={props.path} /> : <Thumbnail {...props} />;
}

function Answer(props: { readonly letter: string; readonly answer: number | null; readonly label: number | null }) {
  const { letter, answer, label } = props;
  if (answer === null) return null;
  const wrong = label !== null && answer !== label;
  return (
    <li class={wrong ? 'wrong-answer' : ''}>
      <span class="soft">{letter}</span> {wrong ? <s>{className(answer)}</s> : className(answer)}
      {wrong && <span class="visually-hidden"> (wrong)</span>}
    </li>
  );
}

function AnsweredSample({ row }: { readonly row: Answered }) {
  const looks = looksAt.value;
  return (
    <li class="answered">
      <Sample index={row.index} path={row.path} />
      <div>
        <ul class="answers">
          {(['F', 'A', 'B'] as const).map(
            (letter) =>
              (looks === 'all' || looks === letter) && (
                <Answer key={letter} letter={letter} answer={row[letter]} label={row.label} />
              ),
          )}
        </ul>
        <span class="sub" title={row.path}>
          {row.path}
        </span>
      </div>
    </li>
  );
}

/** Answers of a configuration minus those of float, by right class. */
function ConfusionTable(props: { readonly rows: readonly Answered[]; readonly letter: Letter }) {
  const confusion = confusionChange(props.rows, props.letter);
  if (!confusion || confusion.classes.length === 0 || confusion.classes.length > mostClasses) return null;
  const { classes, change } = confusion;
  return (
    <div class="confusion">
      <table class="figures">
        <caption>Change of confusion, {props.letter} minus float: right class by row, answer by column</caption>
        <thead>
          <tr>
            <th scope="col">
              <span class="visually-hidden">Right class</span>
            </th>
            {classes.map((answer) => (
              <th scope="col" key={answer}>
                {className(answer)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {classes.map((label) => (
            <tr key={label}>
              <th scope="row">{className(label)}</th>
              {classes.map((answer) => {
                const by = change.get(`${label} ${answer}`) ?? 0;
                const worse = by !== 0 && by > 0 !== (label === answer);
                return (
                  <td key={answer} class={worse ? 'worse' : ''}>
                    {by === 0 ? '' : `${by > 0 ? '+' : '−'}${Math.abs(by)}`}
                    {worse && <span class="visually-hidden"> worse</span>}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const filterWords: Readonly<Record<Filter, string>> = {
  disagree: 'Disagree',
  lost: 'Lost',
  won: 'Won',
  all: 'All',
};

export function Pictures() {
  const rows = result.value ? answered() : [];
  const letter = active.value;
  const found: Readonly<Record<Filter, readonly Answered[]>> = {
    disagree: rows.filter(disagree),
    lost: rows.filter((row) => isLost(row, letter)),
    won: rows.filter((row) => isWon(row, letter)),
    all: rows,
  };
  const filter = chosenFilter.value ?? (found.disagree.length > 0 ? 'disagree' : 'all');
  const chosen = found[filter];
  const [shown, more] = useFold(chosen.slice(0, mostShown), firstShown, 'samples');
  if (rows.length === 0) return null;
  const labelled = rows.every((row) => row.label !== null);
  const filters = (Object.keys(filterWords) as Filter[]).filter(
    (one) => labelled || one === 'disagree' || one === 'all',
  );
  const names = parked.value ? 'Float, A and B' : 'Float and int8';
  return (
    <div class="block pictures-block" data-testid="pictures">
      <div class="tab-bar">
        <h3 class="tab chosen">Answers</h3>
        <fieldset class="switch">
          <legend class="visually-hidden">Samples shown</legend>
          {filters.map((one) => (
            <label key={one} class={filter === one ? 'chosen' : ''}>
              <input type="radio" name="answers" checked={filter === one} onChange={() => (chosenFilter.value = one)} />
              {filterWords[one]} {count(found[one].length)}
            </label>
          ))}
        </fieldset>
      </div>
      <p class="soft">
        {found.disagree.length === 0
          ? `${names} agree on all ${counted(rows.length, 'sample')}.`
          : `${names} disagree on ${counted(found.disagree.length, 'sample')} of ${count(rows.length)} (${percent(found.disagree.length / rows.length, 1)}).`}
        {labelled && found.disagree.length > 0 && ' Struck through: not the label.'}
        {chosen.length > mostShown && ` The first ${count(mostShown)} are shown.`}
      </p>
      {view.value === 'everything' && <LazyCloser number={null} />}
      {shown.length > 0 && (
        <ul class="answered-list">
          {shown.map((row) => (
            <AnsweredSample key={row.index} row={row} />
          ))}
        </ul>
      )}
      {more}
      <ConfusionTable rows={rows} letter={letter} />
    </div>
  );
}
