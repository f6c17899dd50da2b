// SPDX-License-Identifier: Apache-2.0
//
// One result in three states: the answer, which is a sentence, what changed, and one button; why; and everything.

import { DownloadModel } from './Downloads';
import { answered, className } from '../job/answers';
import { active, result, running, view, views, type View } from '../job/state';
import { wordOf } from '../job/verdict';
import { counted, fixed, size } from '../numbers';
import { RadioSwitch } from './Configurations';
import { DrawnOutputs } from './DrawnOutputs';
import { NoteSign } from './Icons';
import { Thumbnail } from './Pictures';

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

/** Samples shown whose answer changed. */
const changedShown = 3;

/** The samples that got another answer. */
function Changed() {
  const rows = answered();
  const letter = active.value;
  const changed = rows.filter((row) => row[letter] !== null && row[letter] !== row.F);
  if (changed.length === 0) return null;
  return (
    <ul class="answered-list answer-changed">
      {changed.slice(0, changedShown).map((row) => (
        <li key={row.index} class="answered">
          <Thumbnail index={row.index} path={row.path} />
          <span>
            {className(row.F)} → {className(row[letter] ?? row.F)}
          </span>
        </li>
      ))}
      {changed.length > changedShown && (
        <li class="answered soft">and {counted(changed.length - changedShown, 'other')}</li>
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
      {word.isOfFile && <Changed />}
      {word.isOfFile && <DrawnOutputs isBrief />}
      {word.isOfFile && <Gains />}
      <DownloadModel class="download in-page" />
    </div>
  );
}
