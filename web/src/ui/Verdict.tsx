// SPDX-License-Identifier: Apache-2.0
//
// Whether the model can be used, said before anybody takes it away: the figures that decided, what is likely to be wrong, and the
// layers that make most of the error, each with a switch that keeps it in float.

import { isForX64 } from '../job/advice';
import { titleOf } from '../job/settings';
import { result, running, view } from '../job/state';
import { openQuestion, trustFloat, wordOf, worseElsewhere } from '../job/verdict';
import { counted, percent } from '../numbers';
import { KeepFloat } from './KeepFloat';
import { LayerName } from './LayerName';
import { LinkButton } from './LinkButton';
import { Note } from './Note';
import { TableHead } from './TableHead';

/** Layers shown with their switch. */
const worstShown = 3;

/** What is said of CPUs concerns platforms that run on them. */
function concerns(caution: string, platform: string): boolean {
  return !caution.includes('VNNI') || isForX64(platform);
}

/** Where the file may run on processors that make less of it, what they make of it. */
export function Elsewhere() {
  const done = result.value;
  const said = done && worseElsewhere(done);
  if (!said) return null;
  return (
    <Note kind="caution">
      <p data-testid="elsewhere">
        <b>Many PCs and servers from before 2022 make less of this file:</b> {said}.{' '}
        {view.value === 'answer' && <LinkButton onClick={() => (view.value = 'why')}>What to do about it</LinkButton>}
      </p>
    </Note>
  );
}

/** Without labels only the reader can say that float is right. */
export function Question() {
  const done = result.value;
  const question = done && wordOf(done)?.kind === 'note' && openQuestion(done);
  if (!done || !question) return null;
  return (
    <p class="soft" data-testid="float-question">
      {question} <LinkButton onClick={() => trustFloat(done)}>Yes, it is right</LinkButton>
    </p>
  );
}

export function Verdict() {
  const done = result.value;
  const verdict = done?.quantized.report.verdict ?? null;
  const word = done && wordOf(done);
  if (!done || !verdict || !word) {
    return (
      <div class="verdict">
        <Note kind="note">
          <h3>{done || running.value ? 'Measuring' : ''}</h3>
          <p>Whether the new file can be used is said when it has been measured.</p>
        </Note>
      </div>
    );
  }
  const { title, kind, reason } = word;
  return (
    <div class="verdict" role="group" aria-labelledby="verdict-title">
      <Note kind={kind}>
        <h3 id="verdict-title">{title}</h3>
        <p class="verdict-lead">{reason}</p>
        <Question />
        <VerdictReasons />
      </Note>
      {word.isOfFile && <Elsewhere />}
    </div>
  );
}

/** The figures that decided, what is likely to be wrong, and where the file would give something else. */
export function VerdictReasons() {
  const done = result.value;
  const verdict = done?.quantized.report.verdict;
  const word = done && wordOf(done);
  if (!verdict || !word) return null;
  const cautions = verdict.cautions.filter((one) => concerns(one, done.quantized.report.platform.name));
  return (
    <>
      {word.isOfFile && <p class="soft">{withTitles(verdict.reason)}</p>}
      {verdict.causes.length > 0 && <Remarks list={verdict.causes} />}
      {cautions.length > 0 && (
        <details>
          <summary>{counted(cautions.length, 'caution')}</summary>
          <Remarks list={cautions} />
        </details>
      )}
    </>
  );
}

/** The core names settings by their fields, the page by what the form calls them. */
function withTitles(remark: string): string {
  return remark.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (field) => {
    const title = titleOf(field);
    return title === field ? field : `“${title}”`;
  });
}

function Remarks(props: { readonly list: readonly string[] }) {
  return (
    <ul class="causes">
      {props.list.map((remark) => (
        <li key={remark}>{withTitles(remark)}</li>
      ))}
    </ul>
  );
}

/** The layers that make most of the error, each with its switch. */
export function WorstLayers() {
  const done = result.value;
  const verdict = done?.quantized.report.verdict;
  if (!done || !verdict) return null;
  const worst = verdict.worst_layers.slice(0, worstShown).flatMap((name) => {
    const layer = done.comparison.layers.find((row) => row.name === name);
    return layer ? [layer] : [];
  });
  return (
    <div class="worst-layers">
      {worst.length > 0 && (
        <table class="figures worst">
          <caption class="visually-hidden">Layers that make most of the error</caption>
          <TableHead of={['Most of the error comes from', ['Share', 'right'], 'Keep in float']} />
          <tbody>
            {worst.map((layer) => (
              <tr key={layer.output}>
                <LayerName row={layer} />
                <td class="right">{percent(layer.error_share, 1)}</td>
                <td>
                  <KeepFloat name={layer.name} isFloat={layer.range === null} hideLabel />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
