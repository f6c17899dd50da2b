// SPDX-License-Identifier: Apache-2.0

import { expect, it } from 'vitest';

import type { TradeoffPoint } from '../src/job/state';
import { gapAt, halfway, pointWithin, risingPoints } from '../src/job/tradeoff';

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
