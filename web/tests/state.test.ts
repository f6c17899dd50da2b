// SPDX-License-Identifier: Apache-2.0

import type { Comparison, ModelInfo, Preprocessing, SamplesInfo, TargetPlatformCapabilities } from 'tersor';
import { beforeEach, describe, expect, it } from 'vitest';

import { plain } from '../src/job/configurations';
import type { Problem } from '../src/job/problem';
import * as state from '../src/job/state';
import { file, firstVisit, openPets } from './helpers';

const problem: Problem = { code: 'invalid_samples', message: 'It is cut short.', place: '', hint: '' };

/** Changes what is known of the samples. */
function know(more: Partial<SamplesInfo>): void {
  state.samplesInfo.value = { ...state.samplesInfo.value, ...more } as SamplesInfo;
}
function knowSet(more: Partial<state.SampleSet>): void {
  const set = state.samples.value;
  if (set) state.samples.value = { ...set, ...more };
}
function knowOutput(shape: ModelInfo['outputs'][number]['shape']): void {
  const open = state.model.value;
  if (!open) throw new Error('no model');
  const info = { ...open.handle.info, outputs: [{ name: 'y', type: 'float', shape }] };
  state.model.value = { ...open, handle: { info } as unknown as typeof open.handle };
}
const classesOf = (...names: string[]) => names.map((name, label) => ({ name, label, count: 1 }));

it('is closed and empty on a first visit', async () => {
  await firstVisit();
  for (const signal of [
    state.ready,
    state.storedOffline,
    state.isDemo,
    state.preprocessingIsGiven,
    state.trainingTimed,
  ])
    expect(signal.value).toBe(false);
  expect(state.atStart.value).toBe(true);
  expect(state.running.value).toBe(false);
  expect(state.openRegions.value.size).toBe(0);
});

it('is no longer at the start once anything was opened, or could not be', async () => {
  for (const open of [
    () => (state.model.value = {} as state.OpenModel),
    () => (state.samples.value = {} as state.SampleSet),
    () => (state.recipe.value = {} as state.OpenRecipe),
    () => (state.modelProblem.value = problem),
    () => (state.samplesProblem.value = problem),
    () => (state.settingsProblem.value = problem),
    () => (state.result.value = { key: '' } as state.Result),
  ]) {
    await firstVisit();
    open();
    expect(state.atStart.value).toBe(false);
  }
});

it('keeps the settings open beside the region that opens alone', async () => {
  await firstVisit();
  state.openRegion('model');
  state.openRegion('settings');
  state.openOnly('results');
  expect([...state.openRegions.value].sort()).toEqual(['results', 'settings']);
});

describe('samples', () => {
  beforeEach(openPets);

  it('are split in the engine’s way, in the reader’s, or used twice where all calibrate', () => {
    expect([state.calibrationCount.value, state.evaluationCount.value]).toEqual([50, 50]);
    state.chosenCalibration.value = 30;
    expect([state.calibrationCount.value, state.evaluationCount.value]).toEqual([30, 70]);
    state.chosenCalibration.value = 100;
    expect([state.calibrationCount.value, state.evaluationCount.value]).toEqual([100, 100]);
    state.chosenCalibration.value = 300;
    expect([state.calibrationCount.value, state.evaluationCount.value]).toEqual([100, 100]);
    state.samplesInfo.value = null;
    expect(state.calibrationCount.value).toBe(0);
  });

  it('have a preprocessing that is a guess until something else is in force', () => {
    expect(state.preprocessingIsGuess.value).toBe(true);
    const chosen = state.preprocessing.value;
    if (!chosen) throw new Error('no preprocessing');
    state.preprocessing.value = { ...chosen };
    expect(state.preprocessingIsGuess.value).toBe(true);
    state.preprocessing.value = { ...chosen, label_offset: 1 };
    expect(state.preprocessingIsGuess.value).toBe(false);
    state.preprocessing.value = chosen;
    know({ preprocessing_is_guess: false });
    expect(state.preprocessingIsGuess.value).toBe(false);
    state.samplesInfo.value = null;
    expect(state.preprocessingIsGuess.value).toBe(false);
  });

  it('may need numbers from the reader before they can be read', () => {
    know({
      count: 0,
      inputs: [
        { name: 'mask', from: 'asked' },
        { name: 'input', from: 'samples' },
      ],
    } as Partial<SamplesInfo>);
    expect(state.asked.value).toEqual(['mask']);
    expect(state.missing.value).toBe('Waiting for an answer above: mask.');
    state.preprocessing.value = { ...state.preprocessing.value, inputs: { mask: 1 } } as unknown as Preprocessing;
    expect(state.asked.value).toEqual([]);
    expect(state.missing.value).toBe('Next: samples that fit the model.');
  });

  it('may be recordings of which nothing says how long a piece is', () => {
    expect(state.hasRecordings.value).toBe(false);
    const asks = () => [state.asksLength.value, ...state.asked.value];
    state.samplesProblem.value = { ...problem, hint: 'Give "length".' };
    know({ count: 0 });
    expect(asks()).toEqual([false]);
    knowSet({ files: [file('a.png'), file('b.WAV')] });
    expect(state.hasRecordings.value).toBe(true);
    expect(asks()).toEqual([true, 'the length of a piece']);
    know({ count: 1 });
    expect(asks()).toEqual([false]);
    know({ count: 0 });
    state.samplesProblem.value = problem;
    expect(asks()).toEqual([false]);
    state.samples.value = null;
    expect(state.hasRecordings.value).toBe(false);
  });
});

describe('class folders', () => {
  beforeEach(openPets);

  it('have the number in their name where there is one', () => {
    expect(['207', 'class_207', 'n02', 'cat', '1_2', ''].map(state.outputInName)).toEqual([
      207,
      207,
      2,
      null,
      null,
      null,
    ]);
  });

  it('stand for outputs in their order, by number or by hand', () => {
    know({ classes: classesOf('cat 5', 'dog', 'emu 3') });
    const mapped = () => state.mappedOutputs.value && [...state.mappedOutputs.value.values()];
    expect(mapped()).toBeNull();
    state.classMapping.value = { by: 'number', outputs: { dog: 9 } };
    expect(mapped()).toEqual([5, 1, 3]);
    state.classMapping.value = { by: 'hand', outputs: { dog: 9 } };
    expect(mapped()).toEqual([0, 9, 2]);
    know({ classes: [] });
    expect(mapped()).toBeNull();
  });

  it('are held against the outputs of a model that has a list of them', () => {
    for (const [shape, count] of [
      [['N', 10], 10],
      [[1, 2], 2],
      [[1, 1], null],
      [['N', 'classes'], null],
      [[1, 10, 4], null],
      [[10], null],
      [null, null],
    ] as const) {
      knowOutput(shape);
      expect(state.outputCount.value).toBe(count);
    }
    state.model.value = null;
    expect(state.outputCount.value).toBeNull();
  });

  it('are taken for the first outputs where they are fewer and nothing else is said', () => {
    expect(state.foldersByOrder.value).toEqual({ folders: 2, outputs: 10 });
    know({ classes: classesOf(...'abcdefghij') });
    expect(state.foldersByOrder.value).toBeNull();
    know({ classes: classesOf(...'abcdefghi') });
    expect(state.foldersByOrder.value).toEqual({ folders: 9, outputs: 10 });
    know({ classes: [] });
    expect(state.foldersByOrder.value).toBeNull();
    know({ classes: [{ name: 'b', label: 1, count: 1 }] });
    expect(state.foldersByOrder.value).toBeNull();
  });

  it('are not taken by order where labels, a file or a mapping say what they are', async () => {
    for (const say of [
      () => know({ labels_from: 'files' }),
      () => knowSet({ labelsFile: file('labels.csv') }),
      () => knowSet({ isUnlabelled: true }),
      () => (state.classMapping.value = { by: 'number', outputs: {} }),
      () => knowOutput([1, 10, 4]),
    ]) {
      await openPets();
      say();
      expect(state.foldersByOrder.value).toBeNull();
    }
  });

  it('cannot be more than the outputs, nor beyond them', () => {
    expect(state.mappingFault.value).toBe('');
    know({ classes: classesOf(...'abcdefghij') });
    expect(state.mappingFault.value).toBe('');
    know({ classes: classesOf(...'abcdefghijk') });
    expect(state.mappingFault.value).toMatch(/^There are more folders than outputs/);
    expect(state.missing.value).toMatch(/class folders do not fit/);
    know({ labels_from: 'files' });
    expect(state.mappingFault.value).toBe('Output 10 is not there: the model has outputs 0 to 9.');
    know({ classes: classesOf('cat', 'dog'), labels_from: 'folders' });
    state.classMapping.value = { by: 'hand', outputs: { dog: 12 } };
    expect(state.mappingFault.value).toBe('Output 12 is not there: the model has outputs 0 to 9.');
    knowSet({ labelsFile: file('labels.csv') });
    expect(state.mappingFault.value).toBe('');
    knowSet({ labelsFile: null, isUnlabelled: true });
    expect(state.mappingFault.value).toBe('');
    knowSet({ isUnlabelled: false });
    know({ classes: [] });
    expect(state.mappingFault.value).toBe('');
    know({ classes: classesOf('cat', 'dog') });
    knowOutput([1, 10, 4]);
    expect(state.mappingFault.value).toBe('');
  });

  it('give labels by folder, by output, from a file, or none', () => {
    expect(state.labels.value).toBe('folders');
    state.classMapping.value = { by: 'hand', outputs: { cat: 4, dog: 7 } };
    // an archive of several samples has as many labels
    know({ labels: [0, 1, 1, 0] });
    expect(state.labels.value).toEqual([4, 7, 7, 4]);
    expect([4, 7, 0].map(state.folderOfLabel)).toEqual(['cat', 'dog', null]);
    state.preprocessing.value = { ...state.preprocessing.value, label_offset: 1 } as Preprocessing;
    expect(state.labels.value).toEqual([3, 6, 6, 3]);
    state.preprocessing.value = null;
    expect(state.labels.value).toEqual([4, 7, 7, 4]);
    const labelsFile = file('labels.csv');
    knowSet({ labelsFile });
    expect(state.labels.value).toBe(labelsFile);
    knowSet({ labelsFile: null, isUnlabelled: true });
    expect(state.labels.value).toBeNull();
    knowSet({ isUnlabelled: false });
    know({ classes: [] });
    expect(state.labels.value).toBeNull();
    know({ classes: classesOf('cat') });
    state.samples.value = null;
    expect(state.labels.value).toBe('folders');
  });
});

describe('what is missing', () => {
  beforeEach(openPets);

  const now = () => [state.missing.value, state.canQuantize.value];

  it('is nothing where model and samples fit', () => {
    expect(now()).toEqual(['', true]);
  });

  it('is said in the order in which it is to be done', () => {
    know({ errors: [{ path: 'a.png', error: problem }] });
    expect(now()).toEqual(['Waiting for an answer above: some samples do not fit the model.', false]);
    know({ count: 0 });
    expect(now()[0]).toBe('Next: samples that fit the model.');
    state.samplesProblem.value = problem;
    expect(now()[0]).toBe('Waiting for an answer above: the samples do not fit the model.');
    state.samplesInfo.value = null;
    state.samplesProblem.value = null;
    expect(now()[0]).toBe('Reading samples …');
    const set = state.samples.value;
    state.samples.value = null;
    expect(now()[0]).toMatch(/^Next: samples\. 100 or more pictures/);
    state.coverageProblem.value = { ...problem, message: 'No such operator.\nMore.' };
    expect(now()[0]).toBe('Waiting for an answer above: No such operator.');
    state.model.value = null;
    expect(now()[0]).toBe('Next: a float model (.onnx or .tflite) and samples.');
    state.samples.value = set;
    expect(now()[0]).toBe('Next: the float model (.onnx or .tflite).');
    state.engineProblem.value = problem;
    expect(now()[0]).toBe('The engine did not start; see above.');
  });

  it('is an answer where a preprocessing no longer fits, and nothing where single labels are told', () => {
    state.samplesProblem.value = problem;
    expect(now()).toEqual(['', true]);
    state.samplesProblem.value = { ...problem, code: 'invalid_labels' };
    expect(now()).toEqual(['Waiting for an answer above: the labels do not fit the samples.', false]);
    state.samplesProblem.value = problem;
    state.fittingPreprocessing.value = state.preprocessing.value;
    expect(now()).toEqual(['Waiting for an answer above: the samples do not fit the model.', false]);
    state.samplesProblem.value = null;
    expect(now()).toEqual(['', true]);
  });

  it('keeps a job from beginning beside another, or without an engine', () => {
    state.run.value = {} as state.Run;
    expect(state.running.value).toBe(true);
    expect(now()).toEqual(['', false]);
    state.run.value = null;
    state.tradeoffRun.value = { kind: 'curve', done: 0, of: 1 };
    expect(now()).toEqual(['', false]);
    state.tradeoffRun.value = null;
    state.engine.value = null;
    expect(now()).toEqual(['', false]);
  });
});

describe('a result', () => {
  const quantized = (name: string) => ({ report: { coverage: { name } } }) as unknown as state.Result['quantized'];
  const made = (key: string): state.Result =>
    ({ key, quantized: quantized('made'), comparison: {} as Comparison }) as state.Result;

  beforeEach(openPets);

  it('is old as soon as a setting that it was made of is another', () => {
    expect(state.resultIsOld.value).toBe(false);
    state.result.value = made(state.settingsKey.value);
    expect(state.resultIsOld.value).toBe(false);
    for (const change of [
      () => (state.fields.value = { weights_n_bits: 4 }),
      () => (state.keepFloat.value = { conv1: true }),
      () => (state.listedOverrides.value = [{ name: 'conv1', annotate: true }]),
      () => (state.platformName.value = 'chip'),
      () => (state.chosenCalibration.value = 7),
      () => (state.frameworkInfo.value = {}),
      () => (state.classMapping.value = { by: 'number', outputs: {} }),
      () => (state.preprocessing.value = null),
      () => knowSet({ id: 77 }),
    ]) {
      state.result.value = made(state.settingsKey.value);
      change();
      expect(state.resultIsOld.value).toBe(true);
    }
  });

  it('does not make the curve or the untrained result old by what is not part of it', () => {
    const keys = () => [state.tradeoffKey.value, state.untrainedKey.value];
    const [curve, untrained] = keys();
    state.fields.value = { target_resource_utilization: {}, mixed_precision_config: {} };
    expect(keys()[0]).toBe(curve);
    expect(keys()[1]).not.toBe(untrained);
    state.fields.value = { gradient_ptq_config: {} };
    expect(keys()[0]).not.toBe(curve);
    expect(keys()[1]).toBe(untrained);
  });

  it('shows the operators of the file, and those that are expected where there is none of these settings', () => {
    const expected = state.coverage.value;
    expect(state.shownCoverage.value).toBe(expected);
    state.result.value = made(state.settingsKey.value);
    expect(state.shownCoverage.value).toEqual({ name: 'made' });
    state.result.value = made('other');
    expect(state.shownCoverage.value).toBe(expected);
  });

  it('is old of the other configuration by its own settings', () => {
    expect(state.parkedIsOld.value).toBe(false);
    state.parked.value = plain;
    expect(state.parkedIsOld.value).toBe(false);
    state.parkedResult.value = made(state.settingsKey.value);
    expect(state.parkedIsOld.value).toBe(false);
    state.fields.value = { weights_n_bits: 4 };
    expect(state.parkedIsOld.value).toBe(false);
    state.parked.value = { ...plain, fields: { weights_n_bits: 4 } };
    expect(state.parkedIsOld.value).toBe(true);
    state.parked.value = null;
    expect(state.parkedIsOld.value).toBe(true);
  });

  it('is unsaved until it was saved, unless it is the demo’s', () => {
    expect(state.isUnsaved.value).toBe(false);
    state.result.value = made('');
    expect(state.isUnsaved.value).toBe(true);
    state.saved.value = quantized('other');
    expect(state.isUnsaved.value).toBe(true);
    state.isDemo.value = true;
    expect(state.isUnsaved.value).toBe(false);
    state.isDemo.value = false;
    state.saved.value = state.result.value.quantized;
    expect(state.isUnsaved.value).toBe(false);
  });
});

it('takes the later of equal settings of single operators', async () => {
  await firstVisit();
  state.listedOverrides.value = [{ name: 'a', config: { weights_n_bits: 4 } }];
  state.keepFloat.value = { a: true, b: false };
  const both = (on: boolean) => ({ enable_weights_quantization: on, enable_activation_quantization: on });
  expect(state.overrides.value).toEqual([
    { name: 'a', config: { weights_n_bits: 4 } },
    { name: 'a', config: both(false) },
    { name: 'b', config: both(true) },
  ]);
});

it('takes the reader’s own platform by its label', async () => {
  await firstVisit();
  const own = (label: string) => ({
    label,
    file: '',
    title: '',
    description: '',
    capabilities: { label } as unknown as TargetPlatformCapabilities,
  });
  state.ownPlatforms.value = [own('file:a'), own('file:b')];
  expect(state.platform.value).toBe('ort-cpu');
  state.platformName.value = 'file:b';
  expect(state.platform.value).toEqual({ label: 'file:b' });
});

it('names a recipe that was made for another model', async () => {
  const recipe = (model_digest: string) =>
    (state.recipe.value = { name: 'r.json', recipe: { model_digest } } as unknown as state.OpenRecipe);
  await firstVisit();
  recipe('other');
  expect(state.foreignRecipe.value).toBeNull();
  await openPets();
  expect(state.foreignRecipe.value).toBeNull();
  recipe('other');
  expect(state.foreignRecipe.value).toBe('r.json');
  recipe('ab'.repeat(32));
  expect(state.foreignRecipe.value).toBeNull();
});

it('says how large the file will be, where that is known', async () => {
  await firstVisit();
  expect(state.expectedBytes.value).toBeNull();
  await openPets();
  expect(state.expectedBytes.value).toBe(301_000);
  const known = state.coverage.value;
  if (known) state.coverage.value = { ...known, estimated_size_bytes: 0 };
  expect(state.expectedBytes.value).toBeNull();
});
