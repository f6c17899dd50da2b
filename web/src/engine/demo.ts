// SPDX-License-Identifier: Apache-2.0
//
// The demos: photographs whose int8 file is smaller and quicker, the same with two faults for the page to find, and letters, which
// are small. The letters are fetched once while the page loads and opened from memory; the photographs come when they are asked for.

import type { Preprocessing } from 'tersor';

import { unzip } from '../job/aside';
import { step } from '../job/history';
import type { Arrival } from '../job/intake';
import { addArrivals } from '../job/load';
import { quantize } from '../job/quantize';
import { say } from '../job/say';
import * as state from '../job/state';
import { demoFile } from './site';

/** demo.json of a demo, as far as the page reads it. */
interface DemoFile {
  readonly name: string;
  readonly model: string;
  readonly samples: string;
  readonly preprocessing: Preprocessing;
  readonly calibration_samples: number;
}

interface Demo {
  readonly about: DemoFile;
  readonly model: Blob;
  readonly samples: Blob;
}

/** Folders below demo/. */
const folders = { letters: '', fruit: 'fruit/' } as const;
type DemoName = keyof typeof folders;

const loading = new Map<DemoName, Promise<Demo>>();

async function load(name: DemoName): Promise<Demo> {
  const folder = folders[name];
  const about = JSON.parse(await (await demoFile(`${folder}demo.json`)).text()) as DemoFile;
  const [model, samples] = await Promise.all([about.model, about.samples].map((file) => demoFile(folder + file)));
  if (!model || !samples) throw new Error(`demo/${folder}demo.json names no model or no samples.`);
  return { about, model, samples };
}

/** The files of a demo, fetched once, and again where that failed. */
export function demoParts(name: DemoName = 'letters'): Promise<Demo> {
  const known = loading.get(name) ?? load(name);
  loading.set(name, known);
  known.catch(() => loading.delete(name));
  return known;
}

/** Known when the site is built, so that the first paint can say it. */
export const demoFacts = __TERSOR_DEMO__;

async function run({ about, model }: Demo, samples: readonly Arrival[], channels = about.preprocessing.channels) {
  step('The demo', () => {
    state.recipe.value = null;
    state.frameworkInfo.value = undefined;
  });
  await addArrivals([{ path: about.model, data: model }, ...samples], {
    preprocessing: { ...about.preprocessing, channels },
    calibration: about.calibration_samples,
  });
  state.isDemo.value = true;
  await quantize();
}

function tell(error: unknown): void {
  state.modelProblem.value = {
    code: 'io',
    message: error instanceof Error ? error.message : 'The demo could not be loaded.',
    place: 'demo/',
    hint: 'Reload the page while there is a network, or open a model of your own.',
  };
}

/** The page makes room at once, and not when the files are there: what moves then would move under a reader's eyes. */
async function making(demo: () => Promise<void>): Promise<void> {
  state.demoIsComing.value = true;
  await demo().catch(tell);
  state.demoIsComing.value = false;
}

/** Opens a demo's model and samples and runs the whole job; without a network the one that is here. */
export function tryDemo(name: DemoName = 'fruit'): Promise<void> {
  return making(async () => {
    const demo = await demoParts(name).catch((error: unknown) => {
      if (name === 'letters') throw error;
      say('The photographs are not stored yet and could not be fetched: here are letters and digits instead.');
      return demoParts();
    });
    await run(demo, [{ path: demo.about.samples, data: demo.samples }]);
  });
}

/** Folders that somebody named in German sort otherwise than the outputs. */
const german: Readonly<Record<string, string>> = {
  apple: 'Apfel',
  aubergine: 'Aubergine',
  banana: 'Banane',
  carrot: 'Karotte',
  lemon: 'Zitrone',
  lime: 'Limette',
  orange: 'Orange',
  pear: 'Birne',
  plum: 'Pflaume',
  tomato: 'Tomate',
};

/** The photographs in folders that sort otherwise than the model's outputs, with red and blue exchanged. */
export function tryBrokenDemo(): Promise<void> {
  return making(async () => {
    const demo = await demoParts('fruit');
    const entries = await unzip({ path: demo.about.samples, data: demo.samples });
    const renamed = entries.map(({ path, data }) => {
      const [folder = '', ...rest] = path.split('/');
      return { path: ['fruit', german[folder] ?? folder, ...rest].join('/'), data };
    });
    await run(demo, renamed, 'BGR');
  });
}
