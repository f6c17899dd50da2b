// SPDX-License-Identifier: Apache-2.0

import type { TargetPlatformCapabilities } from 'tersor';
import { beforeEach, expect, it, vi } from 'vitest';

import { undoLabel } from '../src/job/history';
import { chosenPlatform, openPlatform, platformChoices, platformTitle } from '../src/job/platform';
import * as state from '../src/job/state';
import { firstVisit } from './helpers';

beforeEach(async () => {
  await firstVisit();
  const engine = state.engine.value;
  if (!engine) throw new Error('no engine');
  vi.spyOn(engine, 'platforms').mockReturnValue([
    { name: 'chip', version: 1, title: 'The chip', description: 'old' },
    { name: 'ort-cpu', version: 1, title: 'ONNX Runtime CPU', description: '' },
    { name: 'chip', version: 2, title: 'The chip', description: 'new' },
  ]);
});

const mine = (name: string, title?: string) =>
  ({ name, version: 1, title, description: 'mine' }) as unknown as TargetPlatformCapabilities;

it('offers the newest version of each platform first, older ones by number, then files', () => {
  openPlatform('mine.json', mine('mine', 'My chip'));
  expect(platformChoices().map(({ label, title, description }) => [label, title, description])).toEqual([
    ['ort-cpu', 'ONNX Runtime CPU', ''],
    ['chip', 'The chip', 'new'],
    ['chip@v1', 'The chip, version 1', 'old'],
    ['file:mine.json', 'My chip', 'mine'],
  ]);
  state.engine.value = null;
  expect(platformChoices().map(({ label }) => label)).toEqual(['file:mine.json']);
});

it('says what the chosen one is called', () => {
  expect(chosenPlatform()?.title).toBe('ONNX Runtime CPU');
  expect(platformTitle()).toBe('ONNX Runtime CPU');
  expect(platformTitle('chip@v1')).toBe('The chip, version 1');
  expect(platformTitle('gone')).toBe('gone');
  state.platformName.value = 'gone';
  expect(chosenPlatform()).toBeUndefined();
});

it('chooses the platform of a file, under its title, its name or the file’s, and once', () => {
  state.recipe.value = { name: 'r.json' } as state.OpenRecipe;
  openPlatform('a.json', mine('first', 'First'));
  expect(state.platformName.value).toBe('file:a.json');
  expect(state.platform.value).toMatchObject({ name: 'first' });
  expect(state.recipe.value).toBeNull();
  expect(undoLabel.value).toBe('Where it will run: First');
  expect(state.openRegions.value.has('settings')).toBe(true);
  openPlatform('b.json', mine('second'));
  openPlatform('c.json', mine(''));
  openPlatform('a.json', mine('third', 'Third'));
  expect(state.ownPlatforms.value.map(({ label, title }) => [label, title])).toEqual([
    ['file:b.json', 'second'],
    ['file:c.json', 'c.json'],
    ['file:a.json', 'Third'],
  ]);
  expect(state.platform.value).toMatchObject({ name: 'third' });
});
