// SPDX-License-Identifier: Apache-2.0
//
// One history of everything that a reader may set: fields, operators, platform, recipe, preprocessing, split, what the class
// folders stand for, both configurations. A step knows what it changed and nothing else, so that it can be taken back whatever else has changed
// since, such as the model.

import { batch, computed, signal } from '@preact/signals';
import type { Preprocessing } from 'tersor';

import { configurationOf, differing, drop, isSame, letters, openOther, setConfiguration } from './configurations';
import { inspect } from './inspect';
import { quantizeAgain } from './quantize';
import { say } from './say';
import { changed } from './coverage';
import * as state from './state';

/** What a step may change. */
interface Settings {
  readonly A: state.Configuration | null;
  readonly B: state.Configuration | null;
  readonly preprocessing: Preprocessing | null;
  readonly preprocessingIsGiven: boolean;
  readonly chosenCalibration: number | null;
  readonly classMapping: state.ClassMapping;
}

type Part = Partial<Omit<Settings, 'A' | 'B'>> & {
  readonly A?: Partial<state.Configuration> | null;
  readonly B?: Partial<state.Configuration> | null;
};

interface Step {
  readonly label: string;
  /** Steps of one kind that follow each other at once, such as those of a slider, are one. */
  readonly kind: string;
  readonly at: number;
  readonly letter: state.Letter;
  readonly before: Part;
  readonly after: Part;
}

const past = signal<readonly Step[]>([]);
const future = signal<readonly Step[]>([]);
/** Steps that are kept. */
const most = 200;
const mergeMilliseconds = 1000;

export const undoLabel = computed(() => past.value.at(-1)?.label ?? null);
export const undoKind = computed(() => past.value.at(-1)?.kind ?? null);
export const redoLabel = computed(() => future.value.at(-1)?.label ?? null);

function now(): Settings {
  return {
    A: configurationOf('A'),
    B: configurationOf('B'),
    preprocessing: state.preprocessing.value,
    preprocessingIsGiven: state.preprocessingIsGiven.value,
    chosenCalibration: state.chosenCalibration.value,
    classMapping: state.classMapping.value,
  };
}

/** Of `settings`, what `others` have otherwise. */
function partOf(settings: Settings, others: Settings): Part {
  const part: { -readonly [K in keyof Part]: Part[K] } = {};
  for (const letter of letters) {
    const [mine, theirs] = [settings[letter], others[letter]];
    if (!mine || !theirs) {
      if (mine !== theirs) part[letter] = mine;
      continue;
    }
    const members = differing(mine, theirs);
    if (members.length > 0) part[letter] = Object.fromEntries(members.map((name) => [name, mine[name]]));
  }
  if (!isSame(settings.preprocessing, others.preprocessing)) {
    part.preprocessing = settings.preprocessing;
    part.preprocessingIsGiven = settings.preprocessingIsGiven;
  }
  if (settings.chosenCalibration !== others.chosenCalibration) part.chosenCalibration = settings.chosenCalibration;
  if (!isSame(settings.classMapping, others.classMapping)) part.classMapping = settings.classMapping;
  return part;
}

/** Makes a change and remembers how to take it back. */
export function step(label: string, change: () => void, kind = ''): void {
  const before = now();
  const letter = state.active.value;
  batch(change);
  const after = now();
  const made: Step = {
    label: state.parked.value ? `${label} (${letter})` : label,
    kind,
    at: performance.now(),
    letter,
    before: partOf(before, after),
    after: partOf(after, before),
  };
  if (Object.keys(made.before).length === 0) return;
  const last = past.value.at(-1);
  const isMore =
    kind !== '' && last?.kind === kind && made.at - last.at < mergeMilliseconds && isSame(keys(last), keys(made));
  past.value = isMore
    ? [...past.value.slice(0, -1), { ...made, before: last.before }]
    : [...past.value, made].slice(-most);
  future.value = [];
}

function keys({ before }: Step): string[] {
  return Object.keys(before);
}

function apply(part: Part, letter: state.Letter): void {
  batch(() => {
    for (const name of letters) {
      if (!(name in part)) continue;
      const members = part[name];
      if (members) setConfiguration(name, { ...configurationOf(name), ...members } as state.Configuration);
      else {
        if (state.active.value === name) openOther();
        const left = state.parkedResult.value;
        state.parked.value = null;
        state.parkedResult.value = null;
        state.looksAt.value = 'all';
        drop(left);
      }
    }
    if (state.active.value !== letter && letter in part && state.parked.value) openOther();
    if ('preprocessing' in part) {
      state.preprocessing.value = part.preprocessing ?? null;
      state.preprocessingIsGiven.value = part.preprocessingIsGiven ?? false;
    }
    if ('chosenCalibration' in part) state.chosenCalibration.value = part.chosenCalibration ?? null;
    if (part.classMapping) state.classMapping.value = part.classMapping;
    state.settingsProblem.value = null;
    state.runProblem.value = null;
  });
  if ('preprocessing' in part) void inspect().then(quantizeAgain);
  if ('A' in part || 'B' in part) changed();
  else quantizeAgain();
}

function move(from: typeof past, to: typeof past, word: string, back: boolean): void {
  const last = from.value.at(-1);
  if (!last) {
    say(`There is nothing to ${back ? 'undo' : 'redo'}.`);
    return;
  }
  batch(() => {
    from.value = from.value.slice(0, -1);
    to.value = [...to.value, last];
  });
  apply(back ? last.before : last.after, last.letter);
  say(`${word}: ${last.label}`, back ? { word: 'Redo', act: redo } : { word: 'Undo', act: undo });
}

export function undo(): void {
  move(past, future, 'Undone', true);
}

export function redo(): void {
  move(future, past, 'Done again', false);
}

/** A change that is told with a button to take it back. */
export function stepAndSay(label: string, change: () => void, kind = ''): void {
  const before = past.value;
  step(label, change, kind);
  if (past.value !== before) say(label, { word: 'Undo', act: undo });
}

/** What another model or other samples make void is taken out of the steps. */
export function forget(what: 'operators' | 'samples'): void {
  const without = (part: Part): Part => {
    if (what === 'samples') {
      const { preprocessing: _p, preprocessingIsGiven: _g, chosenCalibration: _c, classMapping: _m, ...rest } = part;
      return rest;
    }
    const rest: { -readonly [K in keyof Part]: Part[K] } = { ...part };
    for (const letter of letters) {
      const members = rest[letter];
      if (!members) continue;
      const isWhole = 'platformName' in members && 'fields' in members && 'keepFloat' in members;
      const { keepFloat: _k, listedOverrides: _l, ...others } = members;
      if (isWhole) rest[letter] = { ...others, keepFloat: {}, listedOverrides: [] };
      else if (Object.keys(others).length > 0) rest[letter] = others;
      else delete rest[letter];
    }
    return rest;
  };
  const clean = (steps: readonly Step[]) =>
    steps
      .map((one) => ({ ...one, before: without(one.before), after: without(one.after) }))
      .filter((one) => Object.keys(one.before).length > 0);
  past.value = clean(past.value);
  future.value = clean(future.value);
}

/** For tests: as on a first visit. */
export function clearHistory(): void {
  past.value = [];
  future.value = [];
}
