// SPDX-License-Identifier: Apache-2.0
//
// Error over size: a point for each budget. A point that is chosen becomes the budget of the settings.

import { useSignal, type Signal } from '@preact/signals';

import { undo, undoKind } from '../job/history';
import {
  budgetInForce,
  cancelTradeoff,
  choiceOfPoint,
  choosePoint,
  chooseWithin,
  compareBudgets,
  type Limits,
  risingPoints,
} from '../job/tradeoff';
import {
  canQuantize,
  result,
  running,
  tradeoff,
  tradeoffKey,
  tradeoffProblem,
  tradeoffRun,
  type Tradeoff as Curve,
  type TradeoffPoint,
} from '../job/state';
import { count, counted, decibels, kilobytes, none, percent } from '../numbers';
import { BlockHead } from './BlockHead';
import { NumberField } from './fields';
import { LinkButton } from './LinkButton';
import { ProblemCard } from './Note';
import { useWidth } from './width';

const left = 56;
const right = 20;
const top = 14;
const base = 150;

function budgetText(curve: Curve, budget: number): string {
  return curve.resource === 'weights_memory'
    ? kilobytes(budget)
    : counted(budget, 'operator in float', 'operators in float');
}

/** Where a number lies between the least and the most, 0 to 1; in the middle where all are one. */
function share(value: number, all: readonly number[]): number {
  const [least, most] = [Math.min(...all), Math.max(...all)];
  return most > least ? (value - least) / (most - least) : 0.5;
}

/** "40.0 kB: 25.3 dB, 96.67 % of 120". */
function pointText(curve: Curve, point: TradeoffPoint): string {
  const answers = point.share === null ? '' : `, ${percent(point.share)} of ${count(point.count)}`;
  return `${budgetText(curve, point.budget)}: ${decibels(point.sqnr)}${answers}`;
}

interface HandleProps {
  readonly curve: Curve;
  /** The points by rising budget, and where they lie. */
  readonly shown: readonly TradeoffPoint[];
  readonly x: (point: TradeoffPoint) => number;
  readonly y: (point: TradeoffPoint) => number;
  /** The point that it stands on. */
  readonly at: number;
  /** The point that it is dragged to; null while it is not. */
  readonly draft: Signal<number | null>;
  readonly take: (index: number) => void;
}

/** The point that is in force, dragged or moved with the arrow keys to another. */
function PointHandle({ curve, shown, x, y, at, draft, take }: HandleProps) {
  const point = shown[at];
  if (!point) return null;
  const nearest = (event: PointerEvent & { readonly currentTarget: SVGElement }) => {
    const place =
      event.clientX - (event.currentTarget.ownerSVGElement ?? event.currentTarget).getBoundingClientRect().left;
    const far = shown.map((one) => Math.abs(x(one) - place));
    return far.indexOf(Math.min(...far));
  };
  const key = (event: KeyboardEvent) => {
    const to = {
      ArrowLeft: at - 1,
      ArrowDown: at - 1,
      ArrowRight: at + 1,
      ArrowUp: at + 1,
      Home: 0,
      End: shown.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    take(Math.max(0, Math.min(shown.length - 1, to)));
  };
  return (
    <g
      class="tradeoff-handle"
      role="slider"
      tabIndex={0}
      aria-label={curve.resource === 'weights_memory' ? 'Weights at most' : 'Operators in float at most'}
      aria-valuemin={shown.at(0)?.budget}
      aria-valuemax={shown.at(-1)?.budget}
      aria-valuenow={point.budget}
      aria-valuetext={pointText(curve, point)}
      onKeyDown={key}
      // a finger on the point drags it, beside it the page; touch-action does not hold for parts of a drawing
      onTouchStart={(event) => event.preventDefault()}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        draft.value = at;
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) draft.value = nearest(event);
      }}
      onPointerUp={() => draft.value !== null && take(draft.value)}
      onPointerCancel={() => (draft.value = null)}
    >
      <circle class="tradeoff-reach" cx={x(point)} cy={y(point)} r="22" />
      <circle class="tradeoff-knob" cx={x(point)} cy={y(point)} r="7" />
    </g>
  );
}

/** The curve, and on it the point that is in force. */
function Plot(props: { readonly curve: Curve }) {
  const { curve } = props;
  const [box, width] = useWidth<HTMLDivElement>(480);
  const draft = useSignal<number | null>(null);
  const shown = risingPoints(curve, budgetInForce(curve)).filter((point) => point.sqnr !== null);
  const budgets = shown.map((point) => point.budget);
  const errors = shown.map((point) => point.sqnr ?? 0);
  const x = (point: TradeoffPoint) => left + (width - left - right) * share(point.budget, budgets);
  const y = (point: TradeoffPoint) => base - (base - top) * share(point.sqnr ?? 0, errors);
  const [least, most] = [shown.at(0), shown.at(-1)];
  if (!least || !most) return <div ref={box} class="tradeoff-plot" />;
  const chosen = shown.findIndex((point) => point.isInForce);
  const none = curve.resource === 'weights_memory' ? shown.length - 1 : 0;
  const at = Math.min(draft.value ?? (chosen >= 0 ? chosen : none), shown.length - 1);
  const take = (index: number) => {
    draft.value = null;
    const point = shown[index];
    if (point && index !== chosen) choosePoint(curve, point);
  };
  return (
    <div ref={box} class="tradeoff-plot">
      <svg width={width} height={base + 28} role="group" aria-label="Output SQNR over the budget">
        <path class="axis" d={`M${left} ${top}V${base}H${width - right}`} />
        <text x={left - 8} y={top + 4} text-anchor="end">
          {decibels(Math.max(...errors))}
        </text>
        <text x={left - 8} y={base} text-anchor="end">
          {decibels(Math.min(...errors))}
        </text>
        <text x={left} y={base + 20}>
          {budgetText(curve, least.budget)}
        </text>
        <text x={width - right} y={base + 20} text-anchor="end">
          {budgetText(curve, most.budget)}
        </text>
        <polyline class="tradeoff-line" points={shown.map((point) => `${x(point)},${y(point)}`).join(' ')} />
        {shown.map((point, k) => (
          <circle key={point.budget} class="tradeoff-point" cx={x(point)} cy={y(point)} r="4" onClick={() => take(k)} />
        ))}
        <PointHandle {...{ curve, shown, x, y, at, draft, take }} />
      </svg>
      <p class="soft" data-testid="tradeoff-point">
        {pointText(curve, shown[at] ?? most)}. Drag the point, or move it with the arrow keys, to choose another budget.
      </p>
    </div>
  );
}

const noLimits: Limits = { kilobytes: null, points: null, times: null };

/** Limits on what the file takes, from which a point of the curve follows, or one between two of them. */
function Within(props: { readonly curve: Curve }) {
  const { curve } = props;
  const limits = useSignal(noLimits);
  const refused = useSignal(false);
  const isTimed = curve.points.every(({ milliseconds }) => milliseconds !== null);
  const isAnswered = curve.points.every(({ lost }) => lost !== null);
  const limit = (name: keyof Limits, label: string, minimum: number) => (
    <NumberField
      label={label}
      value={limits.value[name]}
      minimum={minimum}
      nullable
      placeholder="no limit"
      onEnter={(value) => {
        limits.value = { ...limits.value, [name]: value };
        refused.value = false;
      }}
    />
  );
  const isEmpty = Object.values(limits.value).every((one) => one === null);
  const choose = () => {
    void chooseWithin(curve, limits.value).then((fits) => (refused.value = !fits));
  };
  return (
    <fieldset class="within">
      <legend>At most</legend>
      <div class="actions">
        {limit('kilobytes', 'kB of file', 0)}
        {isAnswered && limit('points', 'points lost', 0)}
        {isTimed && limit('times', 'times the fastest point’s time', 1)}
        <LinkButton disabled={isEmpty || running.value || tradeoffRun.value !== null} onClick={choose}>
          Choose what fits
        </LinkButton>
      </div>
      {refused.value && (
        <p class="field-wrong" role="alert">
          ✕ No point of the curve keeps to this. Allow more, or try “Prefer: accuracy” or another platform.
        </p>
      )}
    </fieldset>
  );
}

function Points(props: { readonly curve: Curve }) {
  const { curve } = props;
  return (
    <table class="figures">
      <caption class="visually-hidden">Error, accuracy and size by budget</caption>
      <thead>
        <tr>
          <th scope="col">{curve.resource === 'weights_memory' ? 'Weights' : 'In float'}</th>
          <th scope="col">File</th>
          <th scope="col">SQNR</th>
          <th scope="col">Answers</th>
          <th scope="col">
            <span class="visually-hidden">Choice</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {risingPoints(curve, budgetInForce(curve)).map((point) => (
          <tr key={point.budget}>
            <th scope="row">{curve.resource === 'weights_memory' ? kilobytes(point.budget) : count(point.budget)}</th>
            <td>{kilobytes(point.sizeBytes)}</td>
            <td>{decibels(point.sqnr)}</td>
            <td>{point.share === null ? none : `${percent(point.share)} of ${count(point.count)}`}</td>
            <td>
              {point.isInForce ? (
                <span class="soft">in force</span>
              ) : (
                <LinkButton onClick={() => choosePoint(curve, point)}>
                  Choose<span class="visually-hidden"> {budgetText(curve, point.budget)}</span>
                </LinkButton>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Tradeoff() {
  if (!result.value) return null;
  const curve = tradeoff.value?.key === tradeoffKey.value ? tradeoff.value : null;
  const progress = tradeoffRun.value;
  const problem = tradeoffProblem.value;
  return (
    <div class="block tradeoff" data-testid="tradeoff">
      <BlockHead
        title="Size against error"
        note={
          progress
            ? progress.kind === 'curve'
              ? `${count(progress.done)} of ${count(progress.of)} budgets`
              : `searching between two budgets, ${count(progress.done + 1)} of at most ${count(progress.of)}`
            : 'one quantization for each of several budgets'
        }
      />
      {problem && <ProblemCard problem={problem} onDismiss={() => (tradeoffProblem.value = null)} />}
      {curve && curve.points.length > 1 && <Plot curve={curve} />}
      {curve && curve.points.length > 0 && <Points curve={curve} />}
      {curve && curve.points.length > 1 && progress?.kind !== 'curve' && <Within curve={curve} />}
      <div class="actions">
        {progress ? (
          <LinkButton onClick={cancelTradeoff}>Cancel</LinkButton>
        ) : (
          <LinkButton disabled={!canQuantize.value || running.value} onClick={() => void compareBudgets()}>
            {curve ? 'Compare budgets again' : 'Compare budgets'}
          </LinkButton>
        )}
        {undoKind.value === choiceOfPoint && <LinkButton onClick={undo}>Undo the choice</LinkButton>}
      </div>
    </div>
  );
}
