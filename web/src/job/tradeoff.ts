// SPDX-License-Identifier: Apache-2.0
//
// The curve of budgets: one quantization for each, all from one calibration. A point that is chosen becomes the budget of the
// settings, and can be taken back.

import { batch } from '@preact/signals';
import type {
  MixedPrecisionQuantizationConfig,
  QuantizationConfig,
  QuantizedResult,
  ResourceUtilization,
} from 'tersor';

import { counted, kilobytes } from '../numbers';
import { stepAndSay } from './history';
import { isAbort, problemOf } from './problem';
import { gather, type Inputs } from './quantize';
import { changed } from './settings';
import * as state from './state';

type Resource = state.Tradeoff['resource'];

/** Points from the least weights to the most. */
const weightPoints = 6;
const floatPoints = [0, 1, 2, 4, 8];
/** More than the weights of any model have, so that all keep their bits. */
const everything = 1e15;

/** The kind of step that chooses a point, for the button that takes it back. */
export const choiceOfPoint = 'point of the curve';

let controller: AbortController | null = null;

function within(config: QuantizationConfig, resource: Resource, budget: number): QuantizationConfig {
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
    limit: 32,
  });
  const same = evaluation.agreement ? evaluation.agreement.same / evaluation.agreement.count : null;
  return {
    budget,
    sizeBytes: made.model.byteLength,
    sqnr: output_sqnr_db,
    share: evaluation.value ?? same,
    lost:
      evaluation.value !== null && float?.value != null
        ? float.value - evaluation.value
        : same === null
          ? null
          : 1 - same,
    count: evaluation.count,
    milliseconds: made.report.time?.quantized_ms ?? null,
  };
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

/**
 * The point of a curve that keeps to all limits: the nearest to float where size or time is limited, else the smallest file. Null
 * where there is none.
 */
export function pointWithin(
  { points }: Pick<state.Tradeoff, 'points'>,
  { kilobytes: most, points: lost, times }: Limits,
): state.TradeoffPoint | null {
  const fastest = Math.min(...points.map(({ milliseconds }) => milliseconds ?? Infinity));
  const within = points.filter(
    (point) =>
      (most === null || point.sizeBytes <= 1000 * most) &&
      (lost === null || (point.lost !== null && 100 * point.lost <= lost + 1e-9)) &&
      (times === null || (point.milliseconds !== null && point.milliseconds <= times * fastest * (1 + 1e-9))),
  );
  const isSmall = most === null && times === null;
  const better = (a: state.TradeoffPoint, b: state.TradeoffPoint) =>
    isSmall ? a.sizeBytes < b.sizeBytes : (a.sqnr ?? Infinity) > (b.sqnr ?? Infinity);
  return within.reduce<state.TradeoffPoint | null>((best, one) => (best && !better(one, best) ? best : one), null);
}

async function work(inputs: Inputs, signal: AbortSignal): Promise<void> {
  const { config } = inputs.settings;
  const key = state.tradeoffKey.value;
  let resource: Resource = 'weights_memory';
  let statistics = await calibrated(inputs, within(config, resource, everything), signal);
  const quantizedWithin = (budget: number) =>
    inputs.model.handle.quantize({
      ...call(inputs, signal),
      ...inputs.settings,
      config: within(config, resource, budget),
      statistics,
      samples: inputs.set.files,
      selection: inputs.calibration,
    });
  const first = await quantizedWithin(everything);
  const bits = first.report.trial?.bits;
  first.close();
  let budgets: number[] = [...floatPoints];
  if (bits && bits.operators.length > 0) {
    const [least, most] = [bits.least.weights_memory, bits.most.weights_memory];
    budgets = Array.from({ length: weightPoints }, (_, k) => least + ((most - least) * k) / (weightPoints - 1));
  } else {
    resource = 'float_operators';
    statistics = await calibrated(inputs, within(config, resource, 1), signal);
  }
  const points: state.TradeoffPoint[] = [];
  for (const [k, budget] of budgets.entries()) {
    signal.throwIfAborted();
    state.tradeoffRun.value = { done: k, of: budgets.length };
    const made = await quantizedWithin(budget);
    try {
      points.push(await measured(inputs, made, budget, signal));
    } finally {
      made.close();
    }
    state.tradeoff.value = { key, resource, points: [...points] };
  }
}

/** Makes the curve; does nothing while something is missing or another job runs. */
export async function compareBudgets(): Promise<void> {
  const inputs = gather();
  if (!state.canQuantize.value || !inputs) return;
  const mine = new AbortController();
  controller = mine;
  batch(() => {
    state.tradeoff.value = null;
    state.tradeoffProblem.value = null;
    state.tradeoffRun.value = { done: 0, of: weightPoints };
    state.announcement.value = 'Comparing budgets.';
  });
  try {
    await work(inputs, mine.signal);
    state.announcement.value = 'Budgets are compared.';
  } catch (error) {
    if (!isAbort(error)) state.tradeoffProblem.value = problemOf(error);
  } finally {
    if (controller === mine) {
      controller = null;
      state.tradeoffRun.value = null;
    }
  }
}

export function cancelTradeoff(): void {
  controller?.abort();
}

/** The budget that is in force, in the curve's resource; null where there is none. */
export function budgetInForce(curve: state.Tradeoff): number | null {
  const { target_resource_utilization: target, mixed_precision_config: mixed } = state.config.value;
  return (curve.resource === 'weights_memory' ? target?.weights_memory : mixed?.float_operators) ?? null;
}

/** Takes a point's budget into the settings, and makes the result anew. */
export function choosePoint(curve: state.Tradeoff, point: state.TradeoffPoint): void {
  const words =
    curve.resource === 'weights_memory'
      ? `Weights of at most ${kilobytes(point.budget)}`
      : `At most ${counted(point.budget, 'operator in float', 'operators in float')}`;
  stepAndSay(
    words,
    () => {
      const next = within(state.config.value, curve.resource, point.budget);
      state.fields.value = { ...state.fields.value, ...next } as typeof state.fields.value;
    },
    choiceOfPoint,
  );
  changed();
}
