// SPDX-License-Identifier: Apache-2.0

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { Advice, Change } from '../src/job/advice';
import { applyAdvice, currentAdvice } from '../src/job/apply_advice';
import { quantize } from '../src/job/quantize';
import * as state from '../src/job/state';
import { openPets } from './helpers';

let asked = 0;
const apply = (change: Change) => {
  const advice: Advice = { id: '', sentence: '', reason: '', word: 'Do it', change };
  return applyAdvice(advice, () => void ++asked);
};
const ids = () => currentAdvice().map(({ id }) => id);

beforeEach(async () => {
  asked = 0;
  await openPets();
  state.toast.value = null;
});
afterEach(() => {
  vi.unstubAllGlobals();
});

it('makes each change in a step, and says so with a button to take it back', async () => {
  await apply({ kind: 'field', name: 'weights_n_bits', value: 4 });
  expect(state.fields.value).toEqual({ weights_n_bits: 4 });
  expect(state.toast.value).toMatchObject({ text: 'Do it: done', action: { word: 'Undo' } });
  state.toast.value?.action?.act();
  expect(state.fields.value).toEqual({});
  await apply({ kind: 'float', name: 'conv1' });
  expect(state.keepFloat.value).toEqual({ conv1: true });
  await apply({ kind: 'bits', name: 'conv1', bits: 8 });
  expect(state.listedOverrides.value).toEqual([{ name: 'conv1', config: { weights_n_bits: 8 } }]);
  await apply({ kind: 'platform', name: 'chip' });
  expect(state.platformName.value).toBe('chip');
  await apply({ kind: 'calibration', count: 30 });
  expect(state.calibrationCount.value).toBe(30);
});

it('shifts labels from where they are, of arrays too', async () => {
  const offset = () => state.preprocessing.value?.label_offset;
  await apply({ kind: 'label-shift', by: 1 });
  expect(offset()).toBe(1);
  await apply({ kind: 'label-shift', by: 1 });
  expect(offset()).toBe(2);
  await apply({ kind: 'label-shift', by: -1 });
  expect(offset()).toBe(1);
  await apply({ kind: 'label-shift', by: -1 });
  await apply({ kind: 'label-shift', by: -1 });
  expect(offset()).toBe(-1);
  state.preprocessing.value = null;
  await apply({ kind: 'label-shift', by: 1 });
  expect(offset()).toBe(1);
});

it('goes back to the preprocessing that labels confirm', async () => {
  await apply({ kind: 'label-shift', by: 1 });
  expect(state.preprocessingIsGiven.value).toBe(true);
  await apply({ kind: 'preprocessing' });
  expect([state.preprocessingIsGiven.value, state.preprocessing.value?.label_offset]).toEqual([false, 0]);
});

it('says nothing where nothing changed, and leads to what is to be looked at', async () => {
  await apply({ kind: 'field', name: 'no_such_field', value: 4 });
  await apply({ kind: 'samples' });
  expect([state.toast.value, asked]).toEqual([null, 1]);
  const looked: string[] = [];
  const focused: unknown[] = [];
  vi.stubGlobal('requestAnimationFrame', (act: () => void) => act());
  const element = { focus: (how: unknown) => focused.push(how), scrollIntoView: () => undefined };
  vi.stubGlobal('document', { querySelector: (of: string) => looked.push(of) && element });
  await apply({ kind: 'show-mapping' });
  await apply({ kind: 'show-preprocessing' });
  await apply({ kind: 'show-float' });
  expect(looked).toEqual(['.outputs select', '.preprocessing-form select', '.stays-float']);
  expect(focused).toEqual([{ preventScroll: true }, { preventScroll: true }]);
  expect(state.openRegions.value.has('samples')).toBe(true);
});

it('advises on a whole result of these settings, and on no other', async () => {
  expect(ids()).toEqual([]);
  await quantize();
  expect(ids()).toContain('guessed-preprocessing');
  const done = state.result.value;
  if (!done) throw new Error('no result');
  state.result.value = { ...done, pending: 'layers' };
  expect(ids()).toEqual([]);
  state.result.value = done;
  state.fields.value = { weights_n_bits: 4 };
  expect(ids()).toEqual([]);
  state.fields.value = {};
  const engine = state.engine.value;
  state.engine.value = null;
  expect(ids()).toEqual([]);
  state.engine.value = engine;
  state.result.value = null;
  expect(ids()).toEqual([]);
});

it('takes a preprocessing for a guess until the reader, or a trial on labels, has said it', async () => {
  await quantize();
  const isGuess = () => ids().includes('guessed-preprocessing');
  state.preprocessingIsGiven.value = true;
  expect(isGuess()).toBe(false);
  state.preprocessingIsGiven.value = false;
  expect(isGuess()).toBe(true);
  state.preprocessingTrial.value = { best: 'unit', samples: 50, is_chance: false, tried: [] };
  expect(isGuess()).toBe(false);
  state.preprocessingTrial.value = null;
  const info = state.samplesInfo.value;
  if (info) state.samplesInfo.value = { ...info, preprocessing_is_guess: false };
  expect(isGuess()).toBe(false);
});

it('sets another preset than the trial’s best against it only where the reader gave one', async () => {
  await quantize();
  const done = state.result.value;
  if (!done) throw new Error('no result');
  state.result.value = { ...done, float: { ...done.float, value: 0.5 } };
  state.preprocessingTrial.value = {
    ...{ best: 'unit', samples: 50, is_chance: false, tried: [{ name: 'unit', right: 48 }] },
  };
  expect(ids()).not.toContain('wrong-preprocessing');
  state.preprocessingIsGiven.value = true;
  expect(ids()).toContain('wrong-preprocessing');
  state.preprocessingTrial.value = null;
  expect(ids()).not.toContain('wrong-preprocessing');
});
