// SPDX-License-Identifier: Apache-2.0
//
// The two configurations. One of them is open: the settings that the form shows and the result below it are its own; the
// other is kept beside it with its result.

import { batch } from '@preact/signals';

import * as state from './state';

export const letters = ['A', 'B'] as const;

/** A platform and nothing else said. */
export const plain: state.Configuration = {
  platformName: 'ort-cpu',
  fields: {},
  keepFloat: {},
  listedOverrides: [],
  frameworkInfo: undefined,
  recipe: null,
};

const members = Object.keys(plain) as (keyof state.Configuration)[];

export function otherLetter(letter: state.Letter): state.Letter {
  return letter === 'A' ? 'B' : 'A';
}

function open(): state.Configuration {
  return {
    platformName: state.platformName.value,
    fields: state.fields.value,
    keepFloat: state.keepFloat.value,
    listedOverrides: state.listedOverrides.value,
    frameworkInfo: state.frameworkInfo.value,
    recipe: state.recipe.value,
  };
}

function setOpen(configuration: state.Configuration): void {
  batch(() => {
    state.platformName.value = configuration.platformName;
    state.fields.value = configuration.fields;
    state.keepFloat.value = configuration.keepFloat;
    state.listedOverrides.value = configuration.listedOverrides;
    state.frameworkInfo.value = configuration.frameworkInfo;
    state.recipe.value = configuration.recipe;
  });
}

/** Null where there is none of this letter. */
export function configurationOf(letter: state.Letter): state.Configuration | null {
  return letter === state.active.value ? open() : state.parked.value;
}

export function setConfiguration(letter: state.Letter, configuration: state.Configuration): void {
  if (letter === state.active.value) setOpen(configuration);
  else state.parked.value = configuration;
}

export function resultOf(letter: state.Letter): state.Result | null {
  return letter === state.active.value ? state.result.value : state.parkedResult.value;
}

/** Opens the other configuration with its result; the one that was open is kept. */
export function openOther(): void {
  const other = state.parked.value;
  if (!other) return;
  batch(() => {
    const [mine, result] = [open(), state.result.value];
    state.active.value = otherLetter(state.active.value);
    setOpen(other);
    state.parked.value = mine;
    state.result.value = state.parkedResult.value;
    state.parkedResult.value = result;
    state.runNote.value = '';
    state.runProblem.value = null;
    state.settingsProblem.value = null;
  });
}

export function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** The members in which two configurations differ. */
export function differing(a: state.Configuration, b: state.Configuration): (keyof state.Configuration)[] {
  return members.filter((name) => !isSame(a[name], b[name]));
}
