// SPDX-License-Identifier: Apache-2.0

import type { Comparison, Model, Preprocessing, Recipe, SamplesInfo } from 'tersor';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import * as aside from '../src/job/aside';
import type { Arrival } from '../src/job/intake';
import { updateCoverage } from '../src/job/coverage';
import { fileNamed, inspect, showSample } from '../src/job/inspect';
import {
  addArrivals,
  dismiss,
  leaveOutBadSamples,
  leaveOutLabels,
  setClassMapping,
  setPreprocessing,
  takeOwnLabels,
} from '../src/job/load';
import type { Problem } from '../src/job/problem';
import * as state from '../src/job/state';
import { behaviour, TersorError } from './double';
import { file, firstVisit, openPets, petPictures, pictures } from './helpers';

const problem = (more: Partial<Problem> = {}): Problem => ({
  ...{ code: 'invalid_samples', message: 'It is cut short.', place: '', hint: '' },
  ...more,
});
const handle = (): Model => {
  if (!state.model.value) throw new Error('no model');
  return state.model.value.handle;
};
const bad = (path: string, more: Partial<Problem> = {}) => ({ path, error: problem(more) });
const json = (path: string, value: object) => file(path, JSON.stringify(value));
const recipe = (more: object = {}) => ({
  format: 'tersor-recipe',
  model_digest: 'ab'.repeat(32),
  platform: { name: 'ort-cpu', version: 1 },
  quantization_config: {},
  overrides: [],
  preprocessing: null,
  data_set: { samples: 0, of: 0, digest: '' },
  ...more,
});
/** The samples as the engine finds them, but for this. */
function knowSamples(more: Partial<SamplesInfo>): void {
  const of = handle();
  const { inspectSamples } = Object.getPrototypeOf(of) as Model;
  vi.spyOn(of, 'inspectSamples').mockImplementation(async (...given) => ({
    ...(await inspectSamples.apply(of, given)),
    ...more,
  }));
}
/** An archive, unpacked into these files. */
function unzipped(path: string, ...files: Arrival[]): Arrival {
  vi.spyOn(aside, 'unzip').mockResolvedValueOnce(files);
  return file(path);
}

beforeEach(firstVisit);
afterEach(() => {
  vi.restoreAllMocks();
});

describe('files that are no samples', () => {
  const told = async (...paths: string[]) => {
    state.toast.value = null;
    await addArrivals(paths.map((path) => file(path)));
    return state.toast.value as state.Toast | null;
  };

  it('are named, each in its number', async () => {
    expect((await told('net.onnx', 'notes.txt'))?.text).toMatch(/^notes\.txt is neither .* It is read only/);
    expect((await told('net.onnx', 'd/a.txt', 'b.md'))?.text).toMatch(/^a\.txt and 1 other file are .* They are read/);
    expect((await told('net.onnx', 'a.txt', 'b.md', 'c.bin'))?.text).toMatch(/^a\.txt and 2 other files are/);
    expect((await told('a.png', 'c.bin'))?.text).toMatch(/^c\.bin is neither/);
    expect(await told('net.onnx', 'a.png')).toBeNull();
  });

  it('are tried as a model where nothing else came with them', async () => {
    expect(await told('net.weights')).toBeNull();
    expect(state.model.value?.name).toBe('net.weights');
    await told('b.bin', 'a.png');
    expect(state.model.value?.name).toBe('net.weights');
  });
});

describe('a model', () => {
  it('opens under its file’s name, and those that undo leads to stay open', async () => {
    await addArrivals([file('folder/net.onnx')]);
    expect(state.model.value?.name).toBe('net.onnx');
    expect(state.model.value?.seconds).toBeLessThan(60);
    expect(state.model.value?.seconds).toBeGreaterThanOrEqual(0);
    expect([...state.openRegions.value]).toEqual(['model']);
    expect(behaviour.calls).not.toContain('close model');
    for (const name of ['b.onnx', 'c.onnx']) await addArrivals([file(name)]);
    expect(behaviour.calls).not.toContain('close model');
    await addArrivals([file('d.onnx')]);
    expect(behaviour.calls).toContain('close model');
  });

  it('waits for the file of its weights, and for no other', async () => {
    behaviour.openError = { code: 'io', message: 'It is missing.', place: 'graph.net.bin', hint: '' };
    await addArrivals([file('net.onnx')]);
    expect(state.model.value).toBeNull();
    await addArrivals([file('a.png'), file('other.bin')]);
    behaviour.openError = null;
    await addArrivals([file('b.png'), file('third.bin')]);
    expect(state.model.value).toBeNull();
    await addArrivals([file('c.png'), file('net.bin')]);
    expect(state.model.value?.name).toBe('net.onnx');
    expect([...(state.model.value?.beside.keys() ?? [])]).toContain('net.bin');
  });

  it('that fails names its own file, and where the engine said no more than that', async () => {
    behaviour.openError = problem({ code: 'invalid_model', place: 'node[3]', hint: 'Export it again.' });
    await addArrivals([file('net.onnx')]);
    expect(state.modelProblem.value).toMatchObject({ place: 'node[3]', hint: 'Export it again.' });
    expect(state.openRegions.value.has('model')).toBe(true);
    behaviour.openError = null;
    await addArrivals([file('b.png'), file('node[3]')]);
    expect(state.model.value).toBeNull();
  });

  it('waits until the engine has started, or says why it has not', async () => {
    const started = state.engine.value;
    state.engine.value = null;
    const opening = addArrivals([file('net.onnx')]);
    await Promise.resolve();
    expect(state.reading.value).toBe(1);
    state.engine.value = started;
    await opening;
    expect(state.model.value?.name).toBe('net.onnx');
    expect(state.reading.value).toBe(0);
    state.engine.value = null;
    state.engineProblem.value = problem({ code: 'no_engine' });
    await addArrivals([file('other.onnx')]);
    expect(state.modelProblem.value).toMatchObject({
      code: 'no_engine',
      place: 'other.onnx',
      hint: 'net.onnx stays open.',
    });
  });

  it('of one’s own puts the demo’s pictures away', async () => {
    await openPets();
    state.isDemo.value = true;
    state.preprocessingIsGiven.value = true;
    state.chosenCalibration.value = 3;
    await addArrivals([file('own.onnx')]);
    expect([state.isDemo.value, state.samples.value, state.preprocessingIsGiven.value]).toEqual([false, null, false]);
    expect(state.chosenCalibration.value).toBeNull();
    expect(state.toast.value?.text).toMatch(/demo’s pictures were put away/);
  });
});

describe('archives', () => {
  it('are data sets named after the file, with their labels', async () => {
    await addArrivals([
      file('net.onnx'),
      unzipped('pets.zip', file('cat/0.png'), file('dog/0.png'), file('labels.txt')),
    ]);
    expect(state.samples.value).toMatchObject({ name: 'pets', source: 'pets.zip', labelsFile: null });
    expect(state.samples.value?.files.map(({ path }) => path)).toEqual(['cat/0.png', 'dog/0.png', 'labels.txt']);
    expect(state.samplesProblem.value).toBeNull();
  });

  it('may hold a model, a recipe, labels or the weights of a model', async () => {
    await addArrivals([unzipped('all.zip', file('in/net.onnx'), file('in/net.bin'))]);
    expect(state.model.value?.name).toBe('net.onnx');
    expect([...(state.model.value?.beside.keys() ?? [])]).toEqual(['net.bin']);
    await addArrivals([unzipped('r.zip', json('r.json', recipe()))]);
    expect(state.recipe.value?.name).toBe('r.json');
    expect(state.samplesProblem.value).toBeNull();
    await addArrivals([file('a.png')]);
    await addArrivals([unzipped('l.zip', file('labels.csv'))]);
    expect(state.samples.value?.labelsFile?.path).toBe('labels.csv');
    expect(state.samplesProblem.value).toBeNull();
  });

  it('beside a model do not replace it', async () => {
    await addArrivals([file('net.onnx'), unzipped('all.zip', file('other.onnx'), file('x.bin'))]);
    expect(state.model.value?.name).toBe('net.onnx');
  });

  it('that hold nothing are said to', async () => {
    await addArrivals([unzipped('none.zip', file('x.bin'))]);
    expect(state.samplesProblem.value?.message).toBe('none.zip holds neither a model nor samples.');
  });
});

describe('labels', () => {
  it('beside class folders name the classes, elsewhere one sample each', async () => {
    await addArrivals([file('net.onnx'), file('set/cat/0.png'), file('set/dog/0.png'), file('set/labels.txt')]);
    expect(state.samples.value?.labelsFile).toBeNull();
    await addArrivals([file('0.png'), file('1.png'), file('labels.txt')]);
    expect(state.samples.value?.labelsFile?.path).toBe('labels.txt');
    await addArrivals([file('set/cat/0.png'), file('set/dog/0.png'), file('set/labels.csv')]);
    expect(state.samples.value?.labelsFile?.path).toBe('labels.csv');
  });

  it('are kept out, and taken again', async () => {
    await openPets();
    const id = () => state.samples.value?.id;
    const first = id();
    leaveOutLabels();
    expect(state.samples.value).toMatchObject({ labelsFile: null, isUnlabelled: true });
    expect(id()).not.toBe(first);
    takeOwnLabels();
    expect(state.samples.value).toMatchObject({ labelsFile: null, isUnlabelled: false });
    await addArrivals([file('labels.csv')]);
    state.samplesProblem.value = problem();
    leaveOutLabels();
    expect(state.samples.value).toMatchObject({ labelsFile: null, isUnlabelled: false });
    expect(state.samplesProblem.value).toBeNull();
  });

  it('are read against the model at once, and told where they do not fit', async () => {
    await openPets();
    const evaluate = vi
      .spyOn(handle(), 'evaluate')
      .mockRejectedValue(new TersorError(problem({ code: 'invalid_labels' })));
    await inspect();
    expect(evaluate).not.toHaveBeenCalled();
    await addArrivals([file('labels.csv')]);
    await vi.waitFor(() => expect(state.samplesProblem.value?.code).toBe('invalid_labels'));
    state.samplesProblem.value = null;
    evaluate.mockRejectedValue(new TersorError(problem({ code: 'io' })));
    await inspect();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(state.samplesProblem.value).toBeNull();
  });

  it('without samples have nothing to stand for', async () => {
    await addArrivals([file('labels.csv')]);
    expect(state.samplesProblem.value?.message).toMatch(/^labels\.csv looks like labels, but there are no samples yet/);
  });
});

describe('samples', () => {
  it('of one’s own are no demo any more, and begin without settings of those before', async () => {
    await openPets();
    state.isDemo.value = true;
    state.chosenCalibration.value = 3;
    state.preprocessingIsGiven.value = true;
    setClassMapping({ by: 'number', outputs: {} });
    await addArrivals([file('a.png')]);
    expect([state.isDemo.value, state.chosenCalibration.value, state.preprocessingIsGiven.value]).toEqual([
      false,
      null,
      false,
    ]);
    expect(state.classMapping.value.by).toBe('order');
    expect(state.announcement.value).toBe('a.png: 1 files.');
  });

  it('of the demo come with what is known of them, and no reader said it', async () => {
    await addArrivals([file('net.onnx')]);
    const preprocessing = { crop: 'none', label_offset: 0 } as Preprocessing;
    await addArrivals(petPictures, { preprocessing, calibration: 20 });
    expect(state.chosenCalibration.value).toBe(20);
    expect(state.preprocessing.value).toEqual(preprocessing);
    expect(state.preprocessingIsGiven.value).toBe(false);
  });

  it('are read as a recipe says that was opened before', async () => {
    await addArrivals([
      file('net.onnx'),
      json('r.json', recipe({ preprocessing: { label_offset: 1 }, data_set: { samples: 9 } })),
    ]);
    await addArrivals(petPictures);
    expect(state.preprocessing.value?.label_offset).toBe(1);
    expect(state.preprocessingIsGiven.value).toBe(true);
    expect(state.chosenCalibration.value).toBe(9);
  });

  it('that do not fit are put back for those before, which are named where they have a name', async () => {
    await openPets();
    const reads = (path: string) => {
      behaviour.sampleErrors = [bad(path, { hint: 'Cut it.' })];
      return addArrivals([file(path)]);
    };
    await reads('bad.npy');
    expect(state.samples.value?.name).toBe('set');
    expect(state.samplesProblem.value?.hint).toBe('Cut it. set stays open.');
    expect(state.preview.value).not.toBeNull();
    behaviour.sampleErrors = [];
    await addArrivals([file('a.png'), file('b.png')]);
    expect(state.samples.value?.name).toBe('samples');
    await reads('bad.npy');
    expect(state.samplesProblem.value?.hint).toBe('Cut it. The samples before stay open.');
  });

  it('that need an answer first stay, and so do those of which some can be read', async () => {
    await openPets();
    knowSamples({ count: 0, inputs: [{ name: 'mask', from: 'asked' }] } as Partial<SamplesInfo>);
    await addArrivals([file('a.png')]);
    expect(state.samples.value?.name).toBe('a.png');
    await openPets();
    knowSamples({ count: 0, inputs: [{ name: 'input', from: 'samples' }] } as Partial<SamplesInfo>);
    await addArrivals([file('a.png')]);
    expect(state.samples.value?.name).toBe('set');
    for (const [files, name] of [
      [[file('a.png'), file('b.png')], 'samples'],
      [[file('a.png')], 'set'],
    ] as const) {
      await openPets();
      vi.spyOn(handle(), 'inspectSamples').mockRejectedValue(new TersorError(problem({ place: 'samples[0] "a"' })));
      await addArrivals(files);
      expect(state.samples.value?.name).toBe(name);
    }
  });

  it('that are all of no use are said by name', async () => {
    await openPets();
    const said = async (...paths: string[]) => {
      knowSamples({ count: 0, skipped: paths.map((path) => ({ path, reason: 'a text' })) });
      await inspect();
      return state.samplesProblem.value?.message;
    };
    expect(await said('d/a.doc')).toBe('a.doc (a text) cannot be read as a sample.');
    expect(await said('a.doc', 'b.doc')).toMatch(/sample, nor can the other file\.$/);
    expect(await said('a.doc', 'b.doc', 'c.doc')).toMatch(/sample, nor can the 2 other files\.$/);
    expect(await said()).toBeUndefined();
    knowSamples({ count: 3, skipped: [{ path: 'a.doc', reason: 'a text' }] });
    await inspect();
    expect(state.samplesProblem.value).toBeNull();
  });

  it('that have a problem are named once, with how many others have one', async () => {
    await openPets();
    const shown = async (...errors: ReturnType<typeof bad>[]) => {
      knowSamples({ errors });
      await inspect();
      return [state.samplesProblem.value?.place, state.samplesProblem.value?.hint];
    };
    expect(await shown(bad('a.png', { hint: 'Cut it.' }))).toEqual(['a.png', 'Cut it.']);
    expect(await shown(bad('a.png', { place: 'axis 1' }), bad('b.png'))).toEqual([
      'a.png, axis 1',
      '1 other file has a problem too.',
    ]);
    expect((await shown(bad('a.png', { place: 'a.png[0]' }), bad('b.png'), bad('c.png')))[0]).toBe('a.png[0]');
    expect((await shown(bad('a.png', { message: 'a.png is bad.', place: 'axis 1' })))[0]).toBe('axis 1');
    expect((await shown(bad('a.png', { message: 'a.png is bad.' })))[0]).toBe('a.png');
    expect((await shown(bad('a.png'), bad('b.png'), bad('c.png')))[1]).toBe('2 other files have a problem too.');
  });

  it('are left out where they cannot be read', async () => {
    await openPets();
    vi.spyOn(handle(), 'inspectSamples').mockRejectedValueOnce(
      new TersorError(problem({ place: 'samples[0] "cat/0"' })),
    );
    await inspect();
    expect(state.unreadable.value).toEqual(['cat/0.png']);
    expect(state.samplesProblem.value?.place).toBe('cat/0.png, samples[0] "cat/0"');
    expect(state.openRegions.value.has('samples')).toBe(true);
    await leaveOutBadSamples();
    expect(state.sampleCount.value).toBe(99);
    expect([state.unreadable.value, state.samplesProblem.value]).toEqual([[], null]);
    vi.spyOn(handle(), 'inspectSamples').mockRejectedValueOnce(new TersorError(problem({ code: 'internal' })));
    await inspect();
    expect(state.unreadable.value).toEqual([]);
    expect(state.samplesProblem.value).toMatchObject({ code: 'internal', place: '' });
  });

  it('go back to what last fitted, of the same model and files', async () => {
    await openPets();
    const fitted = state.preprocessing.value;
    behaviour.sampleErrors = [bad('cat/0.png')];
    await setPreprocessing({ ...(fitted as Preprocessing), label_offset: 3 });
    expect(state.fittingPreprocessing.value).toEqual(fitted);
    expect(state.preprocessingIsGiven.value).toBe(true);
    await addArrivals([...pictures('cat', 3), ...pictures('dog', 3)]);
    expect(state.fittingPreprocessing.value).toBeNull();
    behaviour.sampleErrors = [];
    await inspect();
    behaviour.sampleErrors = [bad('cat/0.png')];
    await addArrivals([file('other.onnx')]);
    expect(state.fittingPreprocessing.value).toBeNull();
  });

  it('are shown one by one', async () => {
    await openPets();
    await showSample(3);
    expect(state.preview.value?.index).toBe(3);
    vi.spyOn(handle(), 'previewSample').mockRejectedValueOnce(new Error('no'));
    await showSample(4);
    expect(state.previewProblem.value?.message).toBe('no');
    state.samples.value = null;
    await showSample(5);
    await inspect();
    expect(state.preview.value?.index).toBe(3);
    expect(state.previewProblem.value?.message).toBe('no');
  });
});

it('finds the file that a problem with samples names', async () => {
  await openPets();
  const named = (place: string, code = 'invalid_samples') => fileNamed(problem({ place, code }));
  expect(named('samples[3] "cat/3"')).toBe('cat/3.png');
  expect(named('samples[3] "cat/3.png"')).toBe('cat/3.png');
  expect(named('samples[3] "cow/3"')).toBeNull();
  expect(named('samples[3]')).toBeNull();
  expect(named('samples[3] "cat/3"', 'io')).toBeNull();
});

describe('what becomes an integer', () => {
  it('is the newest answer, whichever comes last', async () => {
    await openPets();
    const known = state.coverage.value;
    if (!known) throw new Error('no coverage');
    const answers: ((n: number) => void)[] = [];
    const fails: ((error: Error) => void)[] = [];
    vi.spyOn(handle(), 'coverage').mockImplementation(
      () =>
        new Promise((resolve, reject) => {
          answers.push((core_nodes) => resolve({ ...known, core_nodes }));
          fails.push(reject);
        }),
    );
    const asked = [updateCoverage(), updateCoverage(), updateCoverage()];
    answers[2]?.(3);
    await asked[2];
    answers[0]?.(1);
    fails[1]?.(new Error('late'));
    await Promise.all(asked);
    expect([state.coverage.value?.core_nodes, state.coverageProblem.value]).toEqual([3, null]);
    const given = updateCoverage();
    fails[3]?.(new DOMException('', 'AbortError') as unknown as Error);
    await given;
    expect(state.coverageProblem.value).toBeNull();
    const refused = updateCoverage();
    fails[4]?.(new Error('refused'));
    await refused;
    expect([state.coverage.value, state.coverageProblem.value?.message]).toEqual([null, 'refused']);
  });
});

const hint = () => state.settingsProblem.value?.hint;

describe('a recipe', () => {
  it('for a platform that is not here is refused', async () => {
    const platform = (name: string) => json('r.json', recipe({ platform: { name, version: 1 } }));
    await addArrivals([platform('chip')]);
    expect(state.settingsProblem.value).toMatchObject({ code: 'invalid_platform', place: 'r.json.platform' });
    expect(hint()).toMatch(/The platforms are ort-cpu\.$/);
    expect(state.recipe.value).toBeNull();
    await addArrivals([json('chip.json', { schema_version: 1, name: 'chip', version: 1 })]);
    state.settingsProblem.value = null;
    await addArrivals([platform('chip')]);
    expect(state.settingsProblem.value).toBeNull();
    await addArrivals([platform('other')]);
    expect(hint()).toMatch(/The platforms are ort-cpu\.$/);
    for (const name of ['', 'ort-cpu']) {
      state.settingsProblem.value = null;
      await addArrivals([platform(name)]);
      expect(state.settingsProblem.value).toBeNull();
    }
    expect(state.recipe.value).toMatchObject({ name: 'r.json', allowMismatch: false });
  });

  it('reads the samples anew, a platform does not', async () => {
    await openPets();
    const inspected = vi.spyOn(handle(), 'inspectSamples');
    await addArrivals([json('chip.json', { schema_version: 1, name: 'chip' })]);
    expect(inspected).not.toHaveBeenCalled();
    await addArrivals([json('r.json', recipe())]);
    expect(inspected).toHaveBeenCalledTimes(1);
    state.samples.value = null;
    await addArrivals([json('r.json', recipe())]);
    expect(inspected).toHaveBeenCalledTimes(1);
  });

  it('that cannot be read is to be corrected', async () => {
    await addArrivals([json('r.json', {})]);
    expect(hint()).toBe('Correct it in the file, and open the file again.');
    expect(state.openRegions.value.has('settings')).toBe(true);
    await addArrivals([json('r.json', recipe({ platform: { name: 'chip', version: 1 } }) as unknown as Recipe)]);
    expect(hint()).toMatch(/^Open the file/);
  });
});

it('closes the card of one region alone', () => {
  const cards = [state.modelProblem, state.samplesProblem, state.settingsProblem, state.runProblem];
  for (const [k, region] of (['model', 'samples', 'settings', 'results'] as const).entries()) {
    for (const card of cards) card.value = problem();
    dismiss(region);
    expect(cards.map((card) => card.value === null)).toEqual(cards.map((_, at) => at === k));
  }
});

it('puts results away with the model that they were of', async () => {
  await openPets();
  const made = () => ({
    key: '',
    quantized: { model: [], close: () => behaviour.calls.push('closed') },
    comparison: {} as Comparison,
  });
  state.result.value = made() as unknown as state.Result;
  state.parkedResult.value = made() as unknown as state.Result;
  await addArrivals([file('other.onnx')]);
  expect([state.result.value, state.parkedResult.value]).toEqual([null, null]);
  expect(behaviour.calls).not.toContain('closed');
});
