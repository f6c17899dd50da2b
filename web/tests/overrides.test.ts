// SPDX-License-Identifier: Apache-2.0

import { beforeEach, expect, it } from 'vitest';

import { addArrivals } from '../src/job/load';
import {
  addOverride,
  emptyDraft,
  findNodes,
  listOverrides,
  nodes,
  operatorRows,
  setFrameworkInfo,
  types,
} from '../src/job/overrides';
import { backToDefaults, setKeepFloat } from '../src/job/settings';
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
