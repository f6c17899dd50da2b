// SPDX-License-Identifier: Apache-2.0
//
// Float beside int8. Columns keep their places, and a dash stands until a value is there, so that nothing moves.

import type { ComponentChildren } from 'preact';
import type { Agreement, Comparison, EvaluationResult } from 'tersor';

import { coverage, expectedBytes, measured, model, result, resultIsOld, running } from '../job/state';
import {
  count,
  counted,
  decibels,
  outputDecibels,
  fixed,
  halfWidth,
  none,
  percent,
  percentFigure,
  points,
  size,
  thin,
  times,
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

interface RowProps {
  readonly title: ComponentChildren;
  readonly float: ComponentChildren;
  readonly int8: ComponentChildren;
  readonly aside?: ComponentChildren;
  readonly first?: boolean;
}

function Row(props: RowProps) {
  return (
    <tr class={props.first ? 'first' : ''}>
      <th scope="row">{props.title}</th>
      <td>{props.float}</td>
      <td>{props.int8}</td>
      <td class="aside">{props.aside}</td>
    </tr>
  );
}

function agreementOf(int8: EvaluationResult | null, other: Agreement | null): Agreement | null {
  return int8?.agreement ?? other;
}

export function overlapSentence(float: EvaluationResult, int8: EvaluationResult): string {
  if (!float.interval || !int8.interval) return '';
  const overlap = float.interval.lower <= int8.interval.upper && int8.interval.lower <= float.interval.upper;
  return overlap
    ? `The intervals overlap: ${count(int8.count)} samples cannot tell these two apart.`
    : 'The intervals do not overlap: the difference is larger than chance.';
}

/** "48 samples, 22.3 dB in the median one". */
function samplesInWords({ samples, output_sqnr_db, median_sqnr_db }: Comparison): string {
  const all = counted(samples, 'sample');
  return output_sqnr_db === null || samples < 2 ? all : `${all}, ${decibels(median_sqnr_db)} in the median one`;
}

export function ComparisonTable() {
  const done = result.value;
  const float = done?.float ?? (running.value ? measured.value.float : null);
  const int8 = done?.int8 ?? null;
  const labelled = float ? float.value !== null : true;
  // Maps, boxes and the like: their largest value is no answer, unless labels say that it is.
  const isNoAnswer = done !== null && !labelled && done.comparison.agreement === null;
  const agreement = isNoAnswer ? null : agreementOf(int8, done?.comparison.agreement ?? null);
  const report = done?.quantized.report;
  const shownCoverage = report?.coverage ?? coverage.value;
  const info = model.value?.handle.info;
  const floatBytes = report?.model.size_bytes ?? info?.size_bytes ?? null;
  const intBytes = report?.output.size_bytes ?? expectedBytes.value;
  const same = agreement && agreement.count > 0 ? agreement.same / agreement.count : null;
  const sameWords = agreement ? `${count(agreement.same)} of ${count(agreement.count)}` : '';
  return (
    <table class="comparison">
      <caption class="visually-hidden">Float beside int8</caption>
      <thead>
        <tr>
          <td />
          <th scope="col">
            <Badge letter="F" title="Float" /> <span class="column-word">Float</span>
          </th>
          <th scope="col">
            <Badge letter="A" title="Configuration A" /> <span class="column-word">Int8</span>{' '}
            {(resultIsOld.value || done?.pending === 'figures') && <span class="chip">old</span>}
          </th>
          <td class="aside" />
        </tr>
      </thead>
      <tbody>
        {labelled ? (
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
              int8={<Readout share={int8?.value} />}
            />
            <Row
              title="Change, points"
              float={none}
              int8={float?.value != null && int8?.value != null ? points(int8.value - float.value) : none}
              aside={float && int8 ? changeInWords(float, int8) : ''}
            />
            <Row title="Same answer as float" float={none} int8={percent(same)} aside={sameWords} />
          </>
        ) : (
          <Row
            first
            title={
              <>
                Same answer as float
                {float && <span class="sub">n = {count(float.count)}</span>}
              </>
            }
            float={none}
            int8={<Readout share={same} />}
            aside={isNoAnswer ? 'the output is not known to be classes' : sameWords}
          />
        )}
        <Row
          title="Output SQNR"
          float={none}
          int8={done ? outputDecibels(done.comparison) : none}
          aside={done ? samplesInWords(done.comparison) : ''}
        />
        <Row
          title="File size"
          float={size(floatBytes)}
          int8={size(intBytes)}
          aside={
            intBytes === null
              ? ''
              : report
                ? floatBytes !== null
                  ? `${times(floatBytes / intBytes)} smaller`
                  : ''
                : 'expected'
          }
        />
        <Row
          title="Runs as integer"
          float={none}
          int8={
            shownCoverage ? `${count(shownCoverage.integer_core_nodes)} of ${count(shownCoverage.core_nodes)}` : none
          }
          aside={shownCoverage ? 'core nodes' : ''}
        />
      </tbody>
    </table>
  );
}

/** The two intervals on one axis, in percent. */
export function Intervals(props: { readonly float: EvaluationResult | null; readonly int8: EvaluationResult | null }) {
  const shown = [
    { letter: 'F' as const, result: props.float },
    { letter: 'A' as const, result: props.int8 },
  ].flatMap(({ letter, result: r }) =>
    r?.interval && r.value !== null ? [{ letter, value: r.value, interval: r.interval }] : [],
  );
  if (shown.length === 0) return null;
  const low = Math.max(0, Math.min(...shown.map((s) => s.interval.lower)));
  const high = Math.min(1, Math.max(...shown.map((s) => s.interval.upper)));
  const step = niceStep((high - low) * 100);
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
            `${s.letter === 'F' ? 'Float' : 'Int8'} ${percent(s.value)}, 95 % interval ${percent(s.interval.lower)} to ${percent(s.interval.upper)}`,
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

/** A step of 1, 2 or 5 times a power of ten that gives about three intervals. */
function niceStep(span: number): number {
  const raw = Math.max(span, 0.1) / 3;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * ([1, 2, 5].find((factor) => factor * power >= raw) ?? 10);
}
