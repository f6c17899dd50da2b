// SPDX-License-Identifier: Apache-2.0
//
// The bundled model and pictures: fetched once while the page loads, opened from memory afterwards.

import { signal } from '@preact/signals';
import type { Preprocessing } from 'tersor';

import { step } from '../job/history';
import { addArrivals } from '../job/load';
import { quantize } from '../job/quantize';
import * as state from '../job/state';
import { demoFile } from './site';

/** demo/demo.json, as far as the page reads it. */
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

const loaded = signal<Demo | null>(null);
let loading: Promise<Demo> | null = null;

async function load(): Promise<Demo> {
  const about = JSON.parse(await (await demoFile('demo.json')).text()) as DemoFile;
  const [model, samples] = await Promise.all([about.model, about.samples].map(demoFile));
  if (!model || !samples) throw new Error('demo/demo.json names no model or no samples.');
  return { about, model, samples };
}

export async function loadDemo(): Promise<void> {
  loading ??= load();
  loaded.value = await loading;
}

/** The bundled files, to be opened by others. */
export async function demoParts(): Promise<Demo> {
  await loadDemo();
  return loading ?? load();
}

/** Known when the site is built, so that the first paint can say it. */
export const demoFacts = __TERSOR_DEMO__;

/** Opens the demo's model and samples and runs the whole job. */
export async function tryDemo(): Promise<void> {
  try {
    await loadDemo();
  } catch (error) {
    loading = null;
    state.modelProblem.value = {
      code: 'io',
      message: error instanceof Error ? error.message : 'The demo could not be loaded.',
      place: 'demo/',
      hint: 'Reload the page while there is a network, or open a model of your own.',
    };
    return;
  }
  const demo = loaded.value;
  if (!demo) return;
  step('The demo', () => {
    state.recipe.value = null;
    state.frameworkInfo.value = undefined;
  });
  await addArrivals(
    [
      { path: demo.about.model, data: demo.model },
      { path: demo.about.samples, data: demo.samples },
    ],
    { preprocessing: demo.about.preprocessing, calibration: demo.about.calibration_samples },
  );
  state.isDemo.value = true;
  await quantize();
}
