// SPDX-License-Identifier: Apache-2.0

import type { EvaluationResult, Model, QuantizationConfig, QuantizedResult } from 'tersor';
import { beforeEach, describe, expect, it, vi, type MockInstance } from 'vitest';

import { undoKind, undoLabel } from '../src/job/history';
import * as state from '../src/job/state';
import {
  budgetInForce,
  cancelTradeoff,
  chooseWithin,
  choosePoint,
  compareBudgets,
  gapAt,
  halfway,
  pointWithin,
  risingPoints,
  type Limits,
} from '../src/job/tradeoff';
import { openPets } from './helpers';

type TradeoffPoint = state.TradeoffPoint;

const point = (budget: number, sqnr: number, lost: number, milliseconds: number | null): TradeoffPoint => ({
  budget,
  made: budget,
  sizeBytes: 1000 * budget,
  sqnr,
  share: 0.9 - lost,
  lost,
  count: 100,
  milliseconds,
});

/** Rising budgets; the largest is the slowest. */
const points = [point(10, 12, 0.2, 1), point(20, 20, 0.01, 1.1), point(30, 30, 0.005, 1.5), point(40, 35, 0, 2)];
const budgetWithin = (kilobytes: number | null, lost: number | null, times: number | null) =>
  pointWithin({ points }, { kilobytes, points: lost, times })?.budget ?? null;

it('takes the smallest file that loses at most so many points', () => {
  expect(budgetWithin(null, 100, null)).toBe(10);
  expect(budgetWithin(null, 1, null)).toBe(20);
  expect(budgetWithin(null, 0, null)).toBe(40);
});

it('takes what is nearest to float within a size or a time', () => {
  expect(budgetWithin(35, null, null)).toBe(30);
  expect(budgetWithin(null, null, 1.2)).toBe(20);
  expect(budgetWithin(null, null, 1)).toBe(10);
  expect(budgetWithin(35, 1, 2)).toBe(30);
});

it('takes none where nothing keeps to the limits, or nothing is known', () => {
  expect(budgetWithin(5, null, null)).toBeNull();
  expect(budgetWithin(15, 1, null)).toBeNull();
  expect(pointWithin({ points: [point(1, 2, 0, null)] }, { kilobytes: null, points: null, times: 9 })).toBeNull();
});

it('finds between which two points a limit lies, and what is halfway', () => {
  const gap = (kilobytes: number | null, lost: number | null, times: number | null) =>
    gapAt({ points }, { kilobytes, points: lost, times })?.map(({ budget }) => budget) ?? null;
  // the largest file within a size, and the smallest that is good enough
  expect(gap(35, null, null)).toEqual([30, 40]);
  expect(gap(null, 1, null)).toEqual([20, 10]);
  expect(gap(null, null, 1.2)).toEqual([20, 30]);
  // an end of the curve has nothing beyond it
  expect(gap(null, 100, null)).toBeNull();
  expect(gap(50, null, null)).toBeNull();
  expect(gap(5, null, null)).toBeNull();
  const [a, b] = [points[2], points[3]] as [TradeoffPoint, TradeoffPoint];
  expect(halfway({ points, resource: 'weights_memory' }, [a, b])).toBe(35);
  expect(halfway({ points, resource: 'weights_memory' }, [a, { ...b, budget: 30.1 }])).toBeNull();
  expect(halfway({ points, resource: 'float_operators' }, [point(4, 1, 0, 1), point(8, 1, 0, 1)])).toBe(6);
  expect(halfway({ points, resource: 'float_operators' }, [point(1, 1, 0, 1), point(2, 1, 0, 1)])).toBeNull();
});

it('never falls with the budget: what fits a smaller one fits a larger one too', () => {
  const falling = [point(0, 29.6, 0, 1), point(1, 26.1, 0, 1), point(4, 30.2, 0, 1), point(8, 26.7, 0, 1)];
  const shown = risingPoints({ points: falling }, 0);
  expect(shown.map(({ budget }) => budget)).toEqual([0, 1, 4, 8]);
  expect(shown.map(({ sqnr }) => sqnr)).toEqual([29.6, 29.6, 30.2, 30.2]);
  expect(shown.map(({ sizeBytes }) => sizeBytes)).toEqual([0, 0, 4000, 4000]);
  expect(shown.map(({ made }) => made)).toEqual([0, 0, 4, 4]);
});

it('marks one point as in force, and shows that as it is', () => {
  const falling = [point(0, 29.6, 0, 1), { ...point(1, 26.1, 0, 1), made: null }, point(4, 28, 0, 1)];
  const shown = risingPoints({ points: falling }, null);
  expect(shown.map(({ isInForce }) => isInForce)).toEqual([false, true, false]);
  expect(shown.map(({ sqnr }) => sqnr)).toEqual([29.6, 26.1, 29.6]);
  expect(risingPoints({ points: falling }, 4).map(({ isInForce }) => isInForce)).toEqual([false, false, true]);
});

it('counts the limit itself as kept, and what is not known as not', () => {
  const within = (one: TradeoffPoint, limits: Partial<Limits>) =>
    pointWithin({ points: [one, point(99, 1, 1, 1)] }, { kilobytes: null, points: null, times: null, ...limits }) ===
    one;
  expect(within(point(20, 50, 0, 1), { kilobytes: 20 })).toBe(true);
  expect(within(point(20, 50, 0, 1), { kilobytes: 19 })).toBe(false);
  expect(within(point(20, 50, 0.02, 1), { points: 2 })).toBe(true);
  expect(within({ ...point(20, 50, 0, 1), lost: null }, { points: 2 })).toBe(false);
  expect(within(point(20, 50, 0, 3), { times: 3 })).toBe(true);
  expect(within(point(20, 50, 0, 3), { times: 2.9 })).toBe(false);
  expect(within(point(20, 50, 0, null), { times: 2 })).toBe(false);
});

it('takes the first of equals, and an exact file for the nearest to float', () => {
  const first = (limits: Partial<Limits>, ...of: TradeoffPoint[]) =>
    pointWithin({ points: of }, { kilobytes: null, points: null, times: null, ...limits })?.budget;
  expect(first({}, { ...point(1, 9, 0, 1), sizeBytes: 5 }, { ...point(2, 9, 0, 1), sizeBytes: 5 })).toBe(1);
  expect(first({ kilobytes: 9 }, point(1, 9, 0, 1), point(2, 9, 0, 1))).toBe(1);
  expect(first({ kilobytes: 9 }, point(1, 99, 0, 1), { ...point(2, 9, 0, 1), sqnr: null })).toBe(2);
});

it('takes two budgets for one where they differ by less than half a percent of the curve', () => {
  const wide = [point(0, 1, 0, 1), point(1000, 1, 0, 1)];
  const half = (a: number, b: number, of = wide) =>
    halfway({ points: of, resource: 'weights_memory' }, [point(a, 1, 0, 1), point(b, 1, 0, 1)]);
  expect(half(500, 505)).toBe(502.5);
  expect(half(505, 500)).toBe(502.5);
  expect(half(500, 504)).toBeNull();
  // of 30, and not of the 50 that both ends are together
  expect(half(30, 30.2, points)).toBeCloseTo(30.1, 9);
  expect(halfway({ points, resource: 'float_operators' }, [point(2, 1, 0, 1), point(1, 1, 0, 1)])).toBeNull();
});

describe('the curve', () => {
  let asked: QuantizationConfig[] = [];
  let calibrate: MockInstance<Model['calibrate']>;
  let closed = 0;
  /** What trying budgets told, of the first file. */
  let bits: object | null = null;
  let answers: Partial<EvaluationResult> = {};
  const budgetOf = (config: QuantizationConfig | undefined) =>
    config?.target_resource_utilization?.weights_memory ?? config?.mixed_precision_config?.float_operators ?? NaN;

  beforeEach(async () => {
    await openPets();
    asked = [];
    closed = 0;
    bits = { operators: [{}], least: { weights_memory: 100 }, most: { weights_memory: 600 } };
    answers = { value: 0.8, agreement: { same: 40, count: 50 }, count: 50 };
    const handle = state.model.value?.handle;
    if (!handle) throw new Error('no model');
    calibrate = vi.spyOn(handle, 'calibrate');
    vi.spyOn(handle, 'quantize').mockImplementation(async ({ config = {}, signal }) => {
      signal?.throwIfAborted();
      asked.push(config);
      const budget = budgetOf(config);
      return {
        model: { byteLength: budget },
        report: { trial: bits && { bits }, time: { quantized_ms: budget / 100 } },
        evaluate: async () => answers,
        compare: async () => ({ output_sqnr_db: budget / 10 }),
        close: () => ++closed,
      } as unknown as QuantizedResult;
    });
  });

  const budgets = () => state.tradeoff.value?.points.map(({ budget }) => budget);

  it('has six budgets of weights from the least to the most, from one calibration', async () => {
    state.fields.value = { target_resource_utilization: { activation_memory: 5 } };
    const runs: unknown[] = [];
    const stop = state.tradeoffRun.subscribe((now) => runs.push(now && [now.kind, now.done, now.of]));
    await compareBudgets();
    stop();
    expect(budgets()).toEqual([100, 200, 300, 400, 500, 600]);
    expect(state.tradeoff.value).toMatchObject({ resource: 'weights_memory', key: state.tradeoffKey.value });
    expect(calibrate).toHaveBeenCalledTimes(1);
    expect(asked[0]?.target_resource_utilization).toEqual({ activation_memory: 5, weights_memory: 1e15 });
    expect(asked[3]?.target_resource_utilization).toEqual({ activation_memory: 5, weights_memory: 300 });
    expect(closed).toBe(7);
    expect(runs.at(0)).toBeNull();
    expect(runs.at(-1)).toBeNull();
    expect(runs.at(-2)).toEqual(['curve', 5, 6]);
    expect(state.announcement.value).toBe('Budgets are compared.');
  });

  it('counts operators in float where bits cannot be chosen', async () => {
    for (const none of [null, { operators: [], least: {}, most: {} }]) {
      bits = none;
      calibrate.mockClear();
      await compareBudgets();
      expect(budgets()).toEqual([0, 1, 2, 4, 8]);
      expect(state.tradeoff.value?.resource).toBe('float_operators');
      expect(calibrate).toHaveBeenCalledTimes(2);
      expect(asked.at(-1)?.mixed_precision_config).toEqual({ float_operators: 8 });
      expect(asked.at(-1)?.target_resource_utilization).toBeUndefined();
    }
  });

  it('has the size, the accuracy lost and the time of each', async () => {
    const one = async (float: Partial<EvaluationResult> | null, of: Partial<EvaluationResult>) => {
      answers = { ...answers, ...of };
      state.measured.value = { dataKey: '', float: float as EvaluationResult | null, statistics: [] };
      await compareBudgets();
      return state.tradeoff.value?.points[1];
    };
    const found = await one({ value: 0.9 }, {});
    expect(found).toMatchObject({ budget: 200, sizeBytes: 200, sqnr: 20, share: 0.8, count: 50, milliseconds: 2 });
    expect(found?.lost).toBeCloseTo(0.1, 12);
    expect((await one(null, { value: 0.8 }))?.lost).toBeCloseTo(0.2, 12);
    expect((await one({ value: null }, { value: 0.8 }))?.lost).toBeCloseTo(0.2, 12);
    expect(await one({ value: 0.9 }, { value: null })).toMatchObject({ share: 0.8, lost: 1 - 0.8 });
    expect(await one(null, { value: null, agreement: null })).toMatchObject({ share: null, lost: null });
  });

  it('says what went wrong, and nothing where it was cancelled', async () => {
    calibrate.mockRejectedValueOnce(new Error('no memory'));
    await compareBudgets();
    expect(state.tradeoffProblem.value?.message).toBe('no memory');
    expect(state.tradeoffRun.value).toBeNull();
    expect(state.announcement.value).toBe('Comparing budgets.');
    const pending = compareBudgets();
    cancelTradeoff();
    await pending;
    expect(state.tradeoffProblem.value).toBeNull();
    expect(state.tradeoff.value).toBeNull();
    expect(state.announcement.value).toBe('Comparing budgets.');
  });

  it('does not begin beside another job, or while something is missing', async () => {
    state.run.value = {} as state.Run;
    await compareBudgets();
    state.run.value = null;
    state.samples.value = null;
    await compareBudgets();
    expect(calibrate).not.toHaveBeenCalled();
    expect(state.announcement.value).not.toBe('Budgets are compared.');
  });

  const limit = (kilobytes: number): Limits => ({ kilobytes, points: null, times: null });

  it('is searched four times between two points for what keeps to a limit', async () => {
    await compareBudgets();
    const curve = state.tradeoff.value;
    if (!curve) throw new Error('no curve');
    calibrate.mockClear();
    expect(await chooseWithin(curve, limit(0.35))).toBe(true);
    expect(budgets()).toEqual([100, 200, 300, 350, 356.25, 362.5, 375, 400, 500, 600]);
    expect(budgetInForce(curve)).toBe(350);
    expect(calibrate).not.toHaveBeenCalled();
    expect(undoLabel.value).toMatch(/^Weights of at most /);
    expect(undoKind.value).toBe('point of the curve');
    expect(state.tradeoffRun.value).toBeNull();
  });

  it('is not searched where nothing keeps to the limit, or no limit lies within it', async () => {
    await compareBudgets();
    const curve = state.tradeoff.value;
    if (!curve) throw new Error('no curve');
    asked = [];
    expect(await chooseWithin(curve, limit(0.05))).toBe(false);
    expect(budgetInForce(curve)).toBeNull();
    expect(await chooseWithin(curve, limit(9))).toBe(true);
    expect(budgetInForce(curve)).toBe(600);
    expect(asked).toEqual([]);
  });

  it('keeps its points where the search is given up, and takes none', async () => {
    await compareBudgets();
    const curve = state.tradeoff.value;
    if (!curve) throw new Error('no curve');
    const search = chooseWithin(curve, limit(0.35));
    cancelTradeoff();
    expect(await search).toBe(true);
    expect(budgetInForce(curve)).toBeNull();
    expect(state.tradeoffProblem.value).toBeNull();
  });

  it('is calibrated once more where it is another curve than the one that was made last', async () => {
    const other: state.Tradeoff = {
      key: 'other',
      resource: 'float_operators',
      points: [point(8, 1, 0, 1), point(0, 9, 0, 9)].map((one) => ({ ...one, sizeBytes: 100 * one.budget })).reverse(),
    };
    state.tradeoff.value = other;
    expect(await chooseWithin(other, limit(0.3))).toBe(true);
    expect(calibrate).toHaveBeenCalledTimes(1);
    expect(budgetInForce(other)).not.toBeNull();
  });

  it('gives its point to the settings beside what else they say', () => {
    state.fields.value = { mixed_precision_config: { most: 1 } as object, weights_n_bits: 4 };
    const curve = (resource: state.Tradeoff['resource']): state.Tradeoff => ({ key: '', resource, points });
    choosePoint(curve('float_operators'), point(1, 1, 0, 1));
    expect(undoLabel.value).toBe('At most 1 operator in float');
    expect(state.fields.value).toEqual({ mixed_precision_config: { most: 1, float_operators: 1 }, weights_n_bits: 4 });
    expect(budgetInForce(curve('float_operators'))).toBe(1);
    expect(budgetInForce(curve('weights_memory'))).toBeNull();
  });
});
