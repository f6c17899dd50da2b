// SPDX-License-Identifier: Apache-2.0
//
// Float beside int8. Columns keep their places, and a dash stands until a value is there, so that nothing moves.

import type { ComponentChildren } from 'preact';
import type { Comparison, EvaluationResult } from 'tersor';

import { agreementOf } from '../job/answers';
import { otherLetter } from '../job/configurations';
import {
  active,
  coverage,
  expectedBytes,
  looksAt,
  measured,
  model,
  parked,
  parkedIsOld,
  parkedResult,
  result,
  resultIsOld,
  running,
  type Letter,
  type Result,
} from '../job/state';
import { withoutVnniOf } from '../job/verdict';
import {
  count,
  counted,
  decibels,
  fixed,
  halfWidth,
  niceStep,
  none,
  outputDecibels,
  percent,
  percentFigure,
  points,
  size,
  sizeWords,
  thin,
} from '../numbers';
import { Badge } from './Icons';

const metricNames: Readonly<Record<EvaluationResult['metric'], string>> = {
  top1: 'Top-1 accuracy',
  top5: 'Top-5 accuracy',
  auc: 'Area under the curve',
  'reconstruction-auc': 'Area under the curve',
  answers: 'Same answer as float',
};

function changeInWords(float: EvaluationResult, int8: EvaluationResult): string {
  if (float.correct === null || int8.correct === null) return '';
  const more = int8.correct - float.correct;
  return more === 0 ? 'as many right' : `${count(Math.abs(more))} ${more > 0 ? 'more' : 'fewer'} right`;
}

function Readout(props: { readonly share: number | null | undefined }) {
  if (props.share == null) return <span class="readout">—</span>;
  return (
    <span class="readout">
      {percentFigure(props.share)}
      <span class="unit">{thin}%</span>
    </span>
  );
}

function DecibelReadout({ done }: { readonly done: Result }) {
  const [figure, unit] = outputDecibels(done.comparison).split(thin);
  return (
    <span class="readout">
      {figure}
      {unit && (
        <span class="unit">
          {thin}
          {unit}
        </span>
      )}
    </span>
  );
}

export function overlapSentence(float: EvaluationResult, int8: EvaluationResult): string {
  if (!float.interval || !int8.interval) return '';
  const overlap = float.interval.lower <= int8.interval.upper && int8.interval.lower <= float.interval.upper;
  return overlap
    ? `The intervals overlap: ${count(int8.count)} samples cannot tell these two apart.`
    : 'The intervals do not overlap: the difference is larger than chance.';
}

/** "median 22.3 dB, n = 48": in one line, so that nothing below moves when it comes. */
function samplesInWords({ samples, output_sqnr_db, median_sqnr_db }: Comparison): string {
  if (output_sqnr_db === null || samples < 2) return counted(samples, 'sample');
  return `median ${decibels(median_sqnr_db)}, n = ${count(samples)}`;
}

/** What one column shows of a configuration. */
interface Column {
  readonly letter: Letter;
  readonly done: Result | null;
  readonly old: boolean;
}

function columnsShown(): Column[] {
  const mine: Column = {
    letter: active.value,
    done: result.value,
    old: resultIsOld.value || result.value?.pending === 'figures',
  };
  if (!parked.value) return [mine];
  const other: Column = { letter: otherLetter(active.value), done: parkedResult.value, old: parkedIsOld.value };
  return mine.letter === 'A' ? [mine, other] : [other, mine];
}

/** Beside one configuration what is said of a figure has a column of its own; beside two it stands below the figure. */
function Row(props: {
  readonly title: ComponentChildren;
  readonly float: ComponentChildren;
  readonly cells: readonly { readonly figure: ComponentChildren; readonly aside?: ComponentChildren }[];
  readonly first?: boolean;
}) {
  const two = props.cells.length > 1;
  return (
    <tr class={props.first ? 'first' : ''}>
      <th scope="row">{props.title}</th>
      <td>{props.float}</td>
      {props.cells.map(({ figure, aside }, k) => (
        <td key={k}>
          {figure}
          {two && aside && <span class="sub">{aside}</span>}
        </td>
      ))}
      {!two && <td class="aside">{props.cells[0]?.aside}</td>}
    </tr>
  );
}

/** Change of a figure of the second configuration against the first; empty elsewhere. */
function change(
  columns: readonly Column[],
  k: number,
  of: (done: Result) => number | null,
  words: (x: number) => string,
) {
  const [a, b] = [columns[0]?.done, columns[1]?.done];
  if (k !== 1 || !a || !b || a.quantized === b.quantized) return '';
  const [x, y] = [of(a), of(b)];
  return x === null || y === null ? '' : `${words(y - x)} against A`;
}

function signed(x: number, digits: number, unit: string): string {
  const text = fixed(Math.abs(x), digits);
  return `${Number(text) === 0 ? '±' : x > 0 ? '+' : '−'}${text}${thin}${unit}`;
}

interface FigureRows {
  readonly columns: readonly Column[];
  readonly float: EvaluationResult | null;
  readonly first?: boolean;
}

/** Right answers, where there are labels. */
function AccuracyRows({ columns, float }: FigureRows) {
  return (
    <>
      <Row
        first
        title={
          <>
            {metricNames[float?.metric ?? 'top1']}
            {float?.interval && (
              <span class="sub">
                n = {count(float.count)}, {halfWidth(float.interval.lower, float.interval.upper)}
              </span>
            )}
          </>
        }
        float={<Readout share={float?.value} />}
        cells={columns.map(({ done }) => ({ figure: <Readout share={done?.int8.value} /> }))}
      />
      <Row
        title="Change, points"
        float={none}
        cells={columns.map(({ done }) => ({
          figure:
            done && done.float.value !== null && done.int8.value !== null
              ? points(done.int8.value - done.float.value)
              : none,
          aside: done ? changeInWords(done.float, done.int8) : '',
        }))}
      />
    </>
  );
}

/** Answers that are the float model’s; the first figure where there are no labels. */
function AnswersRow({ columns, float, first = false }: FigureRows) {
  return (
    <Row
      first={first}
      title={
        <>
          Same answer as float
          {first && float && <span class="sub">n = {count(float.count)}</span>}
        </>
      }
      float={none}
      cells={columns.map(({ done }) => {
        const agreement = done && agreementOf(done);
        const same = agreement && agreement.count > 0 ? agreement.same / agreement.count : null;
        return {
          figure: first ? <Readout share={same} /> : percent(same),
          aside: agreement ? `${count(agreement.same)} of ${count(agreement.count)}` : '',
        };
      })}
    />
  );
}

/** Where outputs are no answers it is the first figure. */
function SqnrRow({ columns, first = false }: { readonly columns: readonly Column[]; readonly first?: boolean }) {
  const against = (k: number) =>
    change(
      columns,
      k,
      (done) => done.comparison.output_sqnr_db,
      (x) => signed(x, 1, 'dB'),
    );
  return (
    <Row
      first={first}
      title="Output SQNR"
      float={none}
      cells={columns.map(({ done }, k) => ({
        figure: !done ? none : first ? <DecibelReadout done={done} /> : outputDecibels(done.comparison),
        aside: columns.length > 1 ? against(k) : done ? samplesInWords(done.comparison) : '',
      }))}
    />
  );
}

/** What x64 processors without VNNI give of the same samples, where that differs. */
function WithoutVnniRow({ columns }: { readonly columns: readonly Column[] }) {
  const found = columns.map(({ done }) => done && withoutVnniOf(done));
  if (found.every((one) => !one)) return null;
  return (
    <Row
      title={
        <>
          Without VNNI
          <span class="sub">older x64 processors</span>
        </>
      }
      float={none}
      cells={found.map((one) => {
        const kept = one?.agreement;
        const aside = kept ? `${count(kept.same)} of ${count(kept.count)} answers as float` : '';
        return { figure: one ? decibels(one.output_sqnr_db) : none, aside };
      })}
    />
  );
}

const bytesOf = (done: Result) => done.quantized.report.output.size_bytes;

function SizeRow({ columns, float }: { readonly columns: readonly Column[]; readonly float: number | null }) {
  return (
    <Row
      title="File size"
      float={size(float)}
      cells={columns.map(({ done, letter }, k) => {
        const bytes = done ? bytesOf(done) : letter === active.value ? expectedBytes.value : null;
        const ratio = bytes !== null && float !== null ? sizeWords(float / bytes) : '';
        const against = change(columns, k, bytesOf, (x) => signed(x / 1e3, 1, 'kB'));
        return { figure: size(bytes), aside: against || (done ? ratio : bytes === null ? '' : 'expected') };
      })}
    />
  );
}

function CoverageRow({ columns }: { readonly columns: readonly Column[] }) {
  return (
    <Row
      title="Runs as integer"
      float={none}
      cells={columns.map(({ done, letter }) => {
        const known = done?.quantized.report.coverage ?? (letter === active.value ? coverage.value : null);
        return {
          figure: known ? `${count(known.integer_core_nodes)} of ${count(known.core_nodes)}` : none,
          aside: known ? 'core nodes' : '',
        };
      })}
    />
  );
}

/** Accuracy, answers and error, what says most of them first. */
function Figures({ columns, float, isNoAnswer }: FigureRows & { readonly isNoAnswer: boolean }) {
  const labelled = !float || float.value !== null;
  if (isNoAnswer && !labelled)
    return (
      <>
        <SqnrRow first columns={columns} />
        <Row
          title="Same answer as float"
          float={none}
          cells={columns.map(() => ({ figure: none, aside: 'no known classes' }))}
        />
      </>
    );
  return (
    <>
      {labelled && <AccuracyRows columns={columns} float={float} />}
      <AnswersRow first={!labelled} columns={columns} float={float} />
      {!isNoAnswer && <SqnrRow columns={columns} />}
    </>
  );
}

export function ComparisonTable() {
  const columns = columnsShown();
  const anyDone = columns.find(({ done }) => done)?.done ?? null;
  const float = result.value?.float ?? (running.value ? measured.value.float : (anyDone?.float ?? null));
  const floatBytes = anyDone?.quantized.report.model.size_bytes ?? model.value?.handle.info.size_bytes ?? null;
  const two = columns.length > 1;
  return (
    <table class={`comparison ${two ? 'two' : ''} looks-${looksAt.value.toLowerCase()}`}>
      <caption class="visually-hidden">Float beside int8</caption>
      <thead>
        <tr>
          <td />
          <th scope="col">
            <Badge letter="F" title="Float" /> <span class="column-word">Float</span>
          </th>
          {columns.map(({ letter, old }) => (
            <th scope="col" key={letter}>
              <Badge letter={letter} title={`Configuration ${letter}`} />{' '}
              {!two && <span class="column-word">Int8</span>} {old && <span class="chip">old</span>}
            </th>
          ))}
          {!two && <td class="aside" />}
        </tr>
      </thead>
      <tbody>
        <Figures columns={columns} float={float} isNoAnswer={anyDone !== null && agreementOf(anyDone) === null} />
        <SizeRow columns={columns} float={floatBytes} />
        <CoverageRow columns={columns} />
        <WithoutVnniRow columns={columns} />
      </tbody>
    </table>
  );
}

/** What the last change came to, in a line. */
export function ChangeLine() {
  const done = result.value;
  const before = done?.before;
  if (!done || !before || done.pending) return null;
  const { value } = done.int8;
  const parts = [
    value !== null && before.value !== null ? `accuracy ${signed(100 * (value - before.value), 2, 'points')}` : '',
    done.comparison.output_sqnr_db !== null && before.sqnr !== null
      ? `output SQNR ${signed(done.comparison.output_sqnr_db - before.sqnr, 1, 'dB')}`
      : '',
    `file ${signed((done.quantized.report.output.size_bytes - before.bytes) / 1e3, 1, 'kB')}`,
  ].filter(Boolean);
  return (
    <p class="soft change-line" data-testid="change-line">
      Against the settings before: {parts.join(', ')}.
    </p>
  );
}

/** The intervals on one axis, in percent. */
export function Intervals(props: { readonly float: EvaluationResult | null }) {
  const shown = [
    { letter: 'F' as const, result: props.float },
    ...columnsShown().map(({ letter, done }) => ({ letter, result: done?.int8 ?? null })),
  ].flatMap(({ letter, result: r }) =>
    r?.interval && r.value !== null ? [{ letter, value: r.value, interval: r.interval }] : [],
  );
  if (shown.length === 0) return null;
  const low = Math.max(0, Math.min(...shown.map((s) => s.interval.lower)));
  const high = Math.min(1, Math.max(...shown.map((s) => s.interval.upper)));
  const step = niceStep(Math.max((high - low) * 100, 0.1), 3);
  const from = Math.floor((low * 100) / step) * step;
  const to = Math.ceil((high * 100) / step) * step;
  const along = (share: number) => 10 + (190 * (100 * share - from)) / Math.max(to - from, 1e-9);
  const ticks: number[] = [];
  for (let at = from; at <= to + 1e-9; at += step) ticks.push(at);
  const bottom = 16 * shown.length + 10;
  return (
    <svg
      class="intervals"
      viewBox={`0 0 232 ${bottom + 18}`}
      role="img"
      aria-label={shown
        .map(
          (s) =>
            `${s.letter === 'F' ? 'Float' : s.letter} ${percent(s.value)}, 95 % interval ${percent(s.interval.lower)} to ${percent(s.interval.upper)}`,
        )
        .join('; ')}
    >
      {ticks.map((at) => (
        <g key={at}>
          <path class="grid" d={`M${along(at / 100)} 0V${bottom}`} />
          <text class="tick" x={along(at / 100)} y={bottom + 14} text-anchor="middle">
            {fixed(at, step < 1 ? 1 : 0)}
          </text>
        </g>
      ))}
      {shown.map((s, row) => {
        const y = 10 + 16 * row;
        const x = along(s.value);
        return (
          <g key={s.letter}>
            <path
              class="whisker"
              d={`M${along(s.interval.lower)} ${y}H${along(s.interval.upper)}M${along(s.interval.lower)} ${y - 4}v8M${along(s.interval.upper)} ${y - 4}v8`}
            />
            {s.letter === 'F' ? (
              <circle class="point-f" cx={x} cy={y} r="4" />
            ) : s.letter === 'B' ? (
              <path class="point-b" d={`M${x} ${y - 5}l5 5l-5 5l-5 -5z`} />
            ) : (
              <rect class="point-a" x={x - 4} y={y - 4} width="8" height="8" />
            )}
            <text class="tick strong" x={along(s.interval.upper) + 8} y={y + 4}>
              {s.letter}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
