// SPDX-License-Identifier: Apache-2.0
//
// What is likely to be wrong, or could be better, in sentences with this run's own numbers, each with a change that can be
// applied and taken back. Every rule is a function of the facts; which of them hold decides what is shown, likeliest first.

import type { Comparison, EvaluationResult, LayerRow, PreprocessingTrial, QuantizationConfig, Report } from 'tersor';

import { count, counted, decibels, outputDecibels, percent, shortName, value } from '../numbers';
import type { FoundOrder } from './reorder';

/** A change of the settings; the page knows how to make it. */
export type Change =
  | { readonly kind: 'field'; readonly name: string; readonly value: string | number | boolean }
  | { readonly kind: 'float'; readonly name: string }
  | { readonly kind: 'bits'; readonly name: string; readonly bits: number }
  | { readonly kind: 'platform'; readonly name: string }
  | { readonly kind: 'calibration'; readonly count: number }
  | { readonly kind: 'label-shift'; readonly by: number }
  | { readonly kind: 'preprocessing' }
  | { readonly kind: 'label-order'; readonly order: FoundOrder }
  | { readonly kind: 'samples' }
  | { readonly kind: 'show-preprocessing' }
  | { readonly kind: 'show-mapping' }
  | { readonly kind: 'show-float' };

export interface Advice {
  readonly id: string;
  readonly sentence: string;
  readonly reason: string;
  /** What its button says. */
  readonly word: string;
  readonly change: Change;
}

/** All that the rules read. */
export interface Facts {
  readonly report: Report;
  readonly comparison: Comparison;
  readonly float: EvaluationResult;
  /** Every field as it is in force. */
  readonly config: QuantizationConfig;
  readonly trial: PreprocessingTrial | null;
  /** The preprocessing is another one than the trial's best. */
  readonly isOtherThanBest: boolean;
  readonly calibration: number;
  /** How many calibrate where nobody says. */
  readonly usualCalibration: number;
  /** The preprocessing is a guess that no labels confirmed. */
  readonly isGuess: boolean;
  /** Class folders that are fewer than the outputs, and taken for the first of them. */
  readonly byOrder: { readonly folders: number; readonly outputs: number } | null;
  /** Another order of the classes, or preprocessing, that explains the answers. */
  readonly order: FoundOrder | null;
  /** Labels are what class folders stand for, which the page can map. */
  readonly isOfFolders: boolean;
}

type Rule = (facts: Facts) => Advice | null;
/** What is known as soon as float accuracy is. */
type FloatFacts = Pick<Facts, 'float' | 'trial' | 'isOtherThanBest' | 'byOrder' | 'order' | 'isOfFolders'>;
type FloatRule = (facts: FloatFacts) => Advice | null;

/** Standard deviations beyond which a value is an outlier, and the threshold that drops it (MCT: 8 to 12). */
const outlierDeviations = 10;
/** Ranges that differ by more cannot share a scale of 8 bits. */
const unlikeRanges = 8;
const unevenChannels = 100;
const fewSamples = 32;
/** Sums beyond 16 bits in more than this share are worth a word. */
const saturatedShare = 1e-6;
const worthAWord = 0.02;
/** Compared answers that say that none is lost. */
const enoughSamples = 16;

interface Spread {
  readonly mean: number;
  readonly deviation: number;
  readonly low: number;
  readonly high: number;
}

/** Mean, deviation and extremes of what a layer's histogram holds. */
export function spreadOf({ histogram }: Pick<LayerRow, 'histogram'>): Spread | null {
  if (!histogram) return null;
  const { lower, bin_width: width, counts } = histogram;
  const at = (bin: number) => lower + (bin + 0.5) * width;
  const total = counts.reduce((sum, n) => sum + n, 0);
  const first = counts.findIndex((n) => n > 0);
  if (first < 0) return null;
  const last = counts.findLastIndex((n) => n > 0);
  const mean = counts.reduce((sum, n, bin) => sum + n * at(bin), 0) / total;
  const variance = counts.reduce((sum, n, bin) => sum + n * (at(bin) - mean) ** 2, 0) / total;
  return { mean, deviation: Math.sqrt(variance), low: lower + first * width, high: lower + (last + 1) * width };
}

/** What was taken: not always the one with the most right answers, as some have to stand out. */
function tookBest({ best, tried }: PreprocessingTrial) {
  return tried.find(({ name }) => name === best);
}

const reordered: FloatRule = ({ float, order, trial, isOtherThanBest, isOfFolders }) => {
  // of numbers in a file a shift is the simpler cause, and has a repair
  if (!isOfFolders && float.label_shift !== null) return null;
  // a preset that makes the labels right as they are is the simpler cause: swapped channels swap classes too
  if (!order || (trial && !trial.is_chance && isOtherThanBest)) return null;
  const change: Change = { kind: 'label-order', order };
  const [before, after] = [order.before, order.correct].map((right) => percent(right / order.count, 1));
  if (order.outputs.size === 0 && order.preset)
    return {
      id: 'other-preprocessing',
      sentence: `With ${order.preset.words} ${after} of ${counted(order.count, 'sample')} are right; as they reach the model now, ${before}.`,
      reason: 'The pictures do not reach the model as in its training. Quantization is not the problem.',
      word: `Use ${order.preset.words}`,
      change,
    };
  // where the pictures change too, what was right before is not of these answers
  const share = order.preset ? `with ${order.preset.words} ${after}` : `${before} → ${after}`;
  if (!isOfFolders)
    return {
      id: 'labels-reordered',
      sentence: `Your labels look like a reordering of the model’s outputs: ${share} of ${counted(order.count, 'sample')} are right.`,
      reason: `In the model’s order ${[...order.outputs]
        .filter(([label, output]) => label !== output)
        .map(([label, output]) => `label ${label} is output ${output}`)
        .join(', ')}. Check a few samples, and write the labels so.`,
      word: 'Choose other samples',
      change: { kind: 'samples' },
    };
  return {
    id: 'labels-reordered',
    sentence: `Your folders look like a reordering of the model’s outputs: ${share} of ${counted(order.count, 'sample')} are right.`,
    reason:
      'Folders are taken for the outputs in the order of their names, and this model has its classes in another. Check the pictures below: each should show what its folder is called.',
    word: 'Take this order',
    change,
  };
};

/** What was tried before the reader is asked. */
function triedText(trial: PreprocessingTrial | null): string {
  const presets = trial?.tried.map(({ name, right }) => `${name} ${right}`).join(', ');
  const tried = presets ? `the presets on ${trial?.samples ?? 0} samples (right: ${presets}), ` : '';
  return `Tried: ${tried}labels shifted by one, and the classes in every order.`;
}

const atChance: FloatRule = ({ float, trial, isOtherThanBest }) => {
  if (float.value === null || float.chance === null || !float.doubt || float.label_shift !== null) return null;
  const found = `Float accuracy is ${percent(float.value)} on ${counted(float.count, 'sample')}, chance is ${percent(float.chance, 1)}`;
  if (trial && !trial.is_chance && isOtherThanBest) {
    const best = tookBest(trial);
    return {
      id: 'wrong-preprocessing',
      sentence: `${found}; with the preset ${trial.best} ${best ? `${best.right} of ${trial.samples}` : 'more'} are right.`,
      reason: 'The pictures do not reach the model as in its training. Quantization is not the problem.',
      word: `Use ${trial.best}`,
      change: { kind: 'preprocessing' },
    };
  }
  const more = {
    guessing: '',
    unsure: '',
    weak: ', and a trained model has far more',
    overconfident: `, and the model is ${percent(float.sureness ?? 0, 0)} sure of its answers: a trained one is about as often right as it is sure`,
  };
  return {
    id: 'at-chance',
    sentence: `First get float right. ${found}${more[float.doubt]}.`,
    reason: `Preprocessing, labels or samples do not fit the model; quantization is not the problem. ${triedText(trial)}`,
    word: 'Choose other samples',
    change: { kind: 'samples' },
  };
};

const unmapped: FloatRule = ({ float, trial, byOrder }) => {
  if (!byOrder || trial?.is_chance === false) return null;
  if (float.value === null || float.chance === null || !float.interval || float.interval.lower > float.chance)
    return null;
  return {
    id: 'unmapped-classes',
    sentence: `Float accuracy is ${percent(float.value)} on ${counted(float.count, 'sample')}: the ${count(byOrder.folders)} class folders were taken for outputs 0 to ${byOrder.folders - 1} of ${count(byOrder.outputs)}, by their order.`,
    reason:
      'Say which output each folder stands for: by the number in its name, by hand, or with a file labels.txt among the folders that names all outputs in their order.',
    word: 'Say what the folders are',
    change: { kind: 'show-mapping' },
  };
};

const betterPreset: FloatRule = ({ float, trial, isOtherThanBest }) => {
  const best = trial && tookBest(trial);
  if (!trial || trial.is_chance || !best || !isOtherThanBest || float.value === null) return null;
  const expected = best.right / trial.samples;
  if (expected < float.value + 0.1) return null;
  return {
    id: 'wrong-preprocessing',
    sentence: `Float accuracy is ${percent(float.value)}; with the preset ${trial.best} ${best.right} of ${trial.samples} samples were right.`,
    reason: 'The pictures do not reach the model as in its training. Quantization is not the problem.',
    word: `Use ${trial.best}`,
    change: { kind: 'preprocessing' },
  };
};

const labelShift: FloatRule = ({ float }) => {
  const by = float.label_shift;
  if (by === null) return null;
  const isUp = by > 0;
  const word = isUp ? '+1' : '−1';
  return {
    id: 'labels-off-by-one',
    sentence: `The labels are off by one: with ${word} on every label significantly more than ${percent(float.value)} of ${counted(float.count, 'sample')} are right.`,
    reason: isUp ? 'Output 0 of this model is a background class.' : 'The labels count from 1, the outputs from 0.',
    word: `Shift labels by ${word}`,
    change: { kind: 'label-shift', by },
  };
};

const guessed: Rule = ({ isGuess, report, comparison }) => {
  const usability = report.verdict?.usability;
  if (!isGuess || usability === undefined || usability === 'usable') return null;
  return {
    id: 'guessed-preprocessing',
    sentence: `The output keeps ${outputDecibels(comparison)}, and how pictures become tensors was guessed from the model's input.`,
    reason:
      'Pictures that reach the model otherwise than in its training give ranges that its own pictures do not have. Compare the preview with what the model was trained on; pictures in class folders would tell.',
    word: 'Check the preprocessing',
    change: { kind: 'show-preprocessing' },
  };
};

const fewCalibrate: Rule = ({ calibration, usualCalibration: possible }) => {
  if (calibration >= fewSamples) return null;
  const sentence = `${counted(calibration, 'sample')} set${calibration === 1 ? 's' : ''} the ranges; ${fewSamples} to 128 are usual.`;
  const reason = 'Values that none of them shows fall outside of the ranges later.';
  return possible > calibration
    ? {
        id: 'few-samples',
        sentence,
        reason,
        word: `Calibrate with ${possible}`,
        change: { kind: 'calibration', count: possible },
      }
    : { id: 'few-samples', sentence, reason, word: 'Choose more samples', change: { kind: 'samples' } };
};

/** The operator computes in integers: no view of its input, and nothing that the file has in float. */
function isInteger({ name, op }: LayerRow, { coverage }: Report): boolean {
  const row = coverage.rows.find((one) => one.op === op);
  return (!row || row.support === 'integer') && coverage.stays_float.every((one) => one.name !== name);
}

const oneLayer: Rule = ({ comparison, report }) => {
  const worst = comparison.layers
    .filter((row) => isInteger(row, report))
    .sort((a, b) => b.error_share - a.error_share)[0];
  if (!worst || worst.error_share <= 0.5 || worst.range === null || comparison.output_sqnr_db === null) return null;
  return {
    id: 'one-layer',
    sentence: `${percent(worst.error_share, 0)} of the output error comes from ${shortName(worst.name)} (${worst.op}); the output keeps ${decibels(comparison.output_sqnr_db)}.`,
    reason: 'One sensitive layer: the others can stay integers.',
    word: `Keep ${shortName(worst.name)} in float`,
    change: { kind: 'float', name: worst.name },
  };
};

/** What saturates: values at its ends are its answers, and none of them an outlier. */
const bounded = new Set(['Softmax', 'LogSoftmax', 'Hardmax', 'Sigmoid', 'HardSigmoid', 'Tanh', 'Softsign']);

const outliers: Rule = ({ comparison, config }) => {
  const found = comparison.layers
    .filter((row) => row.range !== null && row.error_share > worthAWord && !bounded.has(row.op))
    .flatMap((row) => {
      const spread = spreadOf(row);
      if (!spread || spread.deviation === 0) return [];
      const far = Math.max(spread.high - spread.mean, spread.mean - spread.low) / spread.deviation;
      const kept = Math.max(Math.abs(row.range?.[0] ?? 0), Math.abs(row.range?.[1] ?? 0));
      const reach = Math.max(Math.abs(spread.low), Math.abs(spread.high));
      return far > outlierDeviations && kept > 0.5 * reach ? [{ row, far, reach }] : [];
    })
    .sort((a, b) => b.row.error_share - a.row.error_share)[0];
  if (!found) return null;
  const { row, far, reach } = found;
  const clips = config.activation_threshold_method !== 'NOCLIPPING';
  if (clips && config.z_threshold != null) return null;
  return {
    id: 'outliers',
    sentence: `Values of ${shortName(row.name)} reach ${value(reach)}, ${count(Math.round(far))} standard deviations from their mean, and what is left for the others keeps ${decibels(row.isolated_sqnr_db)}, ${percent(row.error_share, 0)} of the output error.`,
    reason: 'A few outliers stretch the steps of all other values.',
    word: clips ? `Drop outliers beyond ${outlierDeviations + 2} deviations` : 'Cut with MSE',
    change: clips
      ? { kind: 'field', name: 'z_threshold', value: outlierDeviations + 2 }
      : { kind: 'field', name: 'activation_threshold_method', value: 'MSE' },
  };
};

const unlikeParts: Rule = ({ comparison }) => {
  for (const output of comparison.outputs) {
    const sizes = output.parts.map((part) => part.largest).filter((size) => size > 0);
    const [most, least] = [Math.max(...sizes), Math.min(...sizes)];
    if (sizes.length < 2 || most < unlikeRanges * least) continue;
    const own = comparison.layers.find((row) => row.output === output.name);
    const join = own ?? comparison.layers.findLast((row) => row.op === 'Concat');
    if (!join || join.range === null) continue;
    const small = output.parts.find((part) => part.largest === least);
    return {
      id: 'unlike-ranges',
      sentence: `The small values of ${shortName(output.name)} keep ${decibels(small?.sqnr_db)}: those at ${small?.indices ?? ''} of axis ${small?.axis ?? 0} reach to ${value(least)}, the others to ${value(most)}.`,
      reason: `One scale of 256 steps cannot hold both: a step is as large as the smaller values. ${join.op} joins them.`,
      word: `Keep ${shortName(join.name)} in float`,
      change: { kind: 'float', name: join.name },
    };
  }
  return null;
};

const perTensor: Rule = ({ comparison, config }) => {
  if (config.weights_per_channel_threshold !== false) return null;
  const found = comparison.layers
    .flatMap((row) => {
      const sizes = (row.weight_max ?? []).filter((size) => size > 0);
      const ratio = Math.max(...sizes) / Math.min(...sizes);
      return ratio > unevenChannels ? [{ row, ratio }] : [];
    })
    .sort((a, b) => b.ratio - a.ratio)[0];
  if (!found) return null;
  return {
    id: 'weights-per-tensor',
    sentence: `The weights of ${shortName(found.row.name)} are ${count(Math.round(found.ratio))} times as large in one channel as in another, and share one scale; it keeps ${decibels(found.row.isolated_sqnr_db)}.`,
    reason: 'Small channels round to nothing, as in depthwise convolutions after a folded batch norm.',
    word: 'One scale per channel',
    change: { kind: 'field', name: 'weights_per_channel_threshold', value: true },
  };
};

const firstOrLast: Rule = ({ comparison, config, report }) => {
  const bits = config.weights_n_bits;
  if (typeof bits !== 'number' || bits >= 8 || report.platform.name.startsWith('weight-only')) return null;
  const weighted = comparison.layers.filter((row) => row.weight_max !== null);
  const worst = [...weighted].sort((a, b) => b.error_share - a.error_share).slice(0, 3);
  const [first, last] = [weighted[0], weighted.at(-1)];
  const found = worst.find((row) => row === first || row === last);
  if (!found || weighted.length < 4) return null;
  return {
    id: 'first-or-last',
    sentence: `${shortName(found.name)}, the ${found === first ? 'first' : 'last'} layer with weights, makes ${percent(found.error_share, 0)} of the output error with ${bits} bits.`,
    reason: 'The first and the last layer are usually kept at 8 bits where others have fewer.',
    word: `Give ${shortName(found.name)} 8 bits`,
    change: { kind: 'bits', name: found.name, bits: 8 },
  };
};

/** It may run on x64 processors, with instructions for int8 or without. */
export function isForX64(platform: string): boolean {
  return /^(ort-cpu|any$)/.test(platform);
}

const withoutVnni: Rule = ({ comparison, report }) => {
  if (!isForX64(report.platform.name) || report.platform.name === 'ort-cpu-avx2') return null;
  const worst = comparison.saturation
    .filter((row) => row.sums > 0 && row.saturated / row.sums > saturatedShare)
    .sort((a, b) => b.saturated / b.sums - a.saturated / a.sums);
  const most = worst[0];
  if (!most) return null;
  const there = comparison.without_vnni;
  const kept = there?.agreement
    ? `, and ${count(there.agreement.same)} of ${counted(there.agreement.count, 'answer')} are float’s`
    : '';
  const figures = there
    ? `there the output has ${decibels(there.output_sqnr_db)}${kept}.`
    : 'the figures above hold for those that have them.';
  return {
    id: 'without-vnni',
    sentence: `On x64 processors without instructions for int8, ${percent(most.saturated / most.sums, 1)} of the sums of ${shortName(most.name)} are cut off (${counted(worst.length, 'layer')} in all): ${figures}`,
    reason:
      'Without them (VNNI: Intel since 2019, AMD since 2022) pairs of products are added in 16 bits. With 7-bit weights nothing is cut off.',
    word: 'Make it for all x64 CPUs',
    change: { kind: 'platform', name: 'ort-cpu-avx2' },
  };
};

const notFaster: Rule = ({ report, config }) => {
  const { time } = report;
  if (!time || time.times_as_fast >= 1.05) return null;
  const speed = config.prefer !== 'SPEED';
  return {
    id: 'not-faster',
    sentence: `Int8 is expected to take ${value(time.quantized_ms)} ms and float ${value(time.float_ms)} ms in ${time.runtime}: ${value(time.times_as_fast)} times as fast.`,
    reason: speed
      ? 'Operators in float between integers cost conversions; preferring speed leaves them out where they do not pay.'
      : 'The model is smaller all the same; with weights alone in 8 bits nothing is converted on the way.',
    word: speed ? 'Prefer speed' : 'Quantize weights only',
    change: speed ? { kind: 'field', name: 'prefer', value: 'SPEED' } : { kind: 'platform', name: 'weight-only-int8' },
  };
};

const staysFloat: Rule = ({ report }) => {
  const stay = report.coverage.stays_float;
  if (stay.length === 0 || report.platform.name.startsWith('weight-only')) return null;
  const reasons = new Map<string, number>();
  for (const { reason } of stay) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const [reason = '', n = 0] = [...reasons].sort((a, b) => b[1] - a[1])[0] ?? [];
  const { core_nodes: core, integer_core_nodes: integer } = report.coverage;
  const matters =
    integer === core
      ? stay.length === 1
        ? 'and multiplies no matrices'
        : 'none of them multiplies matrices'
      : `${count(core - integer)} of ${count(core)} core nodes among them`;
  return {
    id: 'stays-float',
    sentence: `${counted(stay.length, 'operator stays', 'operators stay')} in float${stay.length === 1 && integer === core ? ' ' : ', '}${matters}.`,
    reason: `${count(n)} of them: ${reason}`,
    word: 'Show them',
    change: { kind: 'show-float' },
  };
};

/** Answers are not all the float model's, or, where none are counted, the output is not good enough to be used without a thought. */
function isWorse({ report, comparison }: Facts): boolean {
  const { agreement } = comparison;
  if (agreement && agreement.count >= enoughSamples) return agreement.same < agreement.count;
  return report.verdict?.usability !== 'usable';
}

/** What explains an error, where there is one to explain. */
function whereWorse(rule: Rule): Rule {
  return (facts) => (isWorse(facts) ? rule(facts) : null);
}

/** What is wrong with the samples, before anything is quantized. */
const floatRules: readonly FloatRule[] = [reordered, unmapped, atChance, betterPreset, labelShift];

/** Likeliest cause first; what is wrong with the samples comes before what quantization does. */
const rules: readonly Rule[] = [
  ...floatRules,
  guessed,
  ...[unlikeParts, outliers, perTensor, oneLayer, firstOrLast].map(whereWorse),
  fewCalibrate,
  withoutVnni,
  notFaster,
  staysFloat,
];

/** Why the float model's own accuracy cannot be what it should be; null where nothing speaks for that. */
export function floatFault(facts: FloatFacts): Advice | null {
  return floatRules.map((rule) => rule(facts)).find((one) => one !== null) ?? null;
}

export function advise(facts: Facts): Advice[] {
  const found = rules.flatMap((rule) => rule(facts) ?? []);
  return found.filter((one, k) => found.findIndex(({ id }) => id === one.id) === k);
}
