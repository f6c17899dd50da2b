// SPDX-License-Identifier: Apache-2.0
//
// The curve of budgets: one quantization for each, all from one calibration. A limit on size, accuracy or time is searched for between
// its points. A point that is chosen becomes the budget of the settings, and can be taken back.

import { batch } from '@preact/signals';
import type {
  EvaluationResult,
  MixedPrecisionQuantizationConfig,
  QuantizationConfig,
  QuantizedResult,
  ResourceUtilization,
  Statistics,
} from 'tersor';

import { counted, kilobytes } from '../numbers';
import { stepAndSay } from './history';
import { isAbort, problemOf } from './problem';
import { gather, type Inputs } from './inputs';
import { compareLimit } from './work';
import { changed } from './coverage';
import * as state from './state';

type Resource = state.Tradeoff['resource'];

/** Points from the least weights to the most. */
const weightPoints = 6;
const floatPoints = [0, 1, 2, 4, 8];
/** Budgets tried between two points of the curve, each halving what is left. */
const searchSteps = 4;
/** More than the weights of any model have, so that all keep their bits. */
const everything = 1e15;

/** The kind of step that chooses a point, for the button that takes it back. */
export const choiceOfPoint = 'point of the curve';

let controller: AbortController | null = null;
/** What the curve was made from, and so is what is tried between its points. */
let kept: { readonly curve: string; readonly statistics: Statistics } | null = null;

function budgeted(config: QuantizationConfig, resource: Resource, budget: number | null): QuantizationConfig {
  const target: ResourceUtilization = config.target_resource_utilization ?? {};
  const mixed: MixedPrecisionQuantizationConfig = config.mixed_precision_config ?? {};
  return resource === 'weights_memory'
    ? { ...config, target_resource_utilization: { ...target, weights_memory: budget } }
    : { ...config, mixed_precision_config: { ...mixed, float_operators: budget } };
}

/** The samples and the signal of a call. */
function call(inputs: Inputs, signal: AbortSignal) {
  return { signal, ...inputs.preprocessing };
}

/** Statistics that hold the sensitivities, so that each point only chooses. */
function calibrated(inputs: Inputs, config: QuantizationConfig, signal: AbortSignal) {
  return inputs.model.handle.calibrate(inputs.set.files, {
    ...call(inputs, signal),
    ...inputs.settings,
    config,
    selection: inputs.calibration,
  });
}

/** A file's figures. */
function figures(
  budget: number,
  made: number | null,
  file: QuantizedResult,
  evaluation: EvaluationResult,
  sqnr: number | null,
): state.TradeoffPoint {
  const float = state.measured.value.float;
  const same = evaluation.agreement ? evaluation.agreement.same / evaluation.agreement.count : null;
  return {
    budget,
    made,
    sizeBytes: file.model.byteLength,
    sqnr,
    share: evaluation.value ?? same,
    lost:
      evaluation.value !== null && float?.value != null
        ? float.value - evaluation.value
        : same === null
          ? null
          : 1 - same,
    count: evaluation.count,
    milliseconds: file.report.time?.quantized_ms ?? null,
  };
}

/** The result that is shown, as a point: what is in force. */
function shownPoint(inputs: Inputs, resource: Resource, withoutBudget: number): state.TradeoffPoint | null {
  const shown = state.result.value;
  if (!shown || shown.key !== inputs.key || shown.dataKey !== inputs.dataKey || shown.pending !== null) return null;
  const made = budgetInForce({ resource });
  return figures(made ?? withoutBudget, made, shown.quantized, shown.int8, shown.comparison.output_sqnr_db);
}

async function measured(
  inputs: Inputs,
  made: QuantizedResult,
  budget: number,
  signal: AbortSignal,
): Promise<state.TradeoffPoint> {
  const float = state.measured.value.float;
  const evaluation = await made.evaluate(inputs.set.files, inputs.labels, {
    ...call(inputs, signal),
    selection: inputs.evaluation,
    reference: float ?? undefined,
  });
  const { output_sqnr_db } = await made.compare(inputs.set.files, {
    ...call(inputs, signal),
    selection: inputs.evaluation,
    limit: compareLimit,
  });
  return figures(budget, budget, made, evaluation, output_sqnr_db);
}

/** What a file may take at most; null is no limit. */
export interface Limits {
  /** Of the file. */
  readonly kilobytes: number | null;
  /** Right answers lost, in percentage points. */
  readonly points: number | null;
  /** Time, against the fastest of the curve. */
  readonly times: number | null;
}

/** A point of the curve as it is shown. */
interface ShownPoint extends state.TradeoffPoint {
  /** Its settings are those of the page, and its file the result. */
  readonly isInForce: boolean;
}

/**
 * The points as they are shown: a file of a smaller budget keeps to a larger one as well, so that where the larger budget's own is worse,
 * the better one stands in its place. What is in force stays what it is.
 */
export function risingPoints(
  { points }: Pick<state.Tradeoff, 'points'>,
  inForce: number | null,
): readonly ShownPoint[] {
  let best: state.TradeoffPoint | null = null;
  return points.map((point) => {
    const isInForce = point.made === inForce;
    const isWorse = best !== null && (point.sqnr ?? Infinity) < (best.sqnr ?? Infinity);
    if (best !== null && isWorse && !isInForce) return { ...best, budget: point.budget, isInForce };
    if (!isWorse) best = point;
    return { ...point, isInForce };
  });
}

/** The points of a curve that keep to all limits. */
function within({ points }: Pick<state.Tradeoff, 'points'>, limits: Limits): readonly state.TradeoffPoint[] {
  const { kilobytes: most, points: lost, times } = limits;
  const fastest = Math.min(...points.map(({ milliseconds }) => milliseconds ?? Infinity));
  return points.filter(
    (point) =>
      (most === null || point.sizeBytes <= 1000 * most) &&
      (lost === null || (point.lost !== null && 100 * point.lost <= lost + 1e-9)) &&
      (times === null || (point.milliseconds !== null && point.milliseconds <= times * fastest * (1 + 1e-9))),
  );
}

/** The smallest file is looked for, not the nearest to float. */
function wantsSmallest(limits: Limits): boolean {
  return limits.kilobytes === null && limits.times === null;
}

/**
 * The point of a curve that keeps to all limits: the nearest to float where size or time is limited, else the smallest file. Null
 * where there is none.
 */
export function pointWithin(curve: Pick<state.Tradeoff, 'points'>, limits: Limits): state.TradeoffPoint | null {
  const isSmall = wantsSmallest(limits);
  const better = (a: state.TradeoffPoint, b: state.TradeoffPoint) =>
    isSmall ? a.sizeBytes < b.sizeBytes : (a.sqnr ?? Infinity) > (b.sqnr ?? Infinity);
  return within(curve, limits).reduce<state.TradeoffPoint | null>(
    (best, one) => (best && !better(one, best) ? best : one),
    null,
  );
}

/** The two points between which a limit lies: what `pointWithin` takes, and its neighbour that goes beyond; null where none does. */
export function gapAt(
  curve: Pick<state.Tradeoff, 'points'>,
  limits: Limits,
): readonly [state.TradeoffPoint, state.TradeoffPoint] | null {
  const inside = pointWithin(curve, limits);
  if (!inside) return null;
  const next = curve.points[curve.points.indexOf(inside) + (wantsSmallest(limits) ? -1 : 1)];
  return next && !within(curve, limits).includes(next) ? [inside, next] : null;
}

/** The budget halfway; null where there is none, or the two are as good as one. */
export function halfway(
  curve: Pick<state.Tradeoff, 'points' | 'resource'>,
  [a, b]: readonly [state.TradeoffPoint, state.TradeoffPoint],
): number | null {
  const middle = (a.budget + b.budget) / 2;
  if (curve.resource === 'float_operators') {
    const whole = Math.round(middle);
    return whole === a.budget || whole === b.budget ? null : whole;
  }
  const all = (curve.points.at(-1)?.budget ?? 0) - (curve.points[0]?.budget ?? 0);
  return Math.abs(a.budget - b.budget) < 0.005 * all ? null : middle;
}

async function quantizedWithin(
  inputs: Inputs,
  statistics: Statistics,
  resource: Resource,
  budget: number,
  signal: AbortSignal,
): Promise<QuantizedResult> {
  return inputs.model.handle.quantize({
    ...call(inputs, signal),
    ...inputs.settings,
    config: budgeted(inputs.settings.config, resource, budget),
    statistics,
    samples: inputs.set.files,
    selection: inputs.calibration,
  });
}

/** One more point. */
async function pointAt(
  inputs: Inputs,
  statistics: Statistics,
  resource: Resource,
  budget: number,
  signal: AbortSignal,
): Promise<state.TradeoffPoint> {
  const made = await quantizedWithin(inputs, statistics, resource, budget, signal);
  try {
    return await measured(inputs, made, budget, signal);
  } finally {
    made.close();
  }
}

async function work(inputs: Inputs, signal: AbortSignal): Promise<void> {
  const { config } = inputs.settings;
  const key = state.tradeoffKey.value;
  let resource: Resource = 'weights_memory';
  let statistics = await calibrated(inputs, budgeted(config, resource, everything), signal);
  const first = await quantizedWithin(inputs, statistics, resource, everything, signal);
  const bits = first.report.trial?.bits;
  first.close();
  let budgets: number[] = [...floatPoints];
  if (bits && bits.operators.length > 0) {
    const [least, most] = [bits.least.weights_memory, bits.most.weights_memory];
    budgets = Array.from({ length: weightPoints }, (_, k) => least + ((most - least) * k) / (weightPoints - 1));
  } else {
    resource = 'float_operators';
    statistics = await calibrated(inputs, budgeted(config, resource, 1), signal);
  }
  kept = { curve: key, statistics };
  // Without a budget the weights have all their bits, and no operator is float for its sake.
  const shown = shownPoint(inputs, resource, resource === 'weights_memory' ? (budgets.at(-1) ?? 0) : 0);
  if (shown && !budgets.includes(shown.budget)) budgets = [...budgets, shown.budget].sort((a, b) => a - b);
  const points: state.TradeoffPoint[] = [];
  for (const [k, budget] of budgets.entries()) {
    signal.throwIfAborted();
    state.tradeoffRun.value = { kind: 'curve', done: k, of: budgets.length };
    points.push(budget === shown?.budget ? shown : await pointAt(inputs, statistics, resource, budget, signal));
    state.tradeoff.value = { key, resource, points: [...points] };
  }
}

/** Goes on until it is done or cancelled; whether it was done. */
async function run(job: (inputs: Inputs, signal: AbortSignal) => Promise<void>, begin: () => void): Promise<boolean> {
  const inputs = gather();
  if (!state.canQuantize.value || !inputs) return false;
  const mine = new AbortController();
  controller = mine;
  batch(() => {
    state.tradeoffProblem.value = null;
    begin();
  });
  try {
    await job(inputs, mine.signal);
    return true;
  } catch (error) {
    if (!isAbort(error)) state.tradeoffProblem.value = problemOf(error);
    return false;
  } finally {
    if (controller === mine) {
      controller = null;
      state.tradeoffRun.value = null;
    }
  }
}

/** Makes the curve; does nothing while something is missing or another job runs. */
export async function compareBudgets(): Promise<void> {
  const isDone = await run(work, () => {
    state.tradeoff.value = null;
    state.tradeoffRun.value = { kind: 'curve', done: 0, of: weightPoints };
    state.announcement.value = 'Comparing budgets.';
  });
  if (isDone) state.announcement.value = 'Budgets are compared.';
}

/** Tries budgets between the two points of the curve where a limit lies; they become points of it. */
async function search(inputs: Inputs, limits: Limits, signal: AbortSignal): Promise<void> {
  for (let done = 0; done < searchSteps; ++done) {
    const curve = state.tradeoff.value;
    const gap = curve && gapAt(curve, limits);
    const budget = gap && halfway(curve, gap);
    if (!curve || budget === null) return;
    state.tradeoffRun.value = { kind: 'search', done, of: searchSteps };
    if (kept?.curve !== curve.key)
      kept = {
        curve: curve.key,
        statistics: await calibrated(inputs, budgeted(inputs.settings.config, curve.resource, budget), signal),
      };
    const point = await pointAt(inputs, kept.statistics, curve.resource, budget, signal);
    const points = [...curve.points, point].sort((a, b) => a.budget - b.budget);
    state.tradeoff.value = { ...curve, points };
  }
}

/** Looks for what keeps to the limits, and takes it; false where no point of the curve does. */
export async function chooseWithin(curve: state.Tradeoff, limits: Limits): Promise<boolean> {
  if (!pointWithin(curve, limits)) return false;
  if (gapAt(curve, limits)) {
    const isDone = await run(
      (inputs, signal) => search(inputs, limits, signal),
      () => {
        state.tradeoffRun.value = { kind: 'search', done: 0, of: searchSteps };
        state.announcement.value = 'Searching for what fits.';
      },
    );
    if (!isDone) return true;
  }
  const found = state.tradeoff.value;
  const point = found && pointWithin(found, limits);
  if (point) choosePoint(found, point);
  return true;
}

export function cancelTradeoff(): void {
  controller?.abort();
}

/** The budget that is in force, in the curve's resource; null where there is none. */
export function budgetInForce(curve: Pick<state.Tradeoff, 'resource'>): number | null {
  const { target_resource_utilization: target, mixed_precision_config: mixed } = state.config.value;
  return (curve.resource === 'weights_memory' ? target?.weights_memory : mixed?.float_operators) ?? null;
}

/** Takes a point's budget into the settings, and makes the result anew. */
export function choosePoint(curve: state.Tradeoff, point: state.TradeoffPoint): void {
  const { made } = point;
  const words =
    made === null
      ? 'No budget'
      : curve.resource === 'weights_memory'
        ? `Weights of at most ${kilobytes(made)}`
        : `At most ${counted(made, 'operator in float', 'operators in float')}`;
  stepAndSay(
    words,
    () => {
      const next = budgeted(state.config.value, curve.resource, made);
      state.fields.value = { ...state.fields.value, ...next } as typeof state.fields.value;
    },
    choiceOfPoint,
  );
  changed();
}
