// SPDX-License-Identifier: Apache-2.0

import { beforeEach, expect, it } from 'vitest';

import { agreementOf, answered, className, confusionChange, disagree, type Answered } from '../src/job/answers';
import { plain } from '../src/job/configurations';
import * as state from '../src/job/state';
import { file, firstVisit } from './helpers';

type Figures = Pick<state.Result, 'float' | 'int8' | 'comparison'>;

/** A result with these answers on samples 4, 5 and 6 of 7. */
function resultWith(answers: readonly number[], more: Partial<state.Result> = {}): state.Result {
  const one = { value: 0.5, samples: [4, 5, 6], agreement: { same: 2, count: 3 } };
  return {
    pending: null,
    float: { ...one, answers: Int32Array.of(0, 1, 2) },
    int8: { ...one, answers: Int32Array.from(answers) },
    comparison: { agreement: null },
    ...more,
  } as unknown as state.Result;
}

const paths = ['cat/0', 'cat/1', 'cat/2', 'dog/0', 'dog/1', 'emu/0', 'emu/1'].map((one) => `${one}.png`);

beforeEach(async () => {
  await firstVisit();
  state.samples.value = { id: 1, name: 'pets', source: 'pets', files: paths.map((one) => file(one)), labelsFile: null };
  state.samplesInfo.value = {
    count: 7,
    skipped: [],
    labels: [0, 0, 0, 1, 1, 2, 2],
    classes: ['cat', 'dog', 'emu'].map((name, label) => ({ name, label, count: 2 })),
  } as unknown as state.OpenModel & typeof state.samplesInfo.value;
});

it('puts the answers of float, A and B beside each sample, its path and its label', () => {
  state.result.value = resultWith([0, 2, 2]);
  expect(answered()).toEqual([
    { index: 4, path: 'dog/1.png', label: 1, F: 0, A: 0, B: null },
    { index: 5, path: 'emu/0.png', label: 2, F: 1, A: 2, B: null },
    { index: 6, path: 'emu/1.png', label: 2, F: 2, A: 2, B: null },
  ]);
  state.parked.value = plain;
  state.parkedResult.value = resultWith([1, 1, 1]);
  expect(answered().map(({ A, B }) => [A, B])).toEqual([
    [0, 1],
    [2, 1],
    [2, 1],
  ]);
});

it('shows no answers of a configuration that are still those from before, or of other samples', () => {
  state.parked.value = plain;
  state.result.value = resultWith([0, 2, 2], { pending: 'figures' });
  state.parkedResult.value = resultWith([1, 1]);
  expect(answered().map(({ A, B }) => [A, B])).toEqual([
    [null, null],
    [null, null],
    [null, null],
  ]);
});

it('has no rows where outputs are no answers, or nothing is known of the samples', () => {
  expect(answered()).toEqual([]);
  const boxes = resultWith([0, 1, 2]);
  state.result.value = { ...boxes, float: { ...boxes.float, value: null } };
  expect(answered()).toEqual([]);
  const asked = resultWith([0, 1, 2]);
  state.result.value = { ...asked, float: { ...asked.float, answers: null } };
  expect(answered()).toEqual([]);
  state.result.value = { ...asked, float: { ...asked.float, samples: [4] } } as unknown as state.Result;
  expect(answered()).toEqual([]);
});

it('counts agreement only where outputs are known to be classes', () => {
  const same = { same: 2, count: 3 };
  const result = resultWith([0, 1, 2]);
  expect(agreementOf(result)).toEqual(same);
  const unlabelled: Figures = { ...result, float: { ...result.float, value: null } };
  expect(agreementOf(unlabelled as state.Result)).toBeNull();
  const other = { same: 1, count: 3 };
  const classes = { ...unlabelled, comparison: { ...result.comparison, agreement: other } };
  expect(agreementOf(classes as state.Result)).toEqual(same);
  const bare = { ...classes, int8: { ...result.int8, agreement: null } };
  expect(agreementOf(bare as state.Result)).toEqual(other);
});

it('names samples by number where files hold several, and leaves out files that are none', () => {
  state.result.value = resultWith([0, 1, 2]);
  const set = state.samples.value;
  const info = state.samplesInfo.value;
  if (!set || !info) throw new Error('nothing is open');
  state.samples.value = { ...set, files: [file('notes.doc'), ...set.files] };
  expect(answered()[0]).toMatchObject({ path: 'sample 4', label: 1 });
  state.samplesInfo.value = null;
  expect(answered()[0]).toMatchObject({ path: 'sample 4', label: null });
  state.samplesInfo.value = { ...info, skipped: [{ path: 'notes.doc', reason: 'a text' }] };
  expect(answered()[0]?.path).toBe('dog/1.png');
});

it('takes labels from the folders as they are mapped, and none that a file holds', () => {
  state.result.value = resultWith([0, 1, 2]);
  state.classMapping.value = { by: 'hand', outputs: { dog: 7 } };
  expect(answered().map(({ label }) => label)).toEqual([7, 2, 2]);
  expect(className(7)).toBe('dog');
  expect(className(1)).toBe('class 1');
  const set = state.samples.value;
  if (set) state.samples.value = { ...set, labelsFile: file('labels.csv') };
  expect(answered().map(({ label }) => label)).toEqual([null, null, null]);
});

it('names outputs by the folders, and those of none by number', () => {
  expect(className(2)).toBe('emu');
  expect(className(3)).toBe('class 3');
});

const row = (label: number | null, F: number, A: number | null, B: number | null = null): Answered => ({
  index: 0,
  path: '',
  label,
  F,
  A,
  B,
});

it('finds where a configuration answers otherwise than float', () => {
  expect([row(0, 1, 1), row(0, 1, null), row(0, 1, 1, 1)].map(disagree)).toEqual([false, false, false]);
  expect([row(0, 1, 2), row(0, 1, 1, 2), row(0, 1, null, 2), row(0, 1, 2, 1)].map(disagree)).toEqual([
    true,
    true,
    true,
    true,
  ]);
});

it('counts what moved from answer to answer, by the right class', () => {
  const rows = [row(0, 0, 3), row(0, 0, 3), row(1, 2, 1), row(1, 1, 1)];
  const found = confusionChange(rows, 'A');
  expect(found?.classes).toEqual([0, 1, 2, 3]);
  expect(Object.fromEntries(found?.change ?? [])).toEqual({ '0 3': 2, '0 0': -2, '1 1': 1, '1 2': -1 });
  expect(confusionChange([row(0, 0, 0)], 'A')).toEqual({ classes: [], change: new Map() });
  expect(confusionChange([row(null, 0, 1)], 'A')).toBeNull();
  expect(confusionChange(rows, 'B')).toBeNull();
});
