// SPDX-License-Identifier: Apache-2.0

import type { Coverage, Model } from 'tersor';
import { beforeEach, expect, it, vi, type MockInstance } from 'vitest';

import { setKeepFloat } from '../src/job/settings';
import * as state from '../src/job/state';
import { askWhatGoesAlong, takenAlong } from '../src/job/what_if';
import { openPets } from './helpers';

const stays = (...names: string[]) => names.map((name) => ({ name, op: 'Conv', reason: '' }));
let asked: MockInstance<Model['coverage']>;

beforeEach(async () => {
  await openPets();
  const [open, known] = [state.model.value, state.coverage.value];
  if (!open || !known) throw new Error('nothing is open');
  state.coverage.value = { ...known, stays_float: stays('pad') };
  asked = vi.spyOn(open.handle, 'coverage');
  asked.mockImplementation(async ({ overrides = [] } = {}): Promise<Coverage> => {
    const kept = overrides.flatMap(({ name, config }) =>
      name && config?.enable_weights_quantization === false && config.enable_activation_quantization === false
        ? [name]
        : [],
    );
    return { ...known, stays_float: stays('pad', ...kept, ...(kept.includes('conv1') ? ['relu1'] : [])) };
  });
});

it('says which other operators would be float with one', async () => {
  expect(takenAlong('conv1')).toBeNull();
  await askWhatGoesAlong('conv1');
  expect(takenAlong('conv1')).toEqual(['relu1']);
  await askWhatGoesAlong('gap');
  expect(takenAlong('gap')).toEqual([]);
  expect(takenAlong('conv1')).toEqual(['relu1']);
});

it('asks once for the same settings, and anew for others', async () => {
  await Promise.all([askWhatGoesAlong('linear'), askWhatGoesAlong('linear')]);
  await askWhatGoesAlong('linear');
  expect(asked).toHaveBeenCalledTimes(1);
  setKeepFloat('conv1', true);
  expect(takenAlong('linear')).toBeNull();
  asked.mockClear();
  await askWhatGoesAlong('linear');
  expect(takenAlong('linear')).toEqual(['conv1', 'relu1']);
  expect(asked).toHaveBeenCalledTimes(1);
});

it('asks nothing of what is float already, or where nothing is open', async () => {
  await askWhatGoesAlong('pad');
  expect(takenAlong('pad')).toBeNull();
  state.coverage.value = null;
  await askWhatGoesAlong('a');
  state.model.value = null;
  await askWhatGoesAlong('b');
  expect(asked).not.toHaveBeenCalled();
});

it('knows nothing where the engine refuses', async () => {
  asked.mockRejectedValue(new Error('no'));
  await askWhatGoesAlong('refused');
  expect(takenAlong('refused')).toBeNull();
});

it('remembers the last 200 answers', async () => {
  for (let k = 0; k < 202; ++k) await askWhatGoesAlong(`operator ${k}`);
  expect(takenAlong('operator 0')).toBeNull();
  expect(takenAlong('operator 201')).toEqual([]);
});
