// SPDX-License-Identifier: Apache-2.0
//
// A and B: which of them is open, what goes from one to the other, and in what they differ.

import { batch } from '@preact/signals';

import { configurationOf, letters, openOther, otherLetter, plain, setConfiguration } from './configurations';
import { stepAndSay } from './history';
import { updateCoverage } from './coverage';
import { drop } from './kept_results';
import { platformTitle } from './platform';
import { giveUp, quantizeAgain } from './quantize';
import { say } from './say';
import { changed } from './coverage';
import { formRows, valueText } from './settings';
import * as state from './state';

/** Opens a configuration: its settings in the form, its result below. */
export function openConfiguration(letter: state.Letter): void {
  state.looksAt.value = letter;
  if (state.active.value === letter) return;
  if (!state.parked.value) {
    state.looksAt.value = 'all';
    say('There is one configuration. Copy it to B to compare two.', { word: 'Copy to B', act: copyAcross });
    return;
  }
  giveUp();
  openOther();
  state.announcement.value = `Configuration ${letter}.`;
  void updateCoverage();
  quantizeAgain();
}

export function lookAt(what: 'all' | 'F' | state.Letter): void {
  if (what === 'all' || what === 'F') state.looksAt.value = what;
  else openConfiguration(what);
}

/** Copies the open configuration over the other, which is then open, to be changed. */
export function copyAcross(): void {
  const from = state.active.value;
  const to = otherLetter(from);
  giveUp();
  stepAndSay(`${from} copied to ${to}`, () => {
    const mine = configurationOf(from);
    if (mine) state.parked.value = mine;
    const before = state.parkedResult.value;
    state.parkedResult.value = state.result.value;
    if (before) drop(before);
    openOther();
  });
  state.looksAt.value = 'all';
  state.openRegion('settings');
  changed();
}

/** Puts each in the other's place, the results too. */
export function swap(): void {
  const [a, b] = [configurationOf('A'), configurationOf('B')];
  if (!a || !b) return;
  giveUp();
  stepAndSay('A and B swapped', () => {
    setConfiguration('A', b);
    setConfiguration('B', a);
    const mine = state.result.value;
    state.result.value = state.parkedResult.value;
    state.parkedResult.value = mine;
  });
  changed();
}

/** Goes on with the open configuration alone, as A. */
export function removeOther(): void {
  const letter = state.active.value;
  giveUp();
  stepAndSay(`${otherLetter(letter)} removed`, () => {
    const before = state.parkedResult.value;
    batch(() => {
      state.active.value = 'A';
      state.parked.value = null;
      state.parkedResult.value = null;
    });
    drop(before);
  });
  state.looksAt.value = 'all';
  changed();
}

interface Difference {
  readonly name: string;
  readonly title: string;
  readonly A: string;
  readonly B: string;
}

function operatorsText(configuration: state.Configuration): string {
  const all = state.overridesOf(configuration);
  const names = all.slice(0, 3).map((one) => {
    const isFloat =
      one.config?.enable_weights_quantization === false && one.config.enable_activation_quantization === false;
    return `${one.name ?? one.type ?? 'by filter'}${isFloat ? ' in float' : ''}`;
  });
  if (all.length === 0) return 'none';
  return names.join(', ') + (all.length > names.length ? ` and ${all.length - names.length} more` : '');
}

/** What A and B have otherwise, in the form's order. */
export function differences(): Difference[] {
  const [a, b] = letters.map((letter) => configurationOf(letter) ?? plain);
  if (!a || !b || !state.parked.value) return [];
  const found: Difference[] = [];
  const add = (name: string, title: string, textOf: (one: state.Configuration) => string, isEqual: boolean) => {
    if (!isEqual) found.push({ name, title, A: textOf(a), B: textOf(b) });
  };
  const same = (x: unknown, y: unknown) => JSON.stringify(x) === JSON.stringify(y);
  add('platform', 'Where it will run', (one) => platformTitle(one.platformName), a.platformName === b.platformName);
  for (const { field, title } of formRows()) {
    const valueOf = (one: state.Configuration) => one.fields[field.name] ?? field.default;
    add(field.name, title, (one) => valueText(field, valueOf(one)), same(valueOf(a), valueOf(b)));
  }
  add('overrides', 'Single operators', operatorsText, same(state.overridesOf(a), state.overridesOf(b)));
  add(
    'framework_info',
    'What is known of operators',
    (one) => (one.frameworkInfo ? 'entered' : 'as it comes'),
    same(a.frameworkInfo, b.frameworkInfo),
  );
  return found;
}
