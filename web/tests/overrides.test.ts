// SPDX-License-Identifier: Apache-2.0

import { beforeEach, expect, it } from 'vitest';

import { addArrivals } from '../src/job/load';
import {
  addOverride,
  emptyDraft,
  findNodes,
  firstValue,
  listOverrides,
  nodes,
  operatorRows,
  overridesIn,
  setFrameworkInfo,
  setObjectField,
  types,
} from '../src/job/overrides';
import { backToDefaults, setKeepFloat, type FormRow } from '../src/job/settings';
import * as state from '../src/job/state';
import { Tersor } from './double';

const open = (path: string, text: string) => addArrivals([{ path, data: new Blob([text]) }]);

beforeEach(async () => {
  state.engine.value = await Tersor.create();
  state.recipe.value = null;
  await open('net.onnx', 'm');
  backToDefaults();
});

it('offers the fields that operators can have, and the operators themselves', async () => {
  expect(operatorRows().map(({ field }) => field.name)).toContain('weights_n_bits');
  await findNodes();
  expect(nodes.value).toContainEqual({ name: 'conv1', type: 'Conv' });
  expect(types()[0]?.type).toBe('Conv');
});

it('takes settings of operators by name, type and JSON, and gives each back', async () => {
  expect(await addOverride({ ...emptyDraft, name: ' conv1 ' })).toBeNull();
  expect(await addOverride({ ...emptyDraft, by: 'type', type: 'Gemm', what: 'weights_n_bits', value: 4 })).toBeNull();
  expect(await addOverride({ ...emptyDraft, by: 'type', type: 'Conv', what: 'annotate' })).toBeNull();
  const filter = { layer: 'Conv', kwargs: { group: 1 } };
  const json = JSON.stringify([{ filter, quantize_config: { class_name: 'NoOpQuantizeConfig' } }]);
  expect(await addOverride({ ...emptyDraft, by: 'json', json })).toBeNull();
  setKeepFloat('gap', true);
  const inFloat = { enable_weights_quantization: false, enable_activation_quantization: false };
  expect(state.overrides.value).toEqual([
    { name: 'conv1', config: inFloat },
    { type: 'Gemm', config: { weights_n_bits: 4 } },
    { type: 'Conv', annotate: true },
    { filter, quantize_config: { class_name: 'NoOpQuantizeConfig' } },
    { name: 'gap', config: inFloat },
  ]);
  expect(listOverrides().map(({ chosen, effect }) => `${chosen}: ${effect}`)).toEqual([
    'conv1: in float',
    'every Gemm: Bits of weights: 4',
    'every Conv: annotated',
    `every ${JSON.stringify(filter)}: NoOpQuantizeConfig`,
    'gap: in float',
  ]);
  listOverrides()[4]?.remove();
  listOverrides()[1]?.remove();
  expect(listOverrides().map(({ chosen }) => chosen)).toEqual([
    'conv1',
    'every Conv',
    `every ${JSON.stringify(filter)}`,
  ]);
});

it('says what is wrong and changes nothing', async () => {
  await addOverride({ ...emptyDraft, name: 'conv1' });
  const before = state.overrides.value;
  expect((await addOverride({ ...emptyDraft, name: 'nowhere' }))?.message).toMatch(/nowhere/);
  expect((await addOverride({ ...emptyDraft, by: 'json', json: '{ name: 1 }' }))?.message).toMatch(/^This is not JSON/);
  expect((await setFrameworkInfo('{'))?.place).toBe('framework_info');
  expect(state.overrides.value).toEqual(before);
  expect(state.frameworkInfo.value).toBeUndefined();
});

it('are filled from a recipe, and go with the model that they were entered for', async () => {
  const recipe = {
    format: 'tersor-recipe',
    format_version: 1,
    platform: { name: 'ort-cpu', version: 1, digest: '' },
    quantization_config: {},
    overrides: [{ name: 'conv1', annotate: true }],
    framework_info: { no_quantization_ops: ['Softmax'] },
    preprocessing: null,
  };
  await open('net.tersor.json', JSON.stringify(recipe));
  expect(state.overrides.value).toEqual(recipe.overrides);
  expect(state.frameworkInfo.value).toEqual(recipe.framework_info);
  expect(await setFrameworkInfo('')).toBeNull();
  expect(state.frameworkInfo.value).toBeUndefined();
  await open('net.onnx', 'm');
  expect(state.overrides.value).toEqual(recipe.overrides);
  state.recipe.value = null;
  await open('other.onnx', 'm');
  expect(state.overrides.value).toEqual([]);
});

it('counts the types of operators, the most frequent first', async () => {
  await findNodes();
  expect(types().slice(0, 2)).toEqual([
    { type: 'Conv', count: 19 },
    { type: 'Add', count: 9 },
  ]);
  state.model.value = null;
  await findNodes();
  expect(types()).toEqual([]);
});

it('keeps no operators of a model that was closed meanwhile', async () => {
  const asked = findNodes();
  state.model.value = null;
  await asked;
  expect(nodes.value).toEqual([]);
});

it('begins with a value that the field can have, and offers none that means all others', () => {
  const begins = (type: 'bool' | 'int' | 'number', choices: string[] | null = null) =>
    firstValue({ field: { type, choices, default: 0.5 } } as FormRow);
  expect([begins('bool'), begins('int'), begins('number'), begins('int', ['MSE'])]).toEqual([false, 8, 0.5, 'MSE']);
  expect(operatorRows().every(({ field }) => !field.nullable)).toBe(true);
  expect(operatorRows().map(({ field }) => field.name)).toEqual([
    'weights_n_bits',
    'weights_per_channel_threshold',
    'activation_n_bits',
    'activation_quantization_method',
    'weights_threshold_method',
    'activation_threshold_method',
  ]);
});

it('says what an override chooses and does', () => {
  state.listedOverrides.value = [
    { name: 'a', type: 'Conv', config: { weights_n_bits: 4, weights_per_channel_threshold: false } },
    { type: 'Conv', config: { enable_weights_quantization: false, activation_threshold_method: 'NOCLIPPING' } },
    { name: 'b', quantize_config: {} as never, config: { weights_bias_correction: true } },
  ];
  expect(listOverrides().map(({ chosen, effect }) => [chosen, effect])).toEqual([
    ['a, every Conv', 'Bits of weights: 4, One scale per channel: off'],
    ['every Conv', 'Quantize weights: off, Where to cut activations: No clipping'],
    ['b', 'Correct biases: on'],
  ]);
});

it('finds the overrides that a problem names', () => {
  state.listedOverrides.value = ['a', 'b', 'c'].map((name) => ({ name }));
  const found = (place: string, message = '') =>
    overridesIn({ code: '', place, message, hint: '' }).map(({ chosen }) => chosen);
  expect(found('overrides[1].name')).toEqual(['b']);
  expect(found('config', 'Two faults:\noverrides[0]: x\noverrides[2]: y')).toEqual(['a', 'c']);
  expect(found('config.overrides[1]')).toEqual([]);
});

it('takes a field as JSON, and gives it back where the text is empty', async () => {
  const field = operatorRows()[0]?.field;
  if (!field) throw new Error('no field');
  const object = { ...field, name: 'custom', default: null };
  expect(await setObjectField(object, '{"a": 1}')).toBeNull();
  expect(state.fields.value).toEqual({ custom: { a: 1 } });
  expect(await setObjectField(object, '{a}')).toMatchObject({ code: 'invalid_config', place: 'config.custom' });
  expect(await setObjectField(object, ' ')).toBeNull();
  expect(state.fields.value).toEqual({});
});
