// SPDX-License-Identifier: Apache-2.0

import { beforeEach, expect, it } from 'vitest';

import { copyAcross, differences, lookAt, openConfiguration, removeOther, swap } from '../src/job/compare';
import { plain } from '../src/job/configurations';
import { undo } from '../src/job/history';
import { quantize } from '../src/job/quantize';
import * as state from '../src/job/state';
import { behaviour } from './double';
import { firstVisit, openPets, settled } from './helpers';

const bits = (n: number) => (state.fields.value = { weights_n_bits: n });
const made = (key: string) =>
  ({ key, quantized: { model: [], close: () => behaviour.calls.push(`close ${key}`) } }) as unknown as state.Result;
const now = () => [state.active.value, state.fields.value, state.parked.value?.fields ?? null];
const results = () => [state.result.value?.key, state.parkedResult.value?.key];

beforeEach(firstVisit);

it('copies the open configuration with its result, and opens the copy', () => {
  bits(4);
  state.result.value = made('first');
  state.looksAt.value = 'A';
  copyAcross();
  expect(now()).toEqual(['B', { weights_n_bits: 4 }, { weights_n_bits: 4 }]);
  expect(results()).toEqual(['first', 'first']);
  expect(state.looksAt.value).toBe('all');
  expect(state.openRegions.value.has('settings')).toBe(true);
  state.result.value = made('second');
  bits(2);
  copyAcross();
  expect(now()).toEqual(['A', { weights_n_bits: 2 }, { weights_n_bits: 2 }]);
  expect(results()).toEqual(['second', 'second']);
  // the first is kept, to be brought back
  expect(behaviour.calls).toEqual([]);
});

it('opens the one or the other with its result, and offers a copy where there is one', () => {
  openConfiguration('B');
  expect(state.toast.value?.action?.word).toBe('Copy to B');
  expect([state.active.value, state.looksAt.value]).toEqual(['A', 'all']);
  openConfiguration('A');
  expect(state.looksAt.value).toBe('A');
  copyAcross();
  bits(2);
  state.result.value = made('b');
  openConfiguration('A');
  expect(now()).toEqual(['A', {}, { weights_n_bits: 2 }]);
  expect(results()).toEqual([undefined, 'b']);
  expect(state.announcement.value).toBe('Configuration A.');
});

it('looks at all, at float or at a configuration, which is then open', () => {
  copyAcross();
  for (const what of ['F', 'all', 'A', 'B'] as const) {
    lookAt(what);
    expect(state.looksAt.value).toBe(what);
  }
  expect(state.active.value).toBe('B');
  lookAt('F');
  expect(state.active.value).toBe('B');
});

it('swaps settings and results, where there are two', () => {
  bits(4);
  swap();
  expect(now()).toEqual(['A', { weights_n_bits: 4 }, null]);
  copyAcross();
  bits(2);
  state.result.value = made('b');
  state.parkedResult.value = made('a');
  swap();
  expect(now()).toEqual(['B', { weights_n_bits: 4 }, { weights_n_bits: 2 }]);
  expect(results()).toEqual(['a', 'b']);
});

it('goes on with the open one alone, as A, and keeps the other’s result', () => {
  copyAcross();
  bits(2);
  state.result.value = made('b');
  state.parkedResult.value = made('a');
  removeOther();
  expect(now()).toEqual(['A', { weights_n_bits: 2 }, null]);
  expect(results()).toEqual(['b', undefined]);
  expect(behaviour.calls).toEqual([]);
  undo();
  expect(state.parked.value).not.toBeNull();
});

it('tells in what they differ, in words', () => {
  expect(differences()).toEqual([]);
  copyAcross();
  expect(differences()).toEqual([]);
  bits(2);
  state.platformName.value = 'chip';
  state.frameworkInfo.value = {};
  const both = (weights: boolean, activation: boolean) => ({
    enable_weights_quantization: weights,
    enable_activation_quantization: activation,
  });
  state.listedOverrides.value = [
    { name: 'a', config: both(false, false) },
    { type: 'Conv', config: both(false, true) },
    { filter: { layer: 'Gemm' }, config: both(true, false) },
  ];
  expect(differences()).toEqual([
    { name: 'platform', title: 'Where it will run', A: 'ONNX Runtime CPU', B: 'chip' },
    { name: 'weights_n_bits', title: 'Bits of weights', A: '8', B: '2' },
    { name: 'overrides', title: 'Single operators', A: 'none', B: 'a in float, Conv, by filter' },
    { name: 'framework_info', title: 'What is known of operators', A: 'as it comes', B: 'entered' },
  ]);
  state.keepFloat.value = { b: true, c: true };
  expect(differences().find(({ name }) => name === 'overrides')?.B).toBe('a in float, Conv, by filter and 2 more');
  // the field's default said, and not said
  state.fields.value = { weights_n_bits: 8 };
  expect(differences().map(({ name }) => name)).not.toContain('weights_n_bits');
});

it('makes the result of a configuration whose settings changed while the other was open', async () => {
  await openPets();
  await quantize();
  copyAcross();
  state.parked.value = { ...plain, fields: { weights_n_bits: 4 } };
  openConfiguration('A');
  await settled();
  expect(state.resultIsOld.value).toBe(false);
  expect(state.result.value?.quantized.recipe.quantization_config.weights_n_bits).toBe(4);
});
