// SPDX-License-Identifier: Apache-2.0
//
// Whether float accuracy is low because the class folders stand in another order than the model's outputs, or because pictures become
// tensors otherwise than in the model's training: a wrong order of classes hides which preset and order of channels is right.

import type { EvaluationResult, LabelOrder, Preprocessing, PreprocessingPreset } from 'tersor';

import type { Inputs } from './inputs';
import * as state from './state';

/** A sample whose answer is that of its folder in the order that was found. */
export interface OrderExample {
  /** In the data set. */
  readonly sample: number;
  readonly folder: string;
  readonly output: number;
}

export interface FoundOrder {
  /** The output of each label that is there; empty where they are right as they are. */
  readonly outputs: ReadonlyMap<number, number>;
  /** Right answers with these labels. */
  readonly correct: number;
  /** Right answers with the labels as they are. */
  readonly before: number;
  readonly count: number;
  /** The preprocessing with which it was found, where that is not the one in force; its words for a person. */
  readonly preset: { readonly words: string; readonly preprocessing: Preprocessing } | null;
  readonly examples: readonly OrderExample[];
}

const presets: readonly PreprocessingPreset[] = ['imagenet', 'unit', 'signed', 'raw'];
/** Samples that other presets are tried on. */
const triedSamples = 128;
/** By so much surer than right on the evaluated samples, a model is looked at on more: classes that are exchanged may not show on few. */
const surer = 0.1;
const shownExamples = 5;

/** The output that is taken as right for each sample of the data set; null where only a file of labels says it. */
function labelsInForce(): readonly number[] | null {
  const labels = state.labels.value;
  if (labels === 'folders') return state.samplesInfo.value?.labels ?? null;
  const offset = state.preprocessing.value?.label_offset ?? 0;
  return Array.isArray(labels) ? (labels as number[]).map((label) => label + offset) : null;
}

/** One sample of each folder that changes its output, as far as there are. */
function examplesOf(
  outputs: FoundOrder['outputs'],
  result: EvaluationResult,
  labels: readonly number[] | null,
): OrderExample[] {
  const byLabel = new Map<number, OrderExample>();
  result.samples?.forEach((sample, k) => {
    const label = labels?.[sample] ?? -1;
    const output = outputs.get(label);
    if (output === undefined || output === label || byLabel.has(label) || result.answers?.[k] !== output) return;
    byLabel.set(label, { sample, folder: state.folderOfLabel(label) ?? String(label), output });
  });
  return [...byLabel.values()].slice(0, shownExamples);
}

interface Candidate {
  readonly result: EvaluationResult;
  readonly preset: FoundOrder['preset'];
}

/** Other ways for a picture to become a tensor: the presets, and the one in force with its channels exchanged. */
function otherWays(): NonNullable<FoundOrder['preset']>[] {
  const now = state.preprocessing.value;
  if (!now) return [];
  const of = (list: readonly number[]) => now.mean.map((_, k) => list[k] ?? list[0] ?? 0);
  const figures = ({ scale, mean, std }: Preprocessing) => JSON.stringify([scale, mean, std]);
  const ways = presets.flatMap((name) => {
    const values = state.engine.value?.preprocessingPreset(name);
    if (!values) return [];
    const preprocessing: Preprocessing = { ...now, scale: values.scale, mean: of(values.mean), std: of(values.std) };
    return figures(preprocessing) === figures(now) ? [] : [{ words: `the preset ${name}`, preprocessing }];
  });
  if (now.mean.length === 3) {
    const channels = now.channels === 'RGB' ? 'BGR' : 'RGB';
    ways.push({ words: `channels in the order ${channels}`, preprocessing: { ...now, channels } });
  }
  return ways;
}

async function tryWay(
  { model, set, labels, preprocessing }: Inputs,
  preset: FoundOrder['preset'],
  signal: AbortSignal,
): Promise<Candidate> {
  const result = await model.handle.evaluate(set.files, labels, {
    signal,
    ...(preset ? { preprocessing: preset.preprocessing } : preprocessing),
    selection: { part: 'calibration', count: triedSamples },
  });
  return { result, preset };
}

/** The way among others with which significantly more answers are right, with the classes in the order that stands. */
function betterWay(float: EvaluationResult, candidates: readonly Candidate[]): FoundOrder | null {
  const [best] = candidates
    .filter(({ preset }) => preset !== null)
    .sort((a, b) => (b.result.value ?? 0) - (a.result.value ?? 0));
  if (!best || best.result.doubt !== null) return null;
  if ((best.result.interval?.lower ?? 0) <= (float.interval?.upper ?? 1)) return null;
  const { count, correct } = best.result;
  const before = Math.round((float.value ?? 0) * count);
  return { outputs: new Map(), correct: correct ?? 0, before, count, preset: best.preset, examples: [] };
}

/** The order of the classes, or the preprocessing, that explains the answers where one does significantly better than what stands. */
export async function findOrder(
  inputs: Inputs,
  float: EvaluationResult,
  signal: AbortSignal,
): Promise<FoundOrder | null> {
  if (inputs.labels === null || float.metric !== 'top1') return null;
  const candidates: Candidate[] = [{ result: float, preset: null }];
  const isSurer = float.value !== null && (float.sureness ?? 0) - float.value > surer;
  if (!float.label_order && isSurer && state.sampleCount.value > float.count)
    candidates.push(await tryWay(inputs, null, signal));
  const isPicture = state.preview.value?.picture != null;
  if (isPicture && (float.label_order || float.doubt))
    for (const way of otherWays()) candidates.push(await tryWay(inputs, way, signal));
  // the preset in force stays unless another one is significantly better; of several one may seem to fit by chance: it has to be right
  // for most samples (95 %)
  let best: (Candidate & { readonly order: LabelOrder }) | null = null;
  for (const { result, preset } of candidates) {
    const order = result.label_order;
    const bar = best ? best.order.held_correct / best.result.count : 0;
    if (order && (!preset || order.interval.lower > Math.max(0.5, bar))) best = { result, preset, order };
  }
  if (!best) return betterWay(float, candidates);
  const { order, result, preset } = best;
  const labels = labelsInForce();
  const outputs = new Map(order.labels.map((label, k) => [label, order.outputs[k] ?? label]));
  const [before, count] = [result.correct ?? 0, result.count];
  return { outputs, correct: order.correct, before, count, preset, examples: examplesOf(outputs, result, labels) };
}
