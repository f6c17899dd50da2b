// SPDX-License-Identifier: Apache-2.0
//
// One history of everything that a reader may set or open: fields, operators, platform, recipe, preprocessing, split, what the
// class folders stand for, samples and labels, the model, both configurations. A step knows what it changed and nothing else.
// Results that a step replaced are kept (kept_results.ts), so that going back and forth brings them along.

import { batch, computed, signal } from '@preact/signals';
import type { Preprocessing } from 'tersor';

import { configurationOf, differing, isSame, letters, openOther, setConfiguration } from './configurations';
import { updateCoverage } from './coverage';
import { bringBack, drop, dropAll } from './kept_results';
import { inspect } from './inspect';
import { giveUp, quantizeAgain } from './quantize';
import { say } from './say';
import * as state from './state';

/** The open files, with what was found in them, so that going back reads nothing again. */
const found = {
  model: state.model,
  samples: state.samples,
  samplesInfo: state.samplesInfo,
  samplesProblem: state.samplesProblem,
  unreadable: state.unreadable,
  preview: state.preview,
  preprocessingTrial: state.preprocessingTrial,
  usualPreprocessing: state.usualPreprocessing,
  isDemo: state.isDemo,
} as const;
/** Of these, what a reader opens. */
const opened = new Set(['model', 'samples', 'isDemo']);
type Open = { readonly [K in keyof typeof found]: (typeof found)[K]['value'] };

/** What a step may change. */
interface Settings {
  readonly A: state.Configuration | null;
  readonly B: state.Configuration | null;
  readonly open: Open;
  readonly preprocessing: Preprocessing | null;
  readonly preprocessingIsGiven: boolean;
  readonly chosenCalibration: number | null;
  readonly classMapping: state.ClassMapping;
  readonly trustedFloat: string;
}

type Part = Partial<Omit<Settings, 'A' | 'B' | 'open'>> & {
  readonly open?: Partial<Open>;
  readonly A?: Partial<state.Configuration> | null;
  readonly B?: Partial<state.Configuration> | null;
};

interface Step {
  readonly label: string;
  /** Steps of one kind that follow each other at once, such as those of a slider, are one. */
  readonly kind: string;
  readonly at: number;
  /** The configuration that was open, and the one that then was. */
  readonly from: state.Letter;
  readonly to: state.Letter;
  readonly before: Part;
  readonly after: Part;
}

const past = signal<readonly Step[]>([]);
const future = signal<readonly Step[]>([]);
/** Steps that are kept. */
const most = 200;
/** Models that are kept open for the steps that closed them. */
const mostModels = 2;
const mergeMilliseconds = 1000;

export const undoLabel = computed(() => past.value.at(-1)?.label ?? null);
export const undoKind = computed(() => past.value.at(-1)?.kind ?? null);
export const redoLabel = computed(() => future.value.at(-1)?.label ?? null);

function openNow(): Open {
  return Object.fromEntries(Object.entries(found).map(([name, one]) => [name, one.peek()])) as unknown as Open;
}

function now(): Settings {
  return {
    A: configurationOf('A'),
    B: configurationOf('B'),
    open: openNow(),
    preprocessing: state.preprocessing.value,
    preprocessingIsGiven: state.preprocessingIsGiven.value,
    chosenCalibration: state.chosenCalibration.value,
    classMapping: state.classMapping.value,
    trustedFloat: state.trustedFloat.value,
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
  const [mine, theirs] = [settings.open, others.open];
  if (mine.model !== theirs.model || mine.samples !== theirs.samples) {
    // what was found goes with the files that it was found in
    const members = Object.entries(mine).filter(
      ([name, one]) => !opened.has(name) || one !== theirs[name as keyof Open],
    );
    part.open = Object.fromEntries(members) as Partial<Open>;
  }
  if (!isSame(settings.preprocessing, others.preprocessing)) {
    part.preprocessing = settings.preprocessing;
    part.preprocessingIsGiven = settings.preprocessingIsGiven;
  }
  if (settings.chosenCalibration !== others.chosenCalibration) part.chosenCalibration = settings.chosenCalibration;
  if (!isSame(settings.classMapping, others.classMapping)) part.classMapping = settings.classMapping;
  if (settings.trustedFloat !== others.trustedFloat) part.trustedFloat = settings.trustedFloat;
  return part;
}

/** Begins a change that takes time; what it returns remembers how to take it back, once it is made. */
export function beginStep(): (label: string, kind?: string) => void {
  const before = now();
  const letter = state.active.value;
  return (label, kind = '') => {
    const after = now();
    const made: Step = {
      label: state.parked.value ? `${label} (${letter})` : label,
      kind,
      at: performance.now(),
      from: letter,
      to: state.active.value,
      before: partOf(before, after),
      after: partOf(after, before),
    };
    if (Object.keys(made.before).length === 0) return;
    const last = past.value.at(-1);
    const isMore =
      kind !== '' && last?.kind === kind && made.at - last.at < mergeMilliseconds && isSame(keys(last), keys(made));
    const steps = isMore
      ? [...past.value.slice(0, -1), { ...made, before: last.before, from: last.from }]
      : [...past.value, made];
    keep(steps.slice(-most), []);
  };
}

/** Makes a change and remembers how to take it back. */
export function step(label: string, change: () => void, kind = ''): void {
  const remember = beginStep();
  batch(change);
  remember(label, kind);
}

function keys({ before }: Step): string[] {
  return Object.keys(before);
}

function modelsOf(steps: readonly Step[]): Set<state.OpenModel> {
  const all = steps.flatMap(({ before, after }) => [before.open?.model, after.open?.model]);
  return new Set(all.filter((one) => one != null));
}

/** Takes over the steps; models that none of them leads back to are closed. */
function keep(steps: readonly Step[], others: readonly Step[]): void {
  const held = modelsOf([...past.value, ...future.value]);
  let first = 0;
  while (modelsOf(steps.slice(first)).size > mostModels + 1) ++first;
  past.value = steps.slice(first);
  future.value = others;
  const reached = modelsOf([...past.value, ...others]);
  for (const model of held) if (!reached.has(model) && model !== state.model.value) model.handle.close();
}

function setOpen(open: Partial<Open>): void {
  if ('model' in open) {
    giveUp();
    dropAll();
    state.coverage.value = null;
    state.coverageProblem.value = null;
    state.openLayer.value = null;
  }
  for (const [name, one] of Object.entries(open)) (found[name as keyof typeof found] as { value: unknown }).value = one;
  state.modelProblem.value = null;
}

function apply(part: Part, letter: state.Letter): void {
  batch(() => {
    if (part.open) setOpen(part.open);
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
    if (part.trustedFloat !== undefined) state.trustedFloat.value = part.trustedFloat;
    state.settingsProblem.value = null;
    state.runProblem.value = null;
  });
  if (part.open || 'A' in part || 'B' in part) void updateCoverage();
  // what was found in files that are open again is still known, unless there was no model then
  const isKnown = part.open ? state.samplesInfo.value !== null : !('preprocessing' in part);
  // another set of samples, or other labels, had a result or none: nothing is run for it
  const again = part.open ? bringBack : quantizeAgain;
  if (isKnown) again();
  else void inspect().then(again);
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
  if (back) apply(last.before, last.from);
  else apply(last.after, last.to);
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

/** For tests: as on a first visit. */
export function clearHistory(): void {
  past.value = [];
  future.value = [];
}
