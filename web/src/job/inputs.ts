// SPDX-License-Identifier: Apache-2.0
//
// All that a job reads of the page, gathered when it begins, with keys that say what its figures depend on.

import type { Labels } from 'tersor';

import * as state from './state';

/** A number for each object that ever took part in a key. */
const identities = new WeakMap<object, number>();
let lastIdentity = 0;
function identity(thing: object | null): number {
  if (thing === null) return 0;
  const known = identities.get(thing);
  if (known !== undefined) return known;
  identities.set(thing, ++lastIdentity);
  return lastIdentity;
}

/** All that a job reads of the page. */
export interface Inputs {
  readonly model: state.OpenModel;
  readonly set: state.SampleSet;
  readonly labels: Labels;
  readonly preprocessing: { readonly preprocessing?: NonNullable<typeof state.preprocessing.value> };
  readonly evaluation: { readonly part: 'evaluation'; readonly count: number };
  readonly calibration: { readonly part: 'calibration'; readonly count: number };
  readonly settings: typeof state.settings.value;
  readonly format: 'onnx' | 'tflite';
  readonly key: string;
  /** Model, samples, labels and settings without what trains. */
  readonly untrainedKey: string;
  /** What float accuracy and statistics depend on. */
  readonly dataKey: string;
}

export function gather(): Inputs | null {
  const model = state.model.value;
  const set = state.samples.value;
  if (!model || !set) return null;
  const chosen = state.preprocessing.value;
  const count = state.calibrationCount.value;
  const labels = state.labels.value;
  const dataKey = JSON.stringify([identity(model.handle), identity(set), chosen, count, state.classMapping.value]);
  return {
    model,
    set,
    labels,
    // left to the guess, so that the verdict says on what it rests
    preprocessing: chosen && !state.preprocessingIsGuess.value ? { preprocessing: chosen } : {},
    evaluation: { part: 'evaluation', count },
    calibration: { part: 'calibration', count },
    settings: state.settings.value,
    format: state.format.value,
    key: state.settingsKey.value,
    untrainedKey: JSON.stringify([dataKey, labels, state.untrainedKey.value, state.recipe.value?.name ?? null]),
    dataKey,
  };
}

/** What statistics depend on besides the data. */
export function statisticsKey(inputs: Inputs): string {
  const { config, overrides, frameworkInfo } = inputs.settings;
  return JSON.stringify([state.platformName.value, config, overrides, frameworkInfo]);
}

/** The settings, as an opened recipe with what was changed since, so that it is compared with model and samples. */
export function settingsOf(inputs: Inputs) {
  const opened = state.recipe.value;
  const config = state.engine.value?.quantizationConfig(inputs.settings.config);
  if (!opened || !config) return inputs.settings;
  const preprocessing = state.preprocessing.value;
  return {
    platform: inputs.settings.platform,
    recipe: {
      ...opened.recipe,
      quantization_config: config,
      overrides: inputs.settings.overrides,
      framework_info: inputs.settings.frameworkInfo,
      preprocessing,
    },
    allowMismatch: opened.allowMismatch,
  };
}
