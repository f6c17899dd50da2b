// SPDX-License-Identifier: Apache-2.0

import type { SampleRun } from 'tersor';
import { expect, it } from 'vitest';

import { barsOf, mostBars } from '../src/job/bars';
import { run, tensor, values } from './helpers';

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

const shown = (float: SampleRun, ...configurations: SampleRun[]) =>
  barsOf({
    isBgr: false,
    float: [float],
    others: configurations.map((one, k) => ({ which: k === 0 ? ('A' as const) : ('B' as const), runs: [one] })),
  });
const places = (...of: Parameters<typeof shown>) => shown(...of)?.samples[0]?.bars.map(({ at }) => at.at(-1));

it('shows the 24 values that differ most, in their order, the first of equals', () => {
  const float = run(
    0,
    tensor('y', [30], (k) => k),
  );
  const by = (error: (k: number) => number) =>
    run(
      0,
      tensor('y', [30], (k) => k + error(k)),
    );
  const upTo = (n: number, from = 0) => Array.from({ length: n }, (_, k) => from + k);
  expect(
    places(
      float,
      by((k) => k),
    ),
  ).toEqual(upTo(24, 6));
  expect(
    places(
      float,
      by((k) => 30 - k),
    ),
  ).toEqual(upTo(24));
  expect(
    places(
      float,
      by((k) => -k),
    ),
  ).toEqual(upTo(24, 6));
  const flat = run(
    0,
    tensor('y', [30], () => 1),
  );
  expect(
    places(
      flat,
      run(
        0,
        tensor('y', [30], () => 1.5),
      ),
    ),
  ).toEqual(upTo(24));
  // the last differs most, all others alike
  expect(
    places(
      flat,
      run(
        0,
        tensor('y', [30], (k) => (k === 29 ? 3 : 2)),
      ),
    ),
  ).toEqual([...upTo(23), 29]);
  // what differs in one configuration alone
  expect(
    places(
      float,
      by((k) => Number(k < 24)),
      by((k) => 2 * Number(k === 29)),
    ),
  ).toEqual([...upTo(23), 29]);
});

it('weighs a difference against the spread of its output, or against its size where all values are alike', () => {
  const two = (wide: number, flat: number) =>
    run(
      0,
      tensor('wide', [20], (k) => 10 + k + (k === 3 ? wide : 0)),
      tensor('flat', [30], () => 30 + flat),
    );
  // a difference of 1 of 19 against 1 of 30
  const bars = shown(two(0, 0), two(1, 1))?.samples[0]?.bars.map(({ output, at }) => `${output} ${at.join()}`);
  expect(bars).toEqual(['0 3', ...Array.from({ length: 23 }, (_, k) => `1 ${k}`)]);
});

it('has the values of each configuration, and the ends of each output', () => {
  const two = (a: number, b: number) => run(2, values('p', [1, 2], [a, 2]), values('q', [1, 3], [-4, b, -1]));
  const bars = shown(two(1, -2), two(3, -2), two(1, -9));
  expect(bars?.outputs).toEqual([
    { name: 'p', low: 0, high: 3 },
    { name: 'q', low: -9, high: 0 },
  ]);
  expect(bars?.samples[0]?.bars[0]).toEqual({ output: 0, at: [0, 0], values: { F: 1, A: 3, B: 1 } });
  expect(bars?.samples[0]?.bars[3]).toEqual({ output: 1, at: [0, 1], values: { F: -2, A: -2, B: -9 } });
  // signals of 1 + 4 + 16 + 4 + 1 = 26 against errors of 4 and 49
  expect(bars?.samples[0]?.sqnr.A).toBeCloseTo(10 * Math.log10(26 / 4), 9);
  expect(bars?.samples[0]?.sqnr.B).toBeCloseTo(10 * Math.log10(26 / 49), 9);
});

it('leaves out outputs of no numbers, of none at all, and those that a configuration has not', () => {
  const outputs = (length: number) =>
    run(0, values('text', [2], [1, 2], 'string'), tensor('none', [0]), tensor('y', [2]), tensor('z', [length]));
  const bars = shown(outputs(2), outputs(3));
  expect(bars?.outputs.map(({ name }) => name)).toEqual(['y', 'z']);
  expect(bars?.samples[0]).toMatchObject({ of: 2 });
  expect(new Set(bars?.samples[0]?.bars.map(({ output }) => output))).toEqual(new Set([0]));
});

it('has no figure where there is no signal or no error', () => {
  const zero = run(0, values('y', [2], [0, 0]));
  expect(shown(zero, run(0, values('y', [2], [1, 0])))?.samples[0]?.sqnr.A).toBeNull();
  expect(shown(run(0, values('y', [1], [5])), run(0, values('y', [1], [5])))?.samples[0]?.sqnr.A).toBeNull();
});
