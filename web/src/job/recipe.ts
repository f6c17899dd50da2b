// SPDX-License-Identifier: Apache-2.0

import { batch } from '@preact/signals';
import type { FieldValue, QuantizationConfig, Recipe } from 'tersor';

import type { Arrival } from './intake';
import type { Problem } from './problem';
import * as state from './state';

function refuse(name: string, why: string): never {
  throw {
    code: 'invalid_config',
    message: `${name} is not a recipe: ${why}.`,
    place: name,
    hint: 'A recipe is the JSON file that "Download recipe" or --save-recipe writes; a target platform has "schema_version".',
  } satisfies Problem;
}

/** A recipe out of a file; what it means is the engine's business, only its outline is checked here. */
export async function readRecipe(file: Arrival): Promise<Recipe> {
  let value: unknown;
  try {
    value = JSON.parse(await file.data.text());
  } catch {
    refuse(file.path, 'it is not JSON');
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) refuse(file.path, 'it is not an object');
  for (const key of ['format_version', 'platform', 'quantization_config']) {
    if (!(key in value)) refuse(file.path, `it has no "${key}"`);
  }
  return value as Recipe;
}

/** Fills platform, settings and preprocessing from a recipe. */
export async function applyRecipe(open: state.OpenRecipe): Promise<void> {
  const { recipe } = open;
  batch(() => {
    state.recipe.value = open;
    state.platformName.value = platformLabel(recipe);
    state.keepFloat.value = {};
    state.listedOverrides.value = recipe.overrides ?? [];
    state.frameworkInfo.value = recipe.framework_info;
    state.fields.value = changedFields(recipe.quantization_config);
    if (recipe.preprocessing) state.preprocessing.value = recipe.preprocessing;
    if (recipe.data_set) state.chosenCalibration.value = recipe.data_set.samples;
    state.settingsProblem.value = null;
    state.announcement.value = `${open.name} fills the settings.`;
    state.openRegions.value = new Set([...state.openRegions.value, 'settings']);
  });
}

/** The picker's name of a recipe's platform; one that the reader brought is known by its content. */
function platformLabel({ platform }: Recipe): string {
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
