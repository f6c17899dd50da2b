// SPDX-License-Identifier: Apache-2.0

import type { FieldDescription, FieldValue } from 'tersor';
import { beforeEach, expect, it, vi } from 'vitest';

import { undoLabel } from '../src/job/history';
import {
  choiceText,
  fieldValue,
  formRows,
  isDocument,
  namesOf,
  setField,
  setKeepFloat,
  setPlatform,
  toDocumentDefaults,
  valueText,
} from '../src/job/settings';
import * as state from '../src/job/state';
import { firstVisit } from './helpers';

const field = (more: Partial<FieldDescription> = {}): FieldDescription => ({
  ...{ name: 'x', type: 'int', nullable: true, default: 8, choices: null, minimum: null, maximum: null },
  ...{ meaning: '', acts: true, members: null, mct: '', ort: '' },
  ...more,
});

beforeEach(firstVisit);

it('orders the form by what people look for, and puts fields that it does not know last', () => {
  const engine = state.engine.value;
  if (!engine) throw new Error('no engine');
  const names = ['new_field', 'z_threshold', 'prefer', 'weights_n_bits', 'activation_threshold_method'];
  vi.spyOn(engine, 'describeQuantizationConfig').mockReturnValue(names.map((name) => field({ name })));
  expect(formRows().map((row) => [row.field.name, row.title, row.group])).toEqual([
    ['prefer', 'Prefer', 'main'],
    ['activation_threshold_method', 'Where to cut activations', 'main'],
    ['weights_n_bits', 'Bits of weights', 'main'],
    ['z_threshold', 'Drop outliers beyond z', 'ranges'],
    ['new_field', 'new_field', 'ranges'],
  ]);
});

it('gives a field’s names here and elsewhere', () => {
  expect(namesOf(field())).toBe('x');
  expect(namesOf(field({ mct: 'x' }))).toBe('x · the same in MCT');
  expect(namesOf(field({ mct: 'y', ort: 'z' }))).toBe('x · MCT y · ORT z');
});

it('says a value in words', () => {
  const says = (value: FieldValue, type: FieldDescription['type'] = 'int') => valueText(field({ type }), value);
  expect([says(null), says(null, 'number'), says(null, 'object')]).toEqual(['platform default', 'off', 'none']);
  expect([says(true), says(false), says(4), says('NOCLIPPING'), says('other')]).toEqual([
    'on',
    'off',
    '4',
    'No clipping',
    'other',
  ]);
  expect(says({ weights_memory: 5, bops: null, more: { a: 1 } } as unknown as FieldValue, 'object')).toBe(
    'weights_memory 5, more {"a":1}',
  );
  expect(choiceText(4)).toBe('4');
});

it('sets a field, and forgets it where it is back at its default', () => {
  expect(fieldValue(field())).toBe(8);
  setField(field(), 4);
  expect(state.fields.value).toEqual({ x: 4 });
  expect(fieldValue(field())).toBe(4);
  setField(field(), null);
  expect(fieldValue(field())).toBeNull();
  setField(field(), 8);
  expect(state.fields.value).toEqual({});
  expect(undoLabel.value).toBe('x: 8');
});

it('keeps an operator in float or in integers, or leaves it to the platform', () => {
  setKeepFloat('a', true);
  expect(undoLabel.value).toBe('a: kept in float');
  setKeepFloat('b', false);
  expect(undoLabel.value).toBe('b: in integers');
  expect(state.keepFloat.value).toEqual({ a: true, b: false });
  setKeepFloat('a', null);
  expect(undoLabel.value).toBe('a: platform default');
  expect(state.keepFloat.value).toEqual({ b: false });
});

it('leaves a recipe with the platform that it was of', () => {
  state.recipe.value = { name: 'r.json' } as state.OpenRecipe;
  setPlatform('chip');
  expect([state.platformName.value, state.recipe.value]).toEqual(['chip', null]);
});

it('knows the document’s defaults from other settings', () => {
  expect(isDocument()).toBe(false);
  toDocumentDefaults();
  expect(isDocument()).toBe(true);
  state.fields.value = { ...state.fields.value, weights_n_bits: 4 };
  expect(isDocument()).toBe(false);
  state.fields.value = { activation_quantization_method: 'SYMMETRIC' };
  expect(isDocument()).toBe(false);
});
