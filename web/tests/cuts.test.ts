// SPDX-License-Identifier: Apache-2.0

import type { FieldDescription } from 'tersor';
import { beforeEach, expect, it } from 'vitest';

import { forecast, handCut, operatorField, setCut, setOperatorField } from '../src/job/cuts';
import { setKeepFloat } from '../src/job/settings';
import * as state from '../src/job/state';
import { openPets } from './helpers';

beforeEach(openPets);

const fixed = (init_min: number, init_max: number, num_bits = 8) => ({
  class_name: 'LayerQuantizeConfig',
  config: {
    weights: {},
    activation: null,
    outputs: [{ class_name: 'FixedQuantizer', config: { num_bits, init_min, init_max, narrow_range: false } }],
  },
});

function fieldNamed(name: string): FieldDescription {
  const found = state.engine.value?.describeQuantizationConfig().find((one) => one.name === name);
  if (!found) throw new Error(`There is no field ${name}.`);
  return found;
}
const weightBits = fieldNamed.bind(null, 'weights_n_bits');

it('sets the range of one operator by hand, and gives it back', () => {
  expect(handCut('conv1')).toBeNull();
  setCut({ name: 'gap', weight_max: null }, 4, [-1, 2]);
  setCut({ name: 'conv1', weight_max: [1] }, 8, [-3, 3]);
  expect(state.listedOverrides.value).toEqual([
    { name: 'gap', quantize_config: fixed(-1, 2, 4) },
    { name: 'conv1', quantize_config: fixed(-3, 3), config: { enable_weights_quantization: true } },
  ]);
  expect(handCut('gap')).toEqual([-1, 2]);
  expect(handCut('conv1')).toEqual([-3, 3]);
  expect(state.announcement.value).toBe('Cut of conv1 by hand.');
  setCut({ name: 'gap', weight_max: null }, 4, [0, 2]);
  expect(handCut('gap')).toEqual([0, 2]);
  expect(state.listedOverrides.value).toHaveLength(2);
  setCut({ name: 'gap', weight_max: null }, 4, null);
  expect(handCut('gap')).toBeNull();
  expect(handCut('conv1')).toEqual([-3, 3]);
  expect(state.announcement.value).toBe('Cut of gap chosen by the settings again.');
});

it('takes for a cut only what sets both ends', () => {
  const others = [
    { name: 'a', config: { weights_n_bits: 4 } },
    { name: 'a', quantize_config: { class_name: 'NoOpQuantizeConfig', config: fixed(0, 1).config } },
    { name: 'a', quantize_config: { class_name: 'LayerQuantizeConfig' } },
    { name: 'a', quantize_config: { class_name: 'LayerQuantizeConfig', config: { outputs: [] } } },
    {
      name: 'a',
      quantize_config: { class_name: 'LayerQuantizeConfig', config: { outputs: [{ config: { init_min: 0 } }] } },
    },
    {
      name: 'a',
      quantize_config: { class_name: 'LayerQuantizeConfig', config: { outputs: [{ config: { init_max: 0 } }] } },
    },
  ];
  state.listedOverrides.value = others as unknown as typeof state.listedOverrides.value;
  expect(handCut('a')).toBeNull();
  setCut({ name: 'a', weight_max: null }, 8, [0, 1]);
  expect(state.listedOverrides.value).toEqual([...others, { name: 'a', quantize_config: fixed(0, 1) }]);
  setCut({ name: 'a', weight_max: null }, 8, null);
  expect(state.listedOverrides.value).toEqual(others);
});

it('sets fields of one operator beside each other, and takes them back one by one', async () => {
  const method = fieldNamed('activation_threshold_method');
  expect(operatorField('conv1', weightBits())).toBeUndefined();
  expect(await setOperatorField('conv1', weightBits(), 4)).toBeNull();
  expect(await setOperatorField('gap', weightBits(), 2)).toBeNull();
  expect(await setOperatorField('conv1', method, 'MSE')).toBeNull();
  expect(state.listedOverrides.value).toEqual([
    { name: 'gap', config: { weights_n_bits: 2 } },
    { name: 'conv1', config: { weights_n_bits: 4, activation_threshold_method: 'MSE' } },
  ]);
  expect(operatorField('conv1', weightBits())).toBe(4);
  expect(operatorField('conv1', method)).toBe('MSE');
  expect(operatorField('gap', method)).toBeUndefined();
  await setOperatorField('conv1', weightBits(), undefined);
  expect(operatorField('conv1', weightBits())).toBeUndefined();
  expect(operatorField('conv1', method)).toBe('MSE');
  await setOperatorField('conv1', method, undefined);
  await setOperatorField('gap', method, undefined);
  expect(state.listedOverrides.value).toEqual([{ name: 'gap', config: { weights_n_bits: 2 } }]);
});

it('leaves settings alone that are of more than the operator', async () => {
  const others = [
    { name: 'conv1', quantize_config: fixed(0, 1), config: { weights_n_bits: 3 } },
    { name: 'conv1', annotate: true, config: { weights_n_bits: 3 } },
    { name: 'conv1', type: 'Conv', config: { weights_n_bits: 3 } },
    { name: 'conv1', filter: { layer: 'Conv' }, config: { weights_n_bits: 3 } },
    { type: 'Conv', config: { weights_n_bits: 3 } },
  ];
  state.listedOverrides.value = others as unknown as typeof state.listedOverrides.value;
  expect(operatorField('conv1', weightBits())).toBeUndefined();
  await setOperatorField('conv1', weightBits(), 4);
  expect(state.listedOverrides.value).toEqual([...others, { name: 'conv1', config: { weights_n_bits: 4 } }]);
});

it('says what the engine refuses, and changes nothing', async () => {
  setKeepFloat('nowhere', true);
  const problem = await setOperatorField('conv1', weightBits(), 4);
  expect(problem?.message).toMatch(/"nowhere"/);
  expect(state.listedOverrides.value).toEqual([]);
  setKeepFloat('nowhere', null);
  state.listedOverrides.value = [{ name: 'gone', config: { weights_n_bits: 2 } }];
  expect((await setOperatorField('conv1', weightBits(), 4))?.message).toMatch(/"gone"/);
  expect(await setOperatorField('gone', weightBits(), undefined)).toBeNull();
});

it('expects of another range what its own noise says beside all other noise', () => {
  // 30 dB measured, of which the range makes 36 dB; without loss in the range the rest is left
  expect(forecast(30, 36, null)).toBeCloseTo(31.26, 1);
  expect(forecast(30, 36, 36)).toBeCloseTo(30, 9);
  expect(forecast(30, 36, 20)).toBeCloseTo(19.68, 1);
  // noise of 0.01 and 0.001 and of nothing
  expect(forecast(20, null, 30)).toBeCloseTo(-10 * Math.log10(0.011), 9);
  // no less noise than the other range makes alone
  expect(forecast(30, 20, 40)).toBeCloseTo(40, 9);
  expect(forecast(null, null, 40)).toBeCloseTo(40, 9);
  expect(forecast(null, null, null)).toBe(null);
  expect(forecast(30, 20, null)).toBe(null);
});
