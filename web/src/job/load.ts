// SPDX-License-Identifier: Apache-2.0
//
// Opens what arrives. One arrival is worked through before the next begins, and a thing that cannot be opened leaves what
// was there before it untouched.

import { batch, effect } from '@preact/signals';
import type { Preprocessing, SampleFile } from 'tersor';

import { updateCoverage } from './coverage';
import { beginStep, step, undo } from './history';
import { decodePictures } from './browser_pictures';
import { openPlatform, platformChoices } from './platform';
import { applyRecipe } from './recipe';
import {
  asDataSet,
  baseName,
  comparePaths,
  ending,
  sortArrivals,
  stem,
  type Arrival,
  type NamedSet,
  type Sorted,
} from './intake';
import { inspect } from './inspect';
import { dropAll } from './kept_results';
import { problemOf, type Problem } from './problem';
import { giveUp, quantizeAgain } from './quantize';
import * as state from './state';
import { say } from './say';
import { counted } from '../numbers';
import { tokens, unzip } from './aside';

let queue: Promise<void> = Promise.resolve();
/** A model that waits for the file of its weights, and the place of the error that names that file. */
let waiting: { readonly model: Arrival; readonly place: string } | null = null;
let sideFiles = new Map<string, Blob>();
/** Texts and the files of a tokenizer wait for each other, and for the model. */
let texts: readonly Arrival[] = [];
const tokenizer = new Map<string, Blob>();
/** Settles when the newest model's coverage is known. */
let coverageKnown: Promise<void> = Promise.resolve();
let lastSet = 0;

function inTurn(work: () => Promise<void>): Promise<void> {
  state.reading.value += 1;
  queue = queue.then(work).finally(() => {
    state.reading.value -= 1;
  });
  return queue;
}

/** What arrives before the engine has started waits for it. */
function engine(): Promise<state.Engine> {
  return new Promise((resolve, reject) => {
    const stop = effect(() => {
      const started = state.engine.value;
      const problem = state.engineProblem.value;
      if (!started && !problem) return;
      queueMicrotask(() => stop());
      if (started) resolve(started);
      else reject(problem);
    });
  });
}

/** Of what has arrived; a demo goes on by itself. */
function showDetails(region: state.RegionId): void {
  state.openOnly(...(state.demoIsComing.value ? [] : [region]));
}

/** What is known about samples beforehand. */
export interface Given {
  readonly preprocessing?: Preprocessing;
  readonly calibration?: number;
}

/** What the address said of samples before there were any. */
let fromAddress: Given | null = null;

/** Serves the next samples that are opened. */
export function expectSamples(given: Given): void {
  fromAddress = given;
}

/** Opens everything that was dropped, chosen or pasted together. */
export function addArrivals(
  arrivals: readonly Arrival[] | Promise<readonly Arrival[]>,
  given: Given = {},
): Promise<void> {
  return inTurn(async () => {
    const sorted = sortArrivals(await arrivals);
    const models: Arrival[] = [];
    const recipes = [...sorted.recipes];
    const labels = [...sorted.labels];
    const others = [...sorted.others];
    takeTexts(sorted);
    let set: NamedSet | null = null;
    addSideFiles(others);
    const unpacked = sorted.archives.map((archive) => ({ archive, files: unzip(archive) }));
    for (const { files } of unpacked) files.catch(() => undefined); // told below, in turn
    // a model beside archives comes before those inside, so that it is opened while they are unpacked
    const beside = sorted.models.at(-1);
    const opened = beside && openModel(beside);
    for (const { archive, files } of unpacked) {
      try {
        const inside = sortArrivals(await files);
        models.push(...inside.models);
        recipes.push(...inside.recipes);
        others.push(...inside.others);
        takeTexts(inside);
        if (inside.samples.length > 0) set = asDataSet([...inside.samples, ...inside.labels], stem(archive.path));
        else labels.push(...inside.labels);
        const { samples, models: within, texts: read, recipes: settings, labels: own } = inside;
        if ([samples, within, read, settings, own].every((one) => one.length === 0)) {
          throw {
            code: 'invalid_samples',
            message: `${archive.path} holds neither a model nor samples.`,
            place: archive.path,
            hint: 'Samples are pictures, recordings (.wav), tables (.csv), .npy, .npz or .pb files.',
          } satisfies Problem;
        }
      } catch (error) {
        state.samplesProblem.value = problemOf(error);
      }
    }
    if (sorted.samples.length > 0) set = asDataSet([...sorted.samples, ...labels], null);

    await opened;
    const inside = models.at(-1);
    const more = beside ? others.slice(sorted.others.length) : others;
    if (!beside || waiting) addSideFiles(more);
    if (!beside && inside) await openModel(inside);
    else if (waiting && more.some(isAwaited)) await openModel(waiting.model);
    else if (!beside && more[0] && !set) await openModel(more[0]);

    const unread = state.model.value && !takesTokens(state.model.value) ? sorted.texts : [];
    tellUnused({ ...sorted, ignored: [...unread, ...sorted.ignored] }, beside !== undefined || set !== null);
    for (const file of recipes) await openJson(file);
    const brings = [...sorted.texts, ...sorted.tokenizers, ...sorted.archives, ...sorted.models].length > 0;
    if (set) await openSamples(set, given);
    else if (!(brings && (await openTexts(labels, given))) && labels.length > 0) await openLabels(labels);
    await coverageKnown;
  });
}

function takeTexts(sorted: Sorted): void {
  if (sorted.texts.length > 0) texts = sorted.texts;
  for (const { path, data } of sorted.tokenizers) tokenizer.set(baseName(path), data);
}

function takesTokens({ handle }: state.OpenModel): boolean {
  return handle.info.inputs.some(({ type }) => type.startsWith('int'));
}

/** Texts become token ids where the model takes them and its tokenizer is here. Says whether they did. */
async function openTexts(labels: readonly Arrival[], given: Given): Promise<boolean> {
  const [first] = texts;
  if (!first) return false;
  const name = baseName(first.path);
  const model = state.model.value;
  if (!model) {
    say(`${name} waits for its model.`);
    return false;
  }
  if (!takesTokens(model)) {
    texts = [];
    return false;
  }
  const { inputs } = model.handle.info;
  const json = tokenizer.get('tokenizer.json');
  if (!json) {
    say(`${name} becomes samples with the model’s tokenizer.json: bring it too.`);
    return false;
  }
  try {
    const config = tokenizer.get('tokenizer_config.json') ?? null;
    const { files, ...made } = await tokens({ texts, tokenizer: json, config, inputs });
    texts = [];
    await openSamples({ name, source: `${name}.zip`, files: [...files, ...labels], tokens: made }, given);
    return true;
  } catch (error) {
    state.samplesProblem.value = problemOf(error);
    state.openRegion('samples');
    return false;
  }
}

/** No file vanishes without a word. */
function tellUnused({ ignored, others }: Sorted, isMore: boolean): void {
  const unused = [...ignored, ...(isMore ? others : [])].map(({ path }) => baseName(path));
  const [first] = unused;
  if (first === undefined) return;
  const [files, they] =
    unused.length === 1
      ? [`${first} is`, 'It is']
      : [`${first} and ${unused.length - 1} other ${unused.length === 2 ? 'file' : 'files'} are`, 'They are'];
  say(`${files} neither a model nor samples. ${they} read only as the weights of a model that names such files.`);
}

function addSideFiles(files: readonly Arrival[]): void {
  for (const { path, data } of files) sideFiles.set(baseName(path), data);
}

function isAwaited({ path }: Arrival): boolean {
  return waiting?.place.endsWith(baseName(path)) === true;
}

/** Opens a model under a name, with the files that may hold its weights. */
async function openModel(arrival: Arrival): Promise<void> {
  const started = performance.now();
  try {
    const handle = await (await engine()).open(arrival.data, { externalData: sideFiles });
    const before = state.model.value;
    const hadResult = state.result.value !== null;
    const remember = beginStep();
    const seconds = (performance.now() - started) / 1000;
    batch(() => {
      giveUp();
      state.model.value = { name: baseName(arrival.path), file: arrival.data, beside: sideFiles, handle, seconds };
      state.modelProblem.value = null;
      state.coverage.value = null;
      dropAll();
      state.runProblem.value = null;
      state.runNote.value = '';
      if (before) leaveOperators();
      state.openLayer.value = null;
      showDetails('model');
      state.announcement.value = `${baseName(arrival.path)} is open.`;
    });
    waiting = null;
    sideFiles = new Map();
    coverageKnown = updateCoverage();
    const wasDemo = state.isDemo.value;
    if (wasDemo) putDemoAway();
    if (state.samples.value) {
      state.preprocessing.value = null;
      await inspect();
    }
    if (before) remember(`Opened ${baseName(arrival.path)}`);
    const words = wasDemo
      ? 'The demo’s pictures were put away: they are for its own model.'
      : `${baseName(arrival.path)} is open.`;
    if (hadResult) say(words, { word: `Back to ${before?.name ?? ''}`, act: undo });
    else if (wasDemo) say(words);
  } catch (error) {
    const problem = problemOf(error);
    if (problem.code === 'io') waiting = { model: arrival, place: problem.place };
    const kept = state.model.value ? ` ${state.model.value.name} stays open.` : '';
    batch(() => {
      state.modelProblem.value = {
        ...problem,
        place: problem.place || baseName(arrival.path),
        hint: `${problem.hint}${kept}`.trim(),
      };
      state.openRegion('model');
    });
  }
}

/** A model of one's own is not tried on the demo's pictures. */
function putDemoAway(): void {
  batch(() => {
    state.isDemo.value = false;
    state.samples.value = null;
    state.samplesInfo.value = null;
    state.samplesProblem.value = null;
    state.preprocessing.value = null;
    state.preprocessingIsGiven.value = false;
    state.preprocessingTrial.value = null;
    state.preview.value = null;
    state.chosenCalibration.value = null;
  });
}

/** Settings of single operators are of the model that was open. */
function leaveOperators(): void {
  state.keepFloat.value = {};
  if (!state.recipe.value) state.listedOverrides.value = [];
  if (state.parked.value) state.parked.value = { ...state.parked.value, keepFloat: {}, listedOverrides: [] };
}

function asSampleFile(arrival: Arrival): SampleFile {
  return { path: arrival.path, data: arrival.data };
}

async function openSamples(dropped: NamedSet & Pick<state.SampleSet, 'tokens'>, given: Given): Promise<void> {
  const set = await decodePictures(dropped);
  const isLabels = (file: Arrival) => sortArrivals([file]).labels.length > 0;
  const labels = set.files.filter(isLabels);
  const files = set.files.filter((file) => !isLabels(file));
  const folders = files.some((file) => file.path.includes('/'));
  // beside class folders labels.txt names the classes; else a label file holds one label per sample
  const names = folders ? labels.filter((file) => ending(file.path) === 'txt') : [];
  const labelsFile = labels.find((file) => !names.includes(file)) ?? null;
  giveUp();
  const before = { set: state.samples.value, info: state.samplesInfo.value, preprocessing: state.preprocessing.value };
  const remember = beginStep();
  batch(() => {
    state.samples.value = {
      id: ++lastSet,
      name: set.name,
      source: set.source,
      files: [...files, ...names].map(asSampleFile).sort((a, b) => comparePaths(a.path, b.path)),
      labelsFile: labelsFile ? asSampleFile(labelsFile) : null,
      decoded: set.decoded ?? null,
      tokens: dropped.tokens ?? null,
    };
    state.samplesInfo.value = null;
    state.samplesProblem.value = null;
    state.unreadable.value = [];
    state.preview.value = null;
    state.runNote.value = '';
    const kept = state.recipe.value?.recipe.preprocessing ?? fromAddress?.preprocessing;
    if (given.preprocessing) state.preprocessing.value = given.preprocessing;
    else if (!kept) state.preprocessing.value = null;
    state.preprocessingIsGiven.value = !given.preprocessing && kept != null;
    const count = given.calibration ?? fromAddress?.calibration;
    if (count !== undefined) state.chosenCalibration.value = count;
    else if (!state.recipe.value) state.chosenCalibration.value = null;
    fromAddress = null;
    state.classMapping.value = { by: 'order', outputs: {} };
    state.isDemo.value = false;
    showDetails('samples');
    state.announcement.value = `${set.name}: ${files.length} files.`;
  });
  await inspect();
  const others = state.unreadable.value.length > 0 && set.files.length > 1;
  // a number that the reader has to give is no reason to go back
  const isAsked = state.samplesInfo.value?.inputs.some(({ from }) => from === 'asked') === true;
  if (
    !others &&
    !isAsked &&
    state.sampleCount.value === 0 &&
    state.model.value &&
    before.set &&
    before.info &&
    before.info.count > 0
  ) {
    const problem = state.samplesProblem.value;
    batch(() => {
      state.samples.value = before.set;
      state.samplesInfo.value = before.info;
      state.preprocessing.value = before.preprocessing;
      state.preview.value = before.info?.first ?? null;
      if (problem)
        state.samplesProblem.value = { ...problem, hint: `${problem.hint} ${staysOpen(before.set?.name)}`.trim() };
    });
  } else if (before.set) remember(`Samples of ${set.name}`);
}

/** Samples that came without a folder have no name of their own. */
function staysOpen(name: string | undefined): string {
  return name === undefined || name === 'samples' ? 'The samples before stay open.' : `${name} stays open.`;
}

async function openLabels(labels: readonly Arrival[]): Promise<void> {
  const set = state.samples.value;
  const file = labels[0];
  if (!file) return;
  if (!set) {
    state.samplesProblem.value = {
      code: 'invalid_samples',
      message: `${baseName(file.path)} looks like labels, but there are no samples yet.`,
      place: file.path,
      hint: 'Drop it together with its samples.',
    };
    return;
  }
  step(`Labels of ${baseName(file.path)}`, () => setLabels(set, asSampleFile(file)));
  await inspect();
}

function setLabels(set: state.SampleSet, labelsFile: SampleFile | null): void {
  state.samples.value = { ...set, id: ++lastSet, labelsFile, isUnlabelled: false };
}

/** Goes on without a file of labels that does not fit, or without the labels that the samples have of their own. */
export function leaveOutLabels(): void {
  const set = state.samples.value;
  if (!set) return;
  const isUnlabelled = set.labelsFile === null;
  step('On without labels', () => {
    state.samples.value = { ...set, id: ++lastSet, labelsFile: null, isUnlabelled };
    state.samplesProblem.value = null;
    state.runProblem.value = null;
  });
  quantizeAgain();
}

/** Uses the labels again that the samples have of their own. */
export function takeOwnLabels(): void {
  const set = state.samples.value;
  if (set) step('The samples’ own labels', () => setLabels(set, null));
  quantizeAgain();
}

/** A recipe for a platform that is not here would leave nothing that can be run. */
function requirePlatform(file: string, platform: string): void {
  const names = platformChoices().map(({ label }) => label);
  const own = state.ownPlatforms.value.map(({ capabilities }) => capabilities.name);
  if (platform === '' || names.includes(platform) || own.includes(platform)) return;
  throw {
    code: 'invalid_platform',
    message: `There is no platform "${platform}" here.`,
    place: `${file}.platform`,
    hint: `Open the file of that platform first, or correct the name. The platforms are ${names.filter((one) => !one.includes('@') && !one.startsWith('file:')).join(', ')}.`,
  } satisfies Problem;
}

async function openJson(file: Arrival): Promise<void> {
  try {
    const name = baseName(file.path);
    const read = await (await engine()).readSettings(file.data, { name, model: state.model.value?.handle });
    if (read.kind === 'recipe') requirePlatform(name, read.recipe.platform.name);
    if (read.kind === 'platform') openPlatform(name, read.platform);
    else applyRecipe({ name, recipe: read.recipe, allowMismatch: false });
    await updateCoverage();
    if (read.kind === 'recipe' && state.samples.value) await inspect();
    // a recipe of another model is compared with this one only when the reader asks for it
    if (!state.foreignRecipe.value) quantizeAgain();
  } catch (error) {
    batch(() => {
      const problem = problemOf(error);
      state.settingsProblem.value = {
        ...problem,
        hint: problem.hint || 'Correct it in the file, and open the file again.',
      };
      state.openRegion('settings');
    });
  }
}

export function setPreprocessing(value: Preprocessing): Promise<void> {
  step('Preprocessing', () => {
    state.preprocessing.value = value;
    state.preprocessingIsGiven.value = true;
  });
  return inspect().then(quantizeAgain);
}

/** Which outputs the class folders stand for. */
export function setClassMapping(mapping: state.ClassMapping): void {
  step('What the folders stand for', () => (state.classMapping.value = mapping), 'mapping');
  quantizeAgain();
}

/** Samples set aside for calibration. */
export function setCalibration(count: number): void {
  step(`${count} samples calibrate`, () => (state.chosenCalibration.value = count), 'split');
}

/** Takes the files that cannot be samples out of the data set. */
export async function leaveOutBadSamples(): Promise<void> {
  const set = state.samples.value;
  const bad = new Set([...state.unreadable.value, ...(state.samplesInfo.value?.errors.map((row) => row.path) ?? [])]);
  if (!set) return;
  const remember = beginStep();
  state.unreadable.value = [];
  state.samplesProblem.value = null;
  state.runProblem.value = null;
  state.samples.value = { ...set, files: set.files.filter((file) => !bad.has(file.path)) };
  await inspect();
  remember(`Left out ${counted(bad.size, 'file')}`);
}

/** Forgets a card that the user has read. */
export function dismiss(region: state.RegionId): void {
  if (region === 'model') state.modelProblem.value = null;
  if (region === 'samples') state.samplesProblem.value = null;
  if (region === 'settings') state.settingsProblem.value = null;
  if (region === 'results') state.runProblem.value = null;
}
