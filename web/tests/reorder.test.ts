// SPDX-License-Identifier: Apache-2.0

import { beforeEach, expect, it } from 'vitest';

import { applyAdvice } from '../src/job/apply_advice';
import { redo, undo, undoLabel } from '../src/job/history';
import { addArrivals } from '../src/job/load';
import { currentStop, goOnAnyway, quantize } from '../src/job/quantize';
import { isDoubtful } from '../src/job/reorder';
import { setPreprocessing } from '../src/job/load';
import * as state from '../src/job/state';
import { wordOf } from '../src/job/verdict';
import { behaviour, wilson } from './double';
import { file, firstVisit, pictures, settled } from './helpers';

/** Ten folders whose names sort otherwise than the outputs. */
const folders = 'abcdefghij'.split('');
const turned = [3, 1, 2, 9, 4, 5, 6, 0, 8, 7];
const each = 16;
const outputOf = (index: number) => turned[Math.floor(index / each)] ?? -1;

beforeEach(async () => {
  await firstVisit();
  behaviour.answers = outputOf;
  await addArrivals([file('net.onnx'), ...folders.flatMap((name) => pictures(name, each))]);
});

const stopped = () => currentStop()?.advice;
const take = async () => {
  const advice = stopped();
  if (!advice) throw new Error('no stop');
  await applyAdvice(advice, () => undefined);
};

it('proposes the order of the folders that explains the answers, with pictures to check, and takes it in a step', async () => {
  await quantize();
  expect(stopped()?.id).toBe('labels-reordered');
  expect(stopped()?.sentence).toMatch(
    /reordering of the model’s outputs: 60\.0.% → 100\.0.% of 80 samples are right\.$/,
  );
  const change = stopped()?.change;
  const examples = change?.kind === 'label-order' ? change.order.examples : [];
  expect(examples.map(({ folder, output }) => [folder, output])).toEqual([
    ['a', 3],
    ['d', 9],
    ['h', 0],
    ['j', 7],
  ]);
  for (const { sample, folder } of examples) expect(state.samples.value?.files[sample]?.path).toMatch(`${folder}/`);
  expect(state.result.value).toBeNull();
  await take();
  expect(state.classMapping.value.outputs).toEqual(Object.fromEntries(folders.map((name, k) => [name, turned[k]])));
  expect(undoLabel.value).toBe('Folders in the order of the outputs');
  await quantize();
  expect(stopped()).toBeUndefined();
  expect(state.result.value?.float.value).toBe(1);
  undo();
  expect(state.classMapping.value).toEqual({ by: 'order', outputs: {} });
  redo();
  expect(state.classMapping.value.by).toBe('hand');
  await settled();
});

it('finds the preset that the wrong order hid', async () => {
  // answers say something only where pixels reach the model from -1 to 1
  behaviour.answers = (index, preprocessing) => (preprocessing?.mean[0] === 0.5 ? outputOf(index) : 3);
  await quantize();
  expect(stopped()?.sentence).toMatch(/: with the preset signed 100\.0.% of 128 samples are right\.$/);
  await take();
  expect([state.preprocessing.value?.mean[0], state.preprocessingIsGiven.value]).toEqual([0.5, true]);
  await quantize();
  expect(state.result.value?.float.value).toBe(1);
  undo();
  expect([state.preprocessing.value?.mean[0], state.classMapping.value.by]).toEqual([0.485, 'order']);
});

it('finds exchanged channels that the wrong order hid', async () => {
  const now = state.preprocessing.value;
  if (now) await setPreprocessing({ ...now, channels: 'BGR' });
  behaviour.answers = (index, preprocessing) => (preprocessing?.channels === 'RGB' ? outputOf(index) : 3);
  await quantize();
  expect(stopped()?.sentence).toMatch(/: with channels in the order RGB 100\.0.% of 128 samples are right\.$/);
  await take();
  expect([state.preprocessing.value?.channels, state.classMapping.value.by]).toEqual(['RGB', 'hand']);
  await quantize();
  expect(state.result.value?.float.value).toBe(1);
  undo();
  expect([state.preprocessing.value?.channels, state.classMapping.value.by]).toEqual(['BGR', 'order']);
});

it('says nothing of a file while float accuracy is one that no trained model has', async () => {
  behaviour.answers = (index) => (index * 7) % 10;
  await quantize();
  expect(stopped()?.id).toBe('at-chance');
  expect(stopped()?.reason).toMatch(/Tried: labels shifted by one, and the classes in every order\.$/);
  goOnAnyway();
  await settled();
  const done = state.result.value;
  if (!done) throw new Error('no result');
  expect(wordOf(done)).toMatchObject({ title: 'First get float right', isFit: false, isOfFile: false });
  expect(wordOf(done)?.reason).toMatch(/^Float accuracy is 10\.00.%, and no figure .* Tried: /);
  expect(wordOf({ ...done, float: { ...done.float, interval: wilson(70, 80), value: 0.9 } })?.title).toBe(
    'Usable with care',
  );
});

it('asks nothing of samples whose labels the page does not know', async () => {
  const set = state.samples.value;
  if (set) state.samples.value = { ...set, isUnlabelled: true };
  await quantize();
  expect(stopped()).toBeUndefined();
});

it('takes folders that are called by numbers of outputs for these', async () => {
  await firstVisit();
  await addArrivals([file('net.onnx'), ...pictures('0005', 4), ...pictures('7', 4)]);
  expect(state.classMapping.value.by).toBe('number');
  expect(state.labels.value).toEqual([5, 5, 5, 5, 7, 7, 7, 7]);
  // what the reader said then stays
  state.classMapping.value = { by: 'order', outputs: {} };
  const now = state.preprocessing.value;
  if (now) await setPreprocessing({ ...now, channels: 'BGR' });
  expect(state.classMapping.value.by).toBe('order');
  for (const names of [
    ['0', '1'],
    ['5', '10'],
    ['05', '5'],
    ['5', 'cat'],
  ]) {
    await firstVisit();
    await addArrivals([file('net.onnx'), ...names.flatMap((name) => pictures(name, 4))]);
    expect(state.classMapping.value.by).toBe('order');
  }
});

it('knows which accuracies no trained model has', () => {
  const doubtful = (right: number, count: number, chance: number) =>
    isDoubtful({ value: right / count, chance, count, interval: wilson(right, count) } as never);
  expect(doubtful(23, 128, 0.1)).toBe(true);
  expect(doubtful(45, 128, 0.1)).toBe(false);
  expect(doubtful(10, 50, 0.1)).toBe(true);
  expect(doubtful(5, 16, 0.1)).toBe(false);
  expect(doubtful(2, 100, 0.001)).toBe(true);
  expect(doubtful(55, 100, 0.5)).toBe(true);
  expect(doubtful(75, 100, 0.5)).toBe(false);
  expect(doubtful(1, 15, 0.1)).toBe(true);
  expect(doubtful(1, 4, 0.1)).toBe(false);
});
