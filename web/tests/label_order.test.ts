// SPDX-License-Identifier: Apache-2.0

import { expect, it } from 'vitest';

import { bestAssignment, findLabelOrder, wilson, type LabelledAnswer } from '../src/job/label_order';

/** Numbers from 0 to `below`, the same in every run. */
function drawn(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (1103515245 * state + 12345) % 2 ** 31;
    return Math.floor(state / 65536) % below;
  };
}

function largestSum(gains: readonly (readonly number[])[], row = 0, taken: readonly number[] = []): number {
  if (row === gains.length) return 0;
  return Math.max(
    ...(gains[row] ?? []).map((gain, column) =>
      taken.includes(column) ? -Infinity : gain + largestSum(gains, row + 1, [...taken, column]),
    ),
  );
}

it('assigns with the largest sum of all, of gains of either sign', () => {
  const draw = drawn(7);
  for (let rows = 1; rows <= 4; ++rows)
    for (let columns = rows; columns <= 5; ++columns)
      for (let round = 0; round < 20; ++round) {
        const gains = Array.from({ length: rows }, () => Array.from({ length: columns }, () => draw(21) - 10));
        const assigned = bestAssignment(gains);
        expect(new Set(assigned).size).toBe(rows);
        const sum = assigned.reduce((total, column, row) => total + (gains[row]?.[column] ?? NaN), 0);
        expect(sum).toBe(largestSum(gains));
      }
});

const turned = [0, 1, 4, 5, 7, 6, 3, 9, 8, 2];
const straight = turned.map((_, k) => k);

/** `each` samples of every label, of which one in `wrongEvery` gets a random answer. */
function answersIn(outputs: readonly number[], each: number, wrongEvery: number): LabelledAnswer[] {
  const draw = drawn(3);
  return outputs.flatMap((output, label) =>
    Array.from({ length: each }, (_, k) => ({
      label,
      answer: k % wrongEvery === wrongEvery - 1 ? draw(10) : output,
    })),
  );
}

it('finds classes in another order than the outputs, whatever some answers are', () => {
  const answers = answersIn(turned, 10, 5);
  const found = findLabelOrder(answers);
  const right = answers.filter(({ label, answer }) => answer === turned[label]).length;
  expect([...(found?.outputs ?? [])]).toEqual([...turned.entries()]);
  expect(found).toMatchObject({ correct: right, heldCorrect: right, count: 100 });
  expect(found?.before).toBe(answers.filter(({ label, answer }) => answer === label).length);
});

it('finds a few folders among many outputs, and keeps labels that nothing speaks against', () => {
  const answers = [0, 2, 3].flatMap((label) =>
    Array.from({ length: 12 }, () => ({ label, answer: [217, -1, 0, 3][label] ?? -1 })),
  );
  expect([...(findLabelOrder(answers)?.outputs ?? [])]).toEqual([
    [0, 217],
    [2, 0],
    [3, 3],
  ]);
});

it('finds none where labels are right, answers random, all the same, not there, or too few', () => {
  expect(findLabelOrder(answersIn(straight, 10, 3))).toBeNull();
  for (const each of [4, 13, 50]) expect(findLabelOrder(answersIn(turned, each, 1))).toBeNull();
  expect(
    findLabelOrder(
      answersIn(
        straight.map(() => 3),
        20,
        100,
      ),
    ),
  ).toBeNull();
  expect(
    findLabelOrder(
      answersIn(
        straight.map(() => -1),
        20,
        100,
      ),
    ),
  ).toBeNull();
  expect(findLabelOrder(answersIn(turned, 3, 100))).toBeNull();
  expect(findLabelOrder(answersIn(turned, 4, 100))).not.toBeNull();
  expect(findLabelOrder([])).toBeNull();
});

it('knows between which shares the true one lies', () => {
  expect(wilson(0, 0)).toEqual({ lower: 0, upper: 1 });
  // as Newcombe (1998), table I, has it for 81 of 263
  expect(wilson(81, 263).lower).toBeCloseTo(0.2553, 4);
  expect(wilson(81, 263).upper).toBeCloseTo(0.3662, 4);
});
