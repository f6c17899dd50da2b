// SPDX-License-Identifier: Apache-2.0

import { beforeEach, expect, it } from 'vitest';

import { bringBack, drop } from '../src/job/kept_results';
import { quantize } from '../src/job/quantize';
import * as state from '../src/job/state';
import { openPets } from './helpers';

const closed: string[] = [];
const made = (key: string, more: Partial<state.Result> = {}, bytes = 10) =>
  ({
    ...{ key, dataKey: 'x', pending: null, ...more },
    quantized: { model: { length: bytes }, close: () => closed.push(key) },
  }) as unknown as state.Result;

beforeEach(async () => {
  await openPets();
  closed.length = 0;
});

it('keeps the newest results, as many as there is room for, and frees the others', () => {
  for (let k = 0; k < 6; ++k) drop(made(`${k}`));
  expect(closed).toEqual(['0', '1']);
  drop(made('large', {}, 3e8));
  expect(closed).toEqual(['0', '1', '5', '4', '3', '2']);
  drop(null);
});

it('frees what was not measured, and touches nothing that is shown', () => {
  const shown = made('shown');
  state.result.value = shown;
  drop({ ...shown });
  drop(made('half', { pending: 'figures' }));
  expect(closed).toEqual(['half']);
});

it('brings back the result of the settings as they are, of the same files, and no other', async () => {
  await quantize();
  const first = state.result.value;
  expect(bringBack()).toBe(false);
  state.fields.value = { weights_bias_correction: false };
  await quantize();
  const second = state.result.value;
  expect(second?.quantized).not.toBe(first?.quantized);
  state.fields.value = {};
  expect(bringBack()).toBe(true);
  expect(state.result.value).toBe(first);
  state.classMapping.value = { by: 'hand', outputs: { cat: 3 } };
  expect(bringBack()).toBe(false);
});
