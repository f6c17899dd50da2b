// SPDX-License-Identifier: Apache-2.0

import { beforeEach, expect, it } from 'vitest';

import { gather, type Inputs } from '../src/job/inputs';
import * as state from '../src/job/state';
import { cancelVariants, makeVariants, making, variants, variantsProblem } from '../src/job/variants';
import { behaviour } from './double';
import { openPets } from './helpers';

const make = () => makeVariants(gather() as Inputs, 64);

beforeEach(async () => {
  await openPets();
  variants.value = null;
});

it('asks for files of the samples that calibrate, and shows the rows that cannot be made too', async () => {
  await make();
  expect(behaviour.calls).toContain(`variants of ${state.calibrationCount.value}, judged on 64`);
  expect(variants.value?.rows.map(({ dtype, refused }) => [dtype, refused?.message ?? null])).toEqual([
    ['fp32', null],
    ['q4', 'No weights.'],
  ]);
  expect([making.value, variantsProblem.value]).toEqual([null, null]);
});

it('keeps the rows that are there where it is cancelled, and says what goes on until then', async () => {
  const said: string[] = [];
  const stop = making.subscribe((words) => {
    if (words !== null) said.push(words);
    if (words?.startsWith('File 2')) cancelVariants();
  });
  await make();
  stop();
  expect(said).toContain('File 1, calibrating: 3 of 3');
  expect(variants.value?.rows.map(({ dtype }) => dtype)).toEqual(['fp32']);
  expect([making.value, variantsProblem.value]).toEqual([null, null]);
});

it('makes none while a job runs, and makes room for one that begins', async () => {
  state.run.value = {} as NonNullable<typeof state.run.value>;
  await make();
  expect(variants.value).toBeNull();
  state.run.value = null;
  const stop = making.subscribe((words) => {
    if (words?.startsWith('File 1')) state.run.value = {} as NonNullable<typeof state.run.value>;
  });
  await make();
  stop();
  expect(variants.value).toMatchObject({ rows: [] });
  expect(making.value).toBeNull();
  state.run.value = null;
});
