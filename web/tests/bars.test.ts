// SPDX-License-Identifier: Apache-2.0

import type { NamedTensor, SampleRun } from 'tersor';
import { expect, it } from 'vitest';

import { barsOf, mostBars } from '../src/job/bars';

function tensor(name: string, shape: readonly number[], fill: (k: number) => number, type = 'float32'): NamedTensor {
  const length = shape.reduce((product, one) => product * one, 1);
  return { name, type, shape, data: Float32Array.from({ length }, (_, k) => fill(k)) };
}
const run = (index: number, ...outputs: NamedTensor[]): SampleRun => ({ index, inputs: [], outputs });

it('shows all values of few, each with its index, and the ends of its bars with zero among them', () => {
  const float = [
    run(
      3,
      tensor('y', [1, 2, 2], (k) => k + 1),
    ),
  ];
  const others = [
    {
      which: 'A' as const,
      runs: [
        run(
          3,
          tensor('y', [1, 2, 2], (k) => k + 1.5),
        ),
      ],
    },
  ];
  const bars = barsOf({ isBgr: false, float, others });
  expect(bars?.outputs).toEqual([{ name: 'y', low: 0, high: 4.5 }]);
  const [sample] = bars?.samples ?? [];
  expect(sample).toMatchObject({ index: 3, of: 4 });
  expect(sample?.bars.map(({ at, values }) => [at.join(), values.F, values.A])).toEqual([
    ['0,0,0', 1, 1.5],
    ['0,0,1', 2, 2.5],
    ['0,1,0', 3, 3.5],
    ['0,1,1', 4, 4.5],
  ]);
  expect(sample?.sqnr.A).toBeCloseTo(10 * Math.log10(30), 6);
});

it('picks those that differ most in any configuration, against the spread of their output', () => {
  const large = (off: number) => tensor('large', [1, 300], (k) => 1000 * k + (k === 7 ? off : 0));
  const small = (off: number) => tensor('small', [1, 300], (k) => k / 300 + (k === 100 ? off : 0));
  const float = [run(0, large(0), small(0))];
  const others = [
    { which: 'A' as const, runs: [run(0, large(50_000), small(0))] },
    { which: 'B' as const, runs: [run(0, large(0), small(0.4))] },
  ];
  const [sample] = barsOf({ isBgr: false, float, others })?.samples ?? [];
  expect(sample?.of).toBe(600);
  expect(sample?.bars.length).toBe(mostBars);
  const found = sample?.bars.map(({ output, at }) => `${output} ${at.join()}`);
  expect(found).toContain('0 0,7');
  expect(found).toContain('1 0,100');
});

it('compares no values of another shape, no text and no halves, which come as their bits', () => {
  const float = [
    run(
      0,
      tensor('y', [1, 4], () => 1),
    ),
  ];
  const shorter = [
    {
      which: 'A' as const,
      runs: [
        run(
          0,
          tensor('y', [1, 3], () => 1),
        ),
      ],
    },
  ];
  expect(barsOf({ isBgr: false, float, others: shorter })).toBeNull();
  const halves = [
    run(
      0,
      tensor('y', [1, 4], () => 1, 'float16'),
    ),
  ];
  expect(barsOf({ isBgr: false, float: halves, others: [{ which: 'A', runs: halves }] })).toBeNull();
});

it('says where nothing differs, and counts no value that is not finite', () => {
  const float = [
    run(
      0,
      tensor('y', [2], (k) => (k === 0 ? NaN : 2)),
    ),
  ];
  const [sample] = barsOf({ isBgr: false, float, others: [{ which: 'A', runs: float }] })?.samples ?? [];
  expect(sample?.sqnr.A).toBeNull();
  expect(barsOf({ isBgr: false, float, others: [] })?.outputs).toEqual([{ name: 'y', low: 0, high: 2 }]);
});
