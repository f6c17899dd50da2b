// SPDX-License-Identifier: Apache-2.0

import type { Preprocessing } from 'tersor';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { copyAcross, openConfiguration } from '../src/job/compare';
import { redo, redoLabel, step, stepAndSay, undo, undoKind, undoLabel } from '../src/job/history';
import { addArrivals, setCalibration } from '../src/job/load';
import { setKeepFloat } from '../src/job/settings';
import * as state from '../src/job/state';
import { behaviour } from './double';
import { file, firstVisit, openPets, petPictures, pictures, settled } from './helpers';

const bits = (n: number) => (state.fields.value = { weights_n_bits: n });
const said = () => [state.toast.value?.text, state.toast.value?.action?.word];

beforeEach(firstVisit);
afterEach(() => {
  vi.restoreAllMocks();
});

it('takes steps back and does them again, in order, and says so', () => {
  undo();
  expect(said()).toEqual(['There is nothing to undo.', undefined]);
  redo();
  expect(said()).toEqual(['There is nothing to redo.', undefined]);
  step('Four', () => bits(4));
  step('Two', () => bits(2));
  expect([undoLabel.value, redoLabel.value]).toEqual(['Two', null]);
  undo();
  expect(state.fields.value).toEqual({ weights_n_bits: 4 });
  expect(said()).toEqual(['Undone: Two', 'Redo']);
  expect([undoLabel.value, redoLabel.value]).toEqual(['Four', 'Two']);
  undo();
  expect(state.fields.value).toEqual({});
  redo();
  expect(state.fields.value).toEqual({ weights_n_bits: 4 });
  expect(said()).toEqual(['Done again: Four', 'Undo']);
  step('Eight', () => bits(8));
  expect(redoLabel.value).toBeNull();
});

it('takes back what a step changed, and nothing that changed since', () => {
  step('Four', () => bits(4));
  state.keepFloat.value = { gap: true };
  undo();
  expect(state.fields.value).toEqual({});
  expect(state.keepFloat.value).toEqual({ gap: true });
});

it('remembers no step that changed nothing, and says none', () => {
  step('Nothing', () => undefined);
  expect(undoLabel.value).toBeNull();
  stepAndSay('Nothing', () => undefined);
  expect(said()).toEqual([undefined, undefined]);
  stepAndSay('Four', () => bits(4));
  expect(said()).toEqual(['Four', 'Undo']);
  state.toast.value?.action?.act();
  expect(state.fields.value).toEqual({});
});

it('makes one step of those of one kind within a second', () => {
  const clock = vi.spyOn(performance, 'now');
  const slide = (at: number, count: number, kind = 'split') => {
    clock.mockReturnValue(at);
    step(`${count}`, () => (state.chosenCalibration.value = count), kind);
  };
  slide(5000, 10);
  slide(5999, 20);
  slide(6500, 30);
  expect(undoKind.value).toBe('split');
  undo();
  expect(state.chosenCalibration.value).toBeNull();
  expect(undoLabel.value).toBeNull();
  const kinds: readonly [number, string][] = [
    [1000, 'split'],
    [999, 'other'],
  ];
  for (const [after, kind] of kinds) {
    slide(10_000, 10);
    slide(10_000 + after, 20, kind);
    undo();
    expect(state.chosenCalibration.value).toBe(10);
    undo();
  }
  // steps without a kind stay single ones, and so do those that change other things
  slide(20_000, 10, '');
  slide(20_001, 20, '');
  undo();
  expect(state.chosenCalibration.value).toBe(10);
  slide(30_000, 30);
  step('bits', () => bits(4), 'split');
  undo();
  expect([state.fields.value, state.chosenCalibration.value]).toEqual([{}, 30]);
});

it('takes preprocessing and split back', async () => {
  await openPets();
  const chosen = state.preprocessing.value as Preprocessing;
  step('Given', () => {
    state.preprocessing.value = { ...chosen, label_offset: 1 };
    state.preprocessingIsGiven.value = true;
  });
  setCalibration(20);
  undo();
  expect(state.chosenCalibration.value).toBeNull();
  expect(state.preprocessingIsGiven.value).toBe(true);
  undo();
  expect(state.preprocessing.value).toEqual(chosen);
  expect(state.preprocessingIsGiven.value).toBe(false);
  redo();
  expect(state.preprocessing.value?.label_offset).toBe(1);
  expect(state.preprocessingIsGiven.value).toBe(true);
  redo();
  expect(state.chosenCalibration.value).toBe(20);
});

it('asks what becomes an integer after settings were taken back, and not after a split', async () => {
  await openPets();
  const handle = state.model.value?.handle;
  if (!handle) throw new Error('no model');
  setCalibration(20);
  step('Four', () => bits(4));
  const asked = vi.spyOn(handle, 'coverage');
  undo();
  expect(asked).toHaveBeenCalledTimes(1);
  undo();
  expect(asked).toHaveBeenCalledTimes(1);
});

it('takes back a copy, with the step in the configuration that it was made in', () => {
  step('Four', () => bits(4));
  copyAcross();
  expect([state.active.value, undoLabel.value]).toEqual(['B', 'A copied to B (A)']);
  step('Two', () => bits(2));
  expect(undoLabel.value).toBe('Two (B)');
  openConfiguration('A');
  undo();
  expect(state.active.value).toBe('B');
  expect(state.fields.value).toEqual({ weights_n_bits: 4 });
  undo();
  expect([state.active.value, state.parked.value, state.looksAt.value]).toEqual(['A', null, 'all']);
  expect(state.fields.value).toEqual({ weights_n_bits: 4 });
  undo();
  expect(state.fields.value).toEqual({});
  redo();
  redo();
  expect(state.parked.value?.fields).toEqual({ weights_n_bits: 4 });
});

it('stays in the open configuration where a step changed the other or the samples alone', () => {
  copyAcross();
  setCalibration(9);
  openConfiguration('A');
  undo();
  expect(state.active.value).toBe('A');
});

it('closes the problems of settings and job with a step', () => {
  step('Four', () => bits(4));
  const problem = { code: '', message: '', place: '', hint: '' };
  state.settingsProblem.value = problem;
  state.runProblem.value = problem;
  undo();
  expect([state.settingsProblem.value, state.runProblem.value]).toEqual([null, null]);
});

it('keeps 200 steps', () => {
  for (let k = 0; k < 201; ++k) step(`${k}`, () => bits(k));
  for (let k = 0; k < 200; ++k) undo();
  expect(state.fields.value).toEqual({ weights_n_bits: 0 });
  expect(undoLabel.value).toBeNull();
});

it('brings back another model with its operators and samples, and closes what no step leads to', async () => {
  await openPets();
  const shown = () => [state.model.value?.name, state.keepFloat.value, state.samplesInfo.value !== null];
  setKeepFloat('conv1', true);
  for (const name of ['b.onnx', 'c.onnx']) await addArrivals([file(name)]);
  expect(shown()).toEqual(['c.onnx', {}, true]);
  expect(behaviour.calls).not.toContain('close model');
  expect(undoLabel.value).toBe('Opened c.onnx');
  undo();
  undo();
  expect(shown()).toEqual(['net.onnx', { conv1: true }, true]);
  redo();
  expect(shown()).toEqual(['b.onnx', {}, true]);
  // what was undone is left when something else is done
  setKeepFloat('gap', true);
  expect(behaviour.calls.filter((call) => call === 'close model')).toHaveLength(1);
  undo();
  for (const name of ['d.onnx', 'e.onnx', 'f.onnx']) await addArrivals([file(name)]);
  for (let k = 0; k < 9; ++k) undo();
  expect(state.model.value?.name).toBe('d.onnx');
});

it('takes samples back, and reads those that no model had read', async () => {
  await firstVisit();
  await addArrivals(petPictures);
  await addArrivals(pictures('ant', 4));
  await addArrivals([file('net.onnx')]);
  expect(state.sampleCount.value).toBe(4);
  undo();
  await settled();
  expect([state.model.value?.name, state.sampleCount.value]).toEqual(['net.onnx', 100]);
});
