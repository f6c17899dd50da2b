// SPDX-License-Identifier: Apache-2.0
//
// The settings form's order and words. Which fields there are, their types, choices, defaults and meanings come from the
// engine's field list; a field that this file does not know still gets its row, under its own name.

import type { FieldDescription, FieldValue } from 'tersor';

import { changed } from './coverage';
import { step, stepAndSay } from './history';
import { platformTitle } from './platform';
import { changedFields } from './recipe';
import * as state from './state';

export type GroupId = 'main' | 'ranges' | 'weights' | 'activations';

interface Words {
  readonly title: string;
  readonly group: GroupId;
  /** What it does, for whoever sets it for the first time; the engine's own words serve where there is none. */
  readonly help?: string;
}

const words: Readonly<Record<string, Words>> = {
  prefer: {
    title: 'Prefer',
    group: 'main',
    help: 'What to optimize when speed, size and accuracy conflict: several files are compared on samples held aside. “Integers” runs every operator in integers that can.',
  },
  activation_threshold_method: {
    title: 'Where to cut activations',
    group: 'main',
    help: 'How the range of a tensor is chosen from what calibration saw: all of it, or so much that the error is least. Lp weighs rare large errors most and holds best on new samples.',
  },
  weights_n_bits: {
    title: 'Bits of weights',
    group: 'main',
    help: 'Bits that a weight is stored in; fewer make the file smaller and the error larger.',
  },
  activation_n_bits: {
    title: 'Bits of activations',
    group: 'main',
    help: 'Bits of the values between operators.',
  },
  weights_per_channel_threshold: {
    title: 'One scale per channel',
    group: 'main',
    help: 'Every output channel gets a range of its own, or all share one. Own ranges nearly always keep more accuracy.',
  },
  weights_block_size: {
    title: 'Inputs that share a scale',
    group: 'weights',
    help: 'How many inputs of an output channel share one scale, where weights alone are quantized: 16, 32, 64, 128 or 256; 0 is one scale for all.',
  },
  weights_threshold_method: {
    title: 'Where to cut weights',
    group: 'weights',
    help: 'How the range of a weight tensor is chosen; with a range per channel all of it is usually best.',
  },
  weights_bias_correction: {
    title: 'Correct biases',
    group: 'weights',
    help: 'Moves each bias by the mean error that rounded weights make.',
  },
  weights_bias_correction_method: {
    title: 'How biases are corrected',
    group: 'weights',
    help: 'Whether that mean error is measured on the samples, layer by layer, or computed from the statistics.',
  },
  effort: {
    title: 'Effort in rounding weights',
    group: 'weights',
    help: 'Effort of rounding the weights: 0 rounds to the nearest integers, 1 lets errors compensate each other on the samples, 2 tries more.',
  },
  target_resource_utilization: {
    title: 'Bits within a budget',
    group: 'main',
    help: 'What the model may take at most; the operators that lose least get fewer bits until it fits.',
  },
  holdout: {
    title: 'Try corrections on samples held aside',
    group: 'main',
    help: 'A part of the samples tells which corrections help on pictures that they were not made from; those that do not are taken back.',
  },
  weights_quantization_method: {
    title: 'Grid of weights',
    group: 'weights',
    help: 'How weights are laid on a grid: even steps around zero, steps that are powers of two, even steps anywhere, or a table of values.',
  },
  enable_weights_quantization: {
    title: 'Quantize weights',
    group: 'weights',
    help: 'Off leaves all weights in float.',
  },
  activation_quantization_method: {
    title: 'Grid of activations',
    group: 'activations',
    help: 'How values between operators are laid on a grid.',
  },
  enable_activation_quantization: {
    title: 'Quantize activations',
    group: 'activations',
    help: 'Off leaves all values between operators in float.',
  },
  weights_second_moment_correction: {
    title: 'Correct means and deviations',
    group: 'weights',
    help: 'Rescales each channel so that its values spread as they did before rounding.',
  },
  linear_collapsing: {
    title: 'Join a 1x1 convolution to its neighbour',
    group: 'weights',
    help: 'Joins a convolution and the 1x1 convolution after it into one where that saves weights.',
  },
  residual_collapsing: {
    title: 'Join an addition of the input',
    group: 'weights',
    help: 'Writes the addition of an operator’s own input into its weights.',
  },
  keep_float_automatically: {
    title: 'Keep in float what 8 bits cannot hold',
    group: 'activations',
    help: 'Leaves logarithms, roots and reciprocals in float where 8 bits cannot feed them, and joins of parts too unlike for one scale.',
  },
  ignored_scope: {
    title: 'Keep in float by name, pattern or part',
    group: 'activations',
    help: 'Names, patterns, types and parts of the graph that stay in float, as JSON like NNCF’s; empty names none.',
  },
  relu_unbound_correction: {
    title: 'Bound ReLU',
    group: 'activations',
    help: 'Scales values after a bounded ReLU so that its bound is the whole range.',
  },
  input_scaling: {
    title: 'Scale inputs',
    group: 'activations',
    help: 'Scales the input so that it uses the whole range of its grid.',
  },
  activation_channel_equalization: {
    title: 'Equalize channels',
    group: 'activations',
    help: 'Makes the ranges of channels alike before they share one scale; depthwise networks gain 4 to 6 dB.',
  },
  split_scales: {
    title: 'Scale channels around Swish',
    group: 'activations',
    help: 'Gives each channel around a Swish its own scale; acts with “Prefer: accuracy”, and where it gains and costs no time.',
  },
  activation_smoothing: {
    title: 'Smooth inputs of products',
    group: 'activations',
    help: 'Moves and scales the channels that a MatMul reads, and lets the weights undo it; transformers gain.',
  },
  shift_negative_activation_correction: {
    title: 'Shift negative activations',
    group: 'activations',
    help: 'Moves values with a small negative side up, so that none needs a sign.',
  },
  shift_negative_ratio: {
    title: 'Ratio that shifts',
    group: 'activations',
    help: 'The largest negative side, as a part of the range, that is shifted.',
  },
  shift_negative_threshold_recalculation: {
    title: 'Choose the range anew after a shift',
    group: 'activations',
    help: 'Chooses the range anew after such a shift.',
  },
  shift_negative_params_search: {
    title: 'Search shift and threshold together',
    group: 'activations',
    help: 'Looks for shift and range together.',
  },
  activation_bias_correction: {
    title: 'Correct for the error of activations',
    group: 'activations',
    help: 'Moves each bias by the mean error of its rounded input.',
  },
  activation_bias_correction_threshold: {
    title: 'Smallest correction, percent',
    group: 'activations',
    help: 'Mean errors below this part of the input’s mean are left alone.',
  },
  softmax_shift: {
    title: 'Shift inputs of Softmax',
    group: 'activations',
    help: 'Centres what goes into a Softmax on zero, through the bias before it.',
  },
  concat_threshold_update: {
    title: 'One range for what is concatenated',
    group: 'ranges',
    help: 'Gives all that is concatenated the range of the whole.',
  },
  keep_metadata: {
    title: "Keep the exporter's notes",
    group: 'weights',
    help: 'Keeps notes of the exporter in the file, such as doc strings and stack traces.',
  },
  allow_larger_file: {
    title: 'Allow a file larger than the float one',
    group: 'weights',
    help: 'Writes the file even where it came out larger than the float one.',
  },
  io_types: {
    title: 'Inputs and outputs',
    group: 'activations',
    help: 'Types of the file’s inputs and outputs that are float in the model: 8-bit integers save cameras and NPUs a conversion.',
  },
  inference_mode: {
    title: 'Set to inference',
    group: 'activations',
    help: 'Takes BatchNormalization and Dropout that were exported in training mode as in inference.',
  },
  output_roles: {
    title: 'What outputs hold',
    group: 'activations',
    help: 'Boxes, scores, a mask, landmarks and so on, by output, as JSON; empty leaves it to the graph. The report judges each accordingly.',
  },
  custom_tpc_opset_to_layer: {
    title: 'Operators of each set of the platform',
    group: 'activations',
    help: 'Which operator types an operator set of the platform stands for, as JSON; empty leaves those it has.',
  },
  accuracy_level: {
    title: 'How MatMulNBits computes',
    group: 'weights',
    help: 'Level 1 sums floats, level 4 rounds the input to 8 bits; empty goes by what is preferred.',
  },
  mixed_precision_config: {
    title: 'How bits are chosen',
    group: 'weights',
    help: 'How operators are compared when a budget is shared out among them, as JSON; empty is the usual way.',
  },
  gradient_ptq_config: {
    title: 'Training',
    group: 'weights',
    help: 'Trains weights, biases and ranges on the samples after calibration, as JSON; empty does not.',
  },
  z_threshold: {
    title: 'Drop outliers beyond z',
    group: 'ranges',
    help: 'Leaves out values more than so many standard deviations from the mean; 8 to 12 are usual, empty leaves out none.',
  },
  min_threshold: {
    title: 'Smallest threshold',
    group: 'ranges',
    help: 'No range is chosen smaller than this.',
  },
  percentile: {
    title: 'Percentage that Percentile keeps',
    group: 'ranges',
    help: 'How many of a hundred values Percentile leaves unclipped.',
  },
  l_p_value: {
    title: 'Exponent of Lp',
    group: 'ranges',
    help: 'How strongly Lp weighs large errors: 2 as their square, 3 as their cube.',
  },
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
  LUT_POT_QUANTIZER: 'table of values, power of two',
  LUT_SYM_QUANTIZER: 'table of values',
  SPEED: 'speed',
  BALANCED: 'balanced',
  ACCURACY: 'accuracy',
  SIZE: 'size',
  INTEGERS: 'integers',
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
  if (value === null) return field.type === 'object' ? 'none' : field.type === 'number' ? 'off' : 'platform default';
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
  const word = value === null ? 'platform default' : value ? 'kept in float' : 'in integers';
  step(`${name}: ${word}`, () => (state.keepFloat.value = value === null ? next : { ...next, [name]: value }));
  changed();
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
  startFrom('MCT’s defaults', documentFields());
}

/** True while every field is as the requirement document has it. */
export function isDocument(): boolean {
  const theirs = documentFields();
  const ours = state.fields.value;
  const names = Object.keys(theirs);
  return names.length === Object.keys(ours).length && names.every((name) => theirs[name] === ours[name]);
}
