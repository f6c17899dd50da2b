// SPDX-License-Identifier: Apache-2.0
//
// The settings form's order and words. Which fields there are, their types, choices, defaults and meanings come from the
// engine's field list; a field that this file does not know still gets its row, under its own name.

import type { FieldDescription, FieldValue } from 'tersor';

import { step, stepAndSay } from './history';
import { updateCoverage } from './load';
import { platformTitle } from './platform';
import { quantizeAgain } from './quantize';
import { changedFields } from './recipe';
import * as state from './state';

export type GroupId = 'main' | 'ranges' | 'weights' | 'activations';

interface Words {
  readonly title: string;
  readonly group: GroupId;
}

const words: Readonly<Record<string, Words>> = {
  prefer: { title: 'Prefer', group: 'main' },
  activation_threshold_method: { title: 'Where to cut activations', group: 'main' },
  weights_n_bits: { title: 'Bits of weights', group: 'main' },
  activation_n_bits: { title: 'Bits of activations', group: 'main' },
  weights_per_channel_threshold: { title: 'One scale per channel', group: 'main' },
  weights_block_size: { title: 'Inputs that share a scale', group: 'weights' },
  weights_threshold_method: { title: 'Where to cut weights', group: 'weights' },
  weights_bias_correction: { title: 'Correct biases', group: 'weights' },
  weights_bias_correction_method: { title: 'How biases are corrected', group: 'weights' },
  effort: { title: 'Effort in rounding weights', group: 'weights' },
  target_resource_utilization: { title: 'Bits within a budget', group: 'main' },
  holdout: { title: 'Try corrections on samples held aside', group: 'main' },
  weights_quantization_method: { title: 'Grid of weights', group: 'weights' },
  enable_weights_quantization: { title: 'Quantize weights', group: 'weights' },
  activation_quantization_method: { title: 'Grid of activations', group: 'activations' },
  enable_activation_quantization: { title: 'Quantize activations', group: 'activations' },
  weights_second_moment_correction: { title: 'Correct means and deviations', group: 'weights' },
  linear_collapsing: { title: 'Join a 1x1 convolution to its neighbour', group: 'weights' },
  residual_collapsing: { title: 'Join an addition of the input', group: 'weights' },
  keep_float_automatically: { title: 'Keep in float what 8 bits cannot feed', group: 'activations' },
  relu_unbound_correction: { title: 'Bound ReLU', group: 'activations' },
  input_scaling: { title: 'Scale inputs', group: 'activations' },
  activation_channel_equalization: { title: 'Equalize channels', group: 'activations' },
  split_scales: { title: 'Scale channels around Swish', group: 'activations' },
  shift_negative_activation_correction: { title: 'Shift negative activations', group: 'activations' },
  shift_negative_ratio: { title: 'Ratio that shifts', group: 'activations' },
  shift_negative_threshold_recalculation: { title: 'Choose the range anew after a shift', group: 'activations' },
  shift_negative_params_search: { title: 'Search shift and threshold together', group: 'activations' },
  activation_bias_correction: { title: 'Correct for the error of activations', group: 'activations' },
  activation_bias_correction_threshold: { title: 'Smallest correction, percent', group: 'activations' },
  softmax_shift: { title: 'Shift inputs of Softmax', group: 'activations' },
  concat_threshold_update: { title: 'One range for what is concatenated', group: 'ranges' },
  keep_metadata: { title: "Keep the exporter's notes", group: 'weights' },
  allow_larger_file: { title: 'Allow a file larger than the float one', group: 'weights' },
  custom_tpc_opset_to_layer: { title: 'What operator sets stand for', group: 'activations' },
  mixed_precision_config: { title: 'How bits are chosen', group: 'weights' },
  gradient_ptq_config: { title: 'Training', group: 'weights' },
  z_threshold: { title: 'Drop outliers beyond z', group: 'ranges' },
  min_threshold: { title: 'Smallest threshold', group: 'ranges' },
  l_p_value: { title: 'Exponent of Lp', group: 'ranges' },
};

const order = Object.keys(words);

export const groupTitles: Readonly<Record<Exclude<GroupId, 'main'>, string>> = {
  ranges: 'Ranges',
  weights: 'Weights',
  activations: 'Activations',
};

/** What people call a field. */
export function titleOf(name: string): string {
  return words[name]?.title ?? name;
}

const choiceTexts: Readonly<Record<string, string>> = {
  NOCLIPPING: 'No clipping',
  MSE: 'MSE',
  MAE: 'MAE',
  KL: 'KL divergence',
  MEASURED: 'measured on the samples',
  ANALYTIC: 'from the statistics',
  Lp: 'Lp',
  Entropy: 'Entropy (ONNX Runtime)',
  Percentile: 'Percentile (ONNX Runtime)',
  Distribution: 'Distribution (ONNX Runtime)',
  MovingAverage: 'Moving average (ONNX Runtime)',
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

/** Every field, in the form's order. */
export function formRows(): FormRow[] {
  const described = state.engine.value?.describeQuantizationConfig() ?? [];
  const place = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return described
    .map((field) => ({ ...(words[field.name] ?? { title: field.name, group: 'ranges' as const }), field }))
    .sort((a, b) => place(a.field.name) - place(b.field.name));
}

/** What the field is called here and in the tools that people come from. */
export function namesOf(field: FieldDescription): string {
  const mct = field.mct === '' ? '' : field.mct === field.name ? 'the same in MCT' : `MCT ${field.mct}`;
  return [field.name, mct, field.ort === '' ? '' : `ORT ${field.ort}`].filter(Boolean).join(' · ');
}

export function fieldValue(field: FieldDescription): FieldValue {
  const set = state.fields.value[field.name];
  return set === undefined ? field.default : set;
}

/** A field's value in words, for a person. */
export function valueText(field: FieldDescription, value: FieldValue): string {
  if (value === null)
    return field.type === 'object' ? 'none' : field.type === 'number' ? 'off' : 'as the platform says';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value !== 'object') return choiceText(value);
  return Object.entries(value)
    .filter(([, member]) => member != null)
    .map(([name, member]) => `${name} ${typeof member === 'object' ? JSON.stringify(member) : String(member)}`)
    .join(', ');
}

/** Sets a field; back at its default it counts as not set, so that the platform may choose. */
export function setField(field: FieldDescription, value: FieldValue): void {
  const next = { ...state.fields.value };
  if (value === field.default) delete next[field.name];
  else next[field.name] = value;
  step(`${titleOf(field.name)}: ${valueText(field, value)}`, () => (state.fields.value = next));
  changed();
}

/** Keeps an operator in float, or wants it in integers; null leaves it to the platform. */
export function setKeepFloat(name: string, value: boolean | null): void {
  const { [name]: _before, ...next } = state.keepFloat.value;
  const word = value === null ? 'as the platform says' : value ? 'kept in float' : 'in integers';
  step(`${name}: ${word}`, () => (state.keepFloat.value = value === null ? next : { ...next, [name]: value }));
  changed();
}

/** After a change of settings: what becomes an integer is asked again, and a result is made anew from what was kept. */
export function changed(): void {
  void updateCoverage();
  quantizeAgain();
}

/** A recipe is of one platform: with another one it no longer counts. */
export function setPlatform(name: string): void {
  step(`Where it will run: ${platformTitle(name)}`, () => {
    state.platformName.value = name;
    state.recipe.value = null;
  });
  changed();
}

function startFrom(label: string, fields: typeof state.fields.value): void {
  stepAndSay(label, () => {
    state.fields.value = fields;
    state.keepFloat.value = {};
    state.listedOverrides.value = [];
    state.frameworkInfo.value = undefined;
    state.recipe.value = null;
    state.settingsProblem.value = null;
    state.chosenCalibration.value = null;
  });
  changed();
}

export function backToDefaults(): void {
  startFrom('Back to Tersor’s defaults', {});
}

/** The fields in which the requirement document's own defaults differ from ours. */
function documentFields(): typeof state.fields.value {
  const engine = state.engine.value;
  return engine ? changedFields(engine.quantizationConfig({}, 'requirements')) : {};
}

/** Every field as the requirement document has it. */
export function toDocumentDefaults(): void {
  startFrom('Requirement document’s defaults', documentFields());
}

/** True while every field is as the requirement document has it. */
export function isDocument(): boolean {
  const theirs = documentFields();
  const ours = state.fields.value;
  const names = Object.keys(theirs);
  return names.length === Object.keys(ours).length && names.every((name) => theirs[name] === ours[name]);
}
