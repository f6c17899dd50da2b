// SPDX-License-Identifier: Apache-2.0
//
// One result in three states: the answer, which is a sentence, what changed, and one button; why; and everything.

import { DownloadModel } from './Downloads';
import { answered, className, type Answered as AnsweredRow } from '../job/answers';
import { active, preview, result, running, view, views, type View } from '../job/state';
import { wordOf } from '../job/verdict';
import { counted, fixed, size } from '../numbers';
import { RadioSwitch } from './Configurations';
import { DrawnOutputs } from './DrawnOutputs';
import { NoteSign } from './Icons';
import { LazyCloser } from './LazyCloser';
import { Sample } from './Pictures';
import { Elsewhere, Question } from './Verdict';

const viewWords: Readonly<Record<View, string>> = { answer: 'Answer', why: 'Why', everything: 'Everything' };

export function ViewSwitch() {
  return (
    <RadioSwitch
      name="view"
      legend="How much is shown of the result"
      value={view.value}
      choices={views.map((one) => [one, viewWords[one]] as const)}
      onChoose={(one) => (view.value = one)}
    />
  );
}

/** Samples shown whose answer changed, and of pictures in all: the others stand for those that did not change. */
const changedShown = 3;
const picturesShown = 10;

/** The samples that got another answer, and of pictures some that did not. */
function Answered() {
  const rows = answered();
  const letter = active.value;
  const isChanged = (row: AnsweredRow) => row[letter] !== null && row[letter] !== row.F;
  const changed = rows.filter(isChanged);
  const same = preview.value?.picture ? rows.filter((row) => !isChanged(row)) : [];
  const first = changed.slice(0, changedShown);
  const room = Math.min(same.length, picturesShown - first.length);
  const spread = Array.from({ length: room }, (_, k) => same[Math.floor((k * same.length) / room)]);
  const shown = [...first, ...spread].filter((row) => row !== undefined);
  if (shown.length === 0) return null;
  return (
    <ul class="answered-list answer-pictures">
      {shown.map((row) => (
        <li key={row.index} class="answered">
          <Sample index={row.index} path={row.path} />
          <span>{isChanged(row) ? `${className(row.F)} → ${className(row[letter] ?? row.F)}` : className(row.F)}</span>
        </li>
      ))}
      {changed.length > changedShown && (
        <li class="answered soft">and {counted(changed.length - changedShown, 'other')} changed</li>
      )}
    </ul>
  );
}

/** Bytes and speed, beside the float model's. */
function Gains() {
  const done = result.value;
  if (!done) return null;
  const { model, output, time } = done.quantized.report;
  return (
    <dl class="answer-figures">
      <div>
        <dt>of {size(model.size_bytes)}</dt>
        <dd class="readout">{size(output.size_bytes)}</dd>
      </div>
      {time && (
        <div>
          <dt>times as fast{time.measured ? '' : ', expected'}</dt>
          <dd class="readout">{fixed(time.times_as_fast, 1)}</dd>
        </div>
      )}
    </dl>
  );
}

/** The first state: nothing in it needs to be known beforehand. */
export function Answer() {
  const done = result.value;
  const word = done && wordOf(done);
  if (!done || !word)
    return <p class="answer soft">{running.value ? 'Whether the new file can be used is being measured.' : ''}</p>;
  return (
    <div class="answer" role="group" aria-labelledby="answer-title" data-testid="answer">
      <h3 id="answer-title" class={`answer-title note-${word.kind}`}>
        <NoteSign kind={word.kind} /> {word.title}
      </h3>
      <p class="answer-sentence">{word.plain}</p>
      <Question />
      {word.isOfFile && <Elsewhere />}
      {word.isOfFile && <Answered />}
      {word.isOfFile && <LazyCloser number={null} />}
      {word.isOfFile && view.value === 'answer' && <DrawnOutputs isBrief />}
      {word.isOfFile && <Gains />}
      <DownloadModel class="download in-page" />
    </div>
  );
}
