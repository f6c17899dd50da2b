// SPDX-License-Identifier: Apache-2.0

import type { Recipe, TargetPlatformCapabilities } from 'tersor';
import { beforeEach, expect, it, vi } from 'vitest';

import { redoLabel, undo, undoLabel } from '../src/job/history';
import { openPlatform } from '../src/job/platform';
import { applyRecipe, changedFields } from '../src/job/recipe';
import * as state from '../src/job/state';
import { firstVisit } from './helpers';

const preprocessing = { label_offset: 1 } as unknown as NonNullable<Recipe['preprocessing']>;

function recipeOf(more: Partial<Recipe> = {}): state.OpenRecipe {
  const recipe = {
    platform: { name: 'ort-cpu', version: 1, digest: '' },
    quantization_config: { activation_threshold_method: 'MSE', weights_n_bits: 4 },
    overrides: [{ name: 'conv1', annotate: true }],
    framework_info: { no_quantization_ops: ['Softmax'] },
    preprocessing,
    data_set: { samples: 32, of: 100, digest: '' },
    ...more,
  } as unknown as Recipe;
  return { name: 'r.json', recipe, allowMismatch: false };
}

const labelOf = (name: string, version: number) => {
  applyRecipe(recipeOf({ platform: { name, version, digest: '' } }));
  return state.platformName.value;
};

beforeEach(firstVisit);

it('fills all settings, those that stand at their default left out, in a step that can be taken back', () => {
  state.keepFloat.value = { gap: true };
  state.settingsProblem.value = { code: '', message: 'm', place: '', hint: '' };
  applyRecipe(recipeOf());
  expect(state.fields.value).toEqual({ weights_n_bits: 4 });
  expect(state.keepFloat.value).toEqual({});
  expect(state.listedOverrides.value).toEqual([{ name: 'conv1', annotate: true }]);
  expect(state.frameworkInfo.value).toEqual({ no_quantization_ops: ['Softmax'] });
  expect(state.preprocessing.value).toEqual(preprocessing);
  expect(state.preprocessingIsGiven.value).toBe(true);
  expect(state.chosenCalibration.value).toBe(32);
  expect(state.settingsProblem.value).toBeNull();
  expect(state.recipe.value?.name).toBe('r.json');
  expect(undoLabel.value).toBe('Settings of r.json');
  undo();
  expect(state.keepFloat.value).toEqual({ gap: true });
  expect(state.fields.value).toEqual({});
  expect(state.preprocessingIsGiven.value).toBe(false);
  expect(redoLabel.value).toBe('Settings of r.json');
});

it('leaves preprocessing and samples as they are where it says nothing of them', () => {
  applyRecipe(recipeOf({ preprocessing: null, data_set: { samples: 0, of: 0, digest: '' } }));
  expect(state.preprocessing.value).toBeNull();
  expect(state.preprocessingIsGiven.value).toBe(false);
  expect(state.chosenCalibration.value).toBeNull();
});

it('finds its platform among those that come along, by version, and among the reader’s own', () => {
  const engine = state.engine.value;
  if (!engine) throw new Error('no engine');
  vi.spyOn(engine, 'platforms').mockReturnValue(
    [1, 3].map((version) => ({ name: 'chip', version, title: 'Chip', description: '' })),
  );
  expect(labelOf('chip', 3)).toBe('chip');
  expect(labelOf('chip', 1)).toBe('chip@v1');
  expect(labelOf('', 1)).toBe('chip@v1');
  expect(labelOf('unknown', 1)).toBe('unknown');
  const own = { name: 'mine', version: '2', title: '', description: '' } as unknown as TargetPlatformCapabilities;
  openPlatform('mine.json', own);
  openPlatform('chip.json', { ...own, name: 'chip', version: '1' } as unknown as TargetPlatformCapabilities);
  expect(labelOf('mine', 2)).toBe('file:mine.json');
  expect(labelOf('mine', 1)).toBe('mine');
  expect(labelOf('chip', 1)).toBe('chip@v1');
});

it('knows which fields were set', () => {
  expect(changedFields({ weights_n_bits: 8, activation_n_bits: 4 })).toEqual({ activation_n_bits: 4 });
});
