// SPDX-License-Identifier: Apache-2.0
//
// The settings form's order and words. Which fields there are, their types, choices, defaults and meanings come from the
// engine's field list; a field that this file does not know still gets its row, under its own name.

import { batch } from '@preact/signals';
import type { FieldDescription, FieldValue } from 'tersor';

import { updateCoverage } from './load';
import * as state from './state';

export type GroupId = 'main' | 'ranges' | 'weights' | 'activations';

interface Words {
  readonly title: string;
  /** The name in ONNX Runtime's quantizer; empty where it has none. */
  readonly ort: string;
  readonly group: GroupId;
}

const words: Readonly<Record<string, Words>> = {
  activation_threshold_method: { title: 'Where to cut activations', ort: 'CalibrationMethod', group: 'main' },
  weights_threshold_method: { title: 'Where to cut weights', ort: '', group: 'main' },
  weights_per_channel_threshold: { title: 'One scale per channel', ort: 'per_channel', group: 'main' },
  weights_bias_correction: { title: 'Correct biases', ort: '', group: 'main' },
  activation_n_bits: { title: 'Bits of activations', ort: 'activation_type', group: 'activations' },
  weights_n_bits: { title: 'Bits of weights', ort: 'weight_type', group: 'weights' },
  activation_quantization_method: { title: 'Grid of activations', ort: 'ActivationSymmetric', group: 'activations' },
  weights_quantization_method: { title: 'Grid of weights', ort: 'WeightSymmetric', group: 'weights' },
  enable_weights_quantization: { title: 'Quantize weights', ort: '', group: 'weights' },
  enable_activation_quantization: { title: 'Quantize activations', ort: '', group: 'activations' },
  relu_unbound_correction: { title: 'Bound ReLU', ort: '', group: 'activations' },
  input_scaling: { title: 'Scale inputs', ort: '', group: 'activations' },
  shift_negative_activation_correction: { title: 'Shift negative activations', ort: '', group: 'activations' },
  shift_negative_ratio: { title: 'Ratio that shifts', ort: '', group: 'activations' },
  shift_negative_threshold_recalculation: {
    title: 'Choose the range anew after a shift',
    ort: '',
    group: 'activations',
  },
  activation_channel_equalization: { title: 'Equalize channels', ort: '', group: 'activations' },
  z_threshold: { title: 'Drop outliers beyond z', ort: '', group: 'ranges' },
  min_threshold: { title: 'Smallest threshold', ort: '', group: 'ranges' },
  l_p_value: { title: 'Exponent of Lp', ort: '', group: 'ranges' },
};

const order = Object.keys(words);

export const groupTitles: Readonly<Record<Exclude<GroupId, 'main'>, string>> = {
  ranges: 'Ranges',
  weights: 'Weights',
  activations: 'Activations',
};

const choiceTexts: Readonly<Record<string, string>> = {
  NOCLIPPING: 'No clipping',
  MSE: 'MSE',
  MAE: 'MAE',
  KL: 'KL divergence',
  Lp: 'Lp',
  Entropy: 'Entropy (ONNX Runtime)',
  Percentile: 'Percentile (ONNX Runtime)',
  Distribution: 'Distribution (ONNX Runtime)',
  SYMMETRIC: 'symmetric',
  POWER_OF_TWO: 'power of two',
  UNIFORM: 'uniform',
};

export function choiceText(choice: string | number): string {
  return choiceTexts[String(choice)] ?? String(choice);
}

export interface FormRow extends Words {
  readonly field: FieldDescription;
}

/** The fields that act, in the form's order. */
export function formRows(): FormRow[] {
  const described = state.engine.value?.describeQuantizationConfig() ?? [];
  const place = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return described
    .filter((field) => field.acts && (field.choices === null || field.choices.length > 1 || field.nullable))
    .map((field) => ({ ...(words[field.name] ?? { title: field.name, ort: '', group: 'ranges' as const }), field }))
    .sort((a, b) => place(a.field.name) - place(b.field.name));
}

export function fieldValue(field: FieldDescription): FieldValue {
  const set = state.fields.value[field.name];
  return set === undefined ? field.default : set;
}

/** Sets a field; back at its default it counts as not set, so that the platform may choose. */
export function setField(field: FieldDescription, value: FieldValue): void {
  const next = { ...state.fields.value };
  if (value === field.default) delete next[field.name];
  else next[field.name] = value;
  state.fields.value = next;
  void updateCoverage();
}

/** A recipe is of one platform: with another one it no longer counts. */
export function setPlatform(name: string): void {
  batch(() => {
    state.platformName.value = name;
    state.recipe.value = null;
  });
  void updateCoverage();
}

export function backToDefaults(): void {
  batch(() => {
    state.fields.value = {};
    state.recipe.value = null;
    state.settingsProblem.value = null;
    state.chosenCalibration.value = null;
  });
  void updateCoverage();
}
