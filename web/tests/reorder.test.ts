// SPDX-License-Identifier: Apache-2.0

import { beforeEach, expect, it } from 'vitest';

import { applyAdvice } from '../src/job/apply_advice';
import { redo, undo, undoLabel } from '../src/job/history';
import { addArrivals, leaveOutLabels, setPreprocessing } from '../src/job/load';
import { currentStop, goOnAnyway, quantize } from '../src/job/quantize';
import * as state from '../src/job/state';
import { openQuestion, trustFloat, wordOf } from '../src/job/verdict';
import { behaviour } from './double';
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

it('looks at more samples where the model is surer than right', async () => {
  Object.assign(behaviour, { fewestForOrder: 100, sureness: 0.65 });
  await quantize();
  expect(stopped()).toBeUndefined();
  Object.assign(behaviour, { sureness: 0.95 });
  state.measured.value = { ...state.measured.value, float: null };
  await quantize();
  expect(stopped()?.id).toBe('labels-reordered');
  expect(stopped()?.sentence).toMatch(/: 60\.\d.% → 100\.0.% of 128 samples are right\.$/);
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

it('finds the preset with which the labels are right as they are, where no folders told', async () => {
  behaviour.answers = (index, preprocessing) =>
    preprocessing?.mean[0] === 0.5 ? Math.floor(index / each) : (index * 7) % 10;
  await quantize();
  expect(stopped()?.id).toBe('other-preprocessing');
  expect(stopped()?.sentence).toMatch(
    /^With the preset signed 100\.0.% of 128 samples are right; as they reach the model now, 10\.\d.%\.$/,
  );
  await take();
  expect(undoLabel.value).toBe('Preprocessing');
  await quantize();
  expect(state.result.value?.float.value).toBe(1);
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
  expect(wordOf({ ...done, float: { ...done.float, doubt: 'overconfident', sureness: 0.9 } })).toMatchObject({
    title: 'Usable with care',
    plain: expect.stringMatching(/90.% sure of its answers and right in 10\.00.%/),
  });
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

it('says in which order the labels of a file are, and tries presets for them', async () => {
  const set = state.samples.value;
  if (set) state.samples.value = { ...set, labelsFile: { path: 'labels.csv', data: new Blob() } };
  behaviour.labelsOfFile = (index) => Math.floor(index / each);
  await quantize();
  expect(stopped()).toMatchObject({ id: 'labels-reordered', change: { kind: 'samples' } });
  expect(stopped()?.sentence).toMatch(/^Your labels look like a reordering .* 60\.0.% → 100\.0.% of 80 samples/);
  expect(stopped()?.reason).toContain('label 0 is output 3, label 3 is output 9');
  behaviour.answers = (index, preprocessing) =>
    preprocessing?.mean[0] === 0.5 ? Math.floor(index / each) : (index * 7) % 10;
  state.measured.value = { ...state.measured.value, float: null };
  await quantize();
  expect(stopped()?.id).toBe('other-preprocessing');
});

it('gives no tick without labels until the reader says that float is right, and remembers a float that was wrong', async () => {
  const word = () => {
    const { quantized, ...others } = state.result.value ?? ({} as state.Result);
    const verdict = { ...quantized.report.verdict, usability: 'usable' };
    return wordOf({ ...others, quantized: { ...quantized, report: { ...quantized.report, verdict } } } as state.Result);
  };
  behaviour.answers = (index) => (index * 7) % 10;
  await quantize();
  leaveOutLabels();
  await quantize();
  const done = state.result.value;
  if (!done) throw new Error('no result');
  expect(word()).toMatchObject({ title: 'Worth it if float is right', kind: 'note', isFit: true });
  expect(openQuestion(done)).toMatch(
    /^With their labels float was right in 10\.00.% of 80 samples\. Is it right all the same\?$/,
  );
  trustFloat(done);
  expect([word()?.title, openQuestion(done), state.resultIsOld.value]).toEqual(['Worth it', null, false]);
  undo();
  expect(word()?.kind).toBe('note');
});
