// SPDX-License-Identifier: Apache-2.0
//
// Error over size: a point for each budget. A point that is chosen becomes the budget of the settings.

import { undo, undoKind } from '../job/history';
import { budgetInForce, cancelTradeoff, choiceOfPoint, choosePoint, compareBudgets } from '../job/tradeoff';
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

function Plot(props: { readonly curve: Curve }) {
  const { curve } = props;
  const [box, width] = useWidth<HTMLDivElement>(480);
  const shown = curve.points.filter((point) => point.sqnr !== null);
  const budgets = shown.map((point) => point.budget);
  const errors = shown.map((point) => point.sqnr ?? 0);
  const x = (point: TradeoffPoint) => left + (width - left - right) * share(point.budget, budgets);
  const y = (point: TradeoffPoint) => base - (base - top) * share(point.sqnr ?? 0, errors);
  const inForce = budgetInForce(curve);
  const [least, most] = [shown.at(0), shown.at(-1)];
  return (
    <div ref={box} class="tradeoff-plot">
      {least && most && (
        <svg
          width={width}
          height={base + 28}
          role="img"
          aria-label="Output SQNR over the budget; the table below has the numbers"
        >
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
          {shown.map((point) => (
            <circle
              key={point.budget}
              class={point.budget === inForce ? 'tradeoff-point chosen' : 'tradeoff-point'}
              cx={x(point)}
              cy={y(point)}
              r={point.budget === inForce ? 6 : 4}
              onClick={() => choosePoint(curve, point)}
            />
          ))}
        </svg>
      )}
    </div>
  );
}

function Points(props: { readonly curve: Curve }) {
  const { curve } = props;
  const inForce = budgetInForce(curve);
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
        {curve.points.map((point) => (
          <tr key={point.budget}>
            <th scope="row">{curve.resource === 'weights_memory' ? kilobytes(point.budget) : count(point.budget)}</th>
            <td>{kilobytes(point.sizeBytes)}</td>
            <td>{decibels(point.sqnr)}</td>
            <td>{point.share === null ? none : `${percent(point.share)} of ${count(point.count)}`}</td>
            <td>
              {point.budget === inForce ? (
                <span class="soft">in force</span>
              ) : (
                <button type="button" class="link" onClick={() => choosePoint(curve, point)}>
                  Choose<span class="visually-hidden"> {budgetText(curve, point.budget)}</span>
                </button>
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
      <div class="block-head">
        <h3>Size against error</h3>
        <span class="soft">
          {progress
            ? `${count(progress.done)} of ${count(progress.of)} budgets`
            : 'one quantization for each of several budgets'}
        </span>
      </div>
      {problem && <ProblemCard problem={problem} onDismiss={() => (tradeoffProblem.value = null)} />}
      {curve && curve.points.length > 1 && <Plot curve={curve} />}
      {curve && curve.points.length > 0 && <Points curve={curve} />}
      <div class="actions">
        {progress ? (
          <button type="button" class="link" onClick={cancelTradeoff}>
            Cancel
          </button>
        ) : (
          <button
            type="button"
            class="link"
            disabled={!canQuantize.value || running.value}
            onClick={() => void compareBudgets()}
          >
            {curve ? 'Compare budgets again' : 'Compare budgets'}
          </button>
        )}
        {undoKind.value === choiceOfPoint && (
          <button type="button" class="link" onClick={undo}>
            Undo the choice
          </button>
        )}
      </div>
    </div>
  );
}
