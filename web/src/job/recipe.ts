// SPDX-License-Identifier: Apache-2.0

import type { FieldValue, QuantizationConfig, Recipe } from 'tersor';

import { step, stepAndSay } from './history';
import * as state from './state';

/** Fills platform, settings and preprocessing from a recipe. */
export function applyRecipe(open: state.OpenRecipe): void {
  const { recipe } = open;
  stepAndSay(`Settings of ${open.name}`, () => {
    state.recipe.value = open;
    state.platformName.value = platformLabel(recipe);
    state.keepFloat.value = {};
    state.listedOverrides.value = recipe.overrides;
    state.frameworkInfo.value = recipe.framework_info;
    state.fields.value = changedFields(recipe.quantization_config);
    if (recipe.preprocessing) {
      state.preprocessing.value = recipe.preprocessing;
      state.preprocessingIsGiven.value = true;
    }
    if (recipe.data_set.samples > 0) state.chosenCalibration.value = recipe.data_set.samples;
    state.settingsProblem.value = null;
    state.announcement.value = `${open.name} fills the settings.`;
    state.openRegion('settings');
  });
}

/** The recipe that is open counts although it was made for another model or other samples. */
export function allowMismatch(): void {
  const open = state.recipe.value;
  if (open) step(`${open.name} all the same`, () => (state.recipe.value = { ...open, allowMismatch: true }));
}

/** The picker's name of a recipe's platform; one that the reader brought is known by its content. */
function platformLabel({ platform }: Recipe): string {
  if (platform.name === '') return state.platformName.value;
  const own = state.ownPlatforms.value.find(
    ({ capabilities }) =>
      capabilities['name'] === platform.name && Number(capabilities['version']) === Number(platform.version),
  );
  const known = state.engine.value?.platforms().filter(({ name }) => name === platform.name) ?? [];
  if (own && known.length === 0) return own.label;
  const newest = Math.max(...known.map(({ version }) => version));
  return known.length === 0 || newest === platform.version ? platform.name : `${platform.name}@v${platform.version}`;
}

/** A recipe writes every field out; only those that differ from their default were set. */
export function changedFields(config: QuantizationConfig): Readonly<Record<string, FieldValue>> {
  const defaults = new Map(
    (state.engine.value?.describeQuantizationConfig() ?? []).map((field) => [field.name, field.default]),
  );
  return Object.fromEntries(Object.entries(config).filter(([name, value]) => defaults.get(name) !== value));
}
