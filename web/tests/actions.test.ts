// SPDX-License-Identifier: Apache-2.0
//
// Everything that a reader can change can be undone. The list of such actions is the page's own: the functions of its modules
// that make a step, found in their sources; no other place may write what a step is about.

import { readdirSync, readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';

import * as advice from '../src/job/apply_advice';
import * as address from '../src/job/address';
import * as compare from '../src/job/compare';
import * as cuts from '../src/job/cuts';
import { redo, undo, undoLabel } from '../src/job/history';
import * as load from '../src/job/load';
import * as overrides from '../src/job/overrides';
import * as platform from '../src/job/platform';
import { quantize } from '../src/job/quantize';
import * as recipe from '../src/job/recipe';
import * as settings from '../src/job/settings';
import * as state from '../src/job/state';
import * as tradeoff from '../src/job/tradeoff';
import * as training from '../src/job/training';
import * as verdict from '../src/job/verdict';
import { file, openPets, pictures, settled } from './helpers';
import { behaviour } from './double';

const folder = new URL('../src/', import.meta.url);
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }));

/** Top-level functions of a source, with their texts. */
function functionsOf(text: string): { readonly name: string; readonly text: string; readonly isExported: boolean }[] {
  const starts = [...text.matchAll(/^(export )?(?:async )?function (\w+)/gm)];
  return starts.map((start, k) => ({
    name: start[2] ?? '',
    isExported: start[1] !== undefined,
    text: text.slice(start.index, starts[k + 1]?.index ?? text.length),
  }));
}

const makesStep = /\b(step|stepAndSay|beginStep)\(/;

/** Exported functions of src/job that make a step themselves, or by a function that is not exported. */
const actions = sources
  .filter(({ name }) => name.startsWith('job/') && name !== 'job/history.ts')
  .flatMap(({ text }) => {
    const all = functionsOf(text);
    const makers = new Set(all.filter((one) => makesStep.test(one.text)).map(({ name }) => name));
    for (let grown = 0; grown !== makers.size;) {
      grown = makers.size;
      const own = all.filter((one) => !one.isExported && makers.has(one.name)).map(({ name }) => name);
      const calls = new RegExp(`\\b(${own.join('|') || '$^'})\\(`);
      for (const one of all) if (calls.test(one.text.slice(one.text.indexOf('{')))) makers.add(one.name);
    }
    return all.filter((one) => one.isExported && makers.has(one.name)).map(({ name }) => name);
  })
  .sort();

const field = (name: string) => {
  const found = settings.formRows().find((row) => row.field.name === name)?.field;
  if (!found) throw new Error(name);
  return found;
};
const curve: state.Tradeoff = { key: '', resource: 'weights_memory', points: [] };
const point: state.TradeoffPoint = {
  ...{ budget: 1000, made: 1000, sizeBytes: 1000, sqnr: 30, share: 1, lost: 0, count: 9, milliseconds: null },
};
const opened = async (): Promise<state.OpenRecipe> => {
  const made = state.result.value?.quantized.recipe;
  if (!made) throw new Error('no recipe');
  return { name: 'r.json', recipe: made, allowMismatch: false };
};
const badSample = { code: 'invalid_samples', message: '', place: '', hint: '' };
const advise = (change: Parameters<typeof advice.applyAdvice>[0]['change']) =>
  advice.applyAdvice({ id: '', sentence: '', reason: '', word: '', change }, () => undefined);

/** How each is called here. A list of several: each is a case of its own. */
const calls: Readonly<Record<string, readonly (() => unknown)[]>> = {
  addArrivals: [
    () => load.addArrivals([file('other.onnx')]),
    () => load.addArrivals(pictures('ant', 40)),
    () => load.addArrivals([file('set/labels.csv')]),
  ],
  addOverride: [() => overrides.addOverride({ ...overrides.emptyDraft, name: 'conv1' })],
  allowMismatch: [recipe.allowMismatch],
  applyAdvice: [
    () => advise({ kind: 'bits', name: 'conv1', bits: 8 }),
    () => advise({ kind: 'float', name: 'conv1' }),
    () => advise({ kind: 'calibration', count: 30 }),
  ],
  applyRecipe: [async () => recipe.applyRecipe({ ...(await opened()), name: 'other.json' })],
  backToDefaults: [settings.backToDefaults],
  choosePoint: [() => tradeoff.choosePoint(curve, point)],
  copyAcross: [compare.copyAcross],
  discardTraining: [training.discardTraining],
  leaveOutBadSamples: [
    async () => {
      behaviour.sampleErrors = [{ path: 'cat/0.png', error: badSample }];
      state.unreadable.value = ['cat/0.png'];
      await load.leaveOutBadSamples();
    },
  ],
  leaveOutLabels: [load.leaveOutLabels],
  listOverrides: [() => overrides.listOverrides()[0]?.remove()],
  removeOther: [compare.removeOther],
  setCalibration: [() => load.setCalibration(20)],
  setClassMapping: [() => load.setClassMapping({ by: 'hand', outputs: { cat: 4 } })],
  setCut: [
    () => cuts.setCut({ name: 'conv1', weight_max: null }, 8, [-1, 1]),
    () => cuts.setCut({ name: 'conv1', weight_max: [1] }, 8, [-1, 2]),
  ],
  setField: [() => settings.setField(field('weights_bias_correction'), false)],
  setFrameworkInfo: [() => overrides.setFrameworkInfo('{"activations": []}')],
  setKeepFloat: [() => settings.setKeepFloat('conv1', true)],
  setOperatorField: [() => cuts.setOperatorField('conv1', field('weights_n_bits'), 8)],
  setPlatform: [() => settings.setPlatform('any')],
  setPreprocessing: [
    async () => {
      const now = state.preprocessing.value;
      if (now) await load.setPreprocessing({ ...now, channels: 'BGR' });
    },
  ],
  swap: [compare.swap],
  takeAddress: [
    () => {
      const engine = state.engine.value;
      if (engine) address.takeAddress('#weights_bias_correction=false', engine);
    },
  ],
  takeOwnLabels: [load.takeOwnLabels],
  toDocumentDefaults: [settings.toDocumentDefaults],
  train: [() => training.train(1, false)],
  trustFloat: [
    () => {
      const done = state.result.value;
      if (done) verdict.trustFloat(done);
    },
  ],
  openPlatform: [() => platform.openPlatform('p.json', { name: 'p', version: '1' } as never)],
};

/** All that a result depends on, and what is shown of it. */
function shown() {
  const { model, samples, preprocessing, classMapping, active, fields, keepFloat, listedOverrides, recipe } = state;
  return {
    ...{ model: model.value, samples: samples.value, preprocessing: preprocessing.value, mapping: classMapping.value },
    ...{ active: active.value, fields: fields.value, keepFloat: keepFloat.value, listed: listedOverrides.value },
    ...{ recipe: recipe.value, calibration: state.chosenCalibration.value, platform: state.platformName.value },
    ...{ info: state.frameworkInfo.value, parked: state.parked.value, labels: state.labels.value },
  };
}

const results = () => [state.result.value?.quantized, state.parkedResult.value?.quantized];

/** What they need to change anything. */
async function prepare(name: string): Promise<void> {
  await openPets();
  await quantize();
  if (name === 'listOverrides') cuts.setCut({ name: 'conv1', weight_max: null }, 8, [-3, 3]);
  if (name === 'allowMismatch') recipe.applyRecipe(await opened());
  if (name === 'discardTraining') {
    await training.train(1, false);
    // steps of one kind are one within a second
    await new Promise((resolve) => setTimeout(resolve, 1100));
  }
  if (['backToDefaults', 'toDocumentDefaults'].includes(name)) settings.setField(field('min_threshold'), 0.25);
  if (['removeOther', 'swap'].includes(name)) {
    compare.copyAcross();
    settings.setField(field('weights_bias_correction'), false);
  }
  if (name === 'takeOwnLabels') load.leaveOutLabels();
  await settled();
  if (state.result.value?.key !== state.settingsKey.value) await quantize();
}

beforeEach(() => void (behaviour.sampleErrors = []));

describe('every action of the page', () => {
  it('is called here', () => {
    expect(actions).toEqual(Object.keys(calls).sort());
  });

  for (const [name, list] of Object.entries(calls))
    for (const [k, call] of list.entries())
      it(`is undone, and done again with its result: ${name}${k > 0 ? ` (${k + 1})` : ''}`, async () => {
        await prepare(name);
        const before = shown();
        const resultsBefore = results();
        const label = undoLabel.value;
        await call();
        await settled();
        const after = shown();
        const [resultsAfter, wasOld] = [results(), state.resultIsOld.value];
        expect(undoLabel.value).not.toBe(label);
        undo();
        await settled();
        expect(shown()).toEqual(before);
        results().forEach((one, at) => expect(one).toBe(resultsBefore[at]));
        redo();
        await settled();
        expect(shown()).toEqual(after);
        if (!wasOld) results().forEach((one, at) => expect(one).toBe(resultsAfter[at]));
      });
});

it('writes settings nowhere but in steps, and where something is opened or found', () => {
  const names =
    'samples|model|classMapping|fields|keepFloat|listedOverrides|frameworkInfo|recipe|platformName|preprocessing';
  const writes = new RegExp(`\\b(${names}|chosenCalibration|parked|active)\\.value = `);
  const outside = sources
    .filter(({ name }) => !['job/history.ts', 'job/configurations.ts', 'job/inspect.ts'].includes(name))
    .flatMap(({ name, text }) =>
      functionsOf(text)
        .filter((one) => writes.test(one.text) && !makesStep.test(one.text))
        .map((one) => `${name} ${one.name}`),
    )
    .sort();
  // parts of openModel() and openSamples(), which make the step; the first that is opened is none
  expect(outside).toEqual(['job/load.ts leaveOperators', 'job/load.ts putDemoAway', 'job/load.ts setLabels']);
});
