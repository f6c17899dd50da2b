// SPDX-License-Identifier: Apache-2.0
//
// What a change of settings does to the outputs, computed before anybody is told to make it: the file is made with it from the
// statistics that are there, and compared with float on a few of the evaluated samples, as the file in force is.

import { signal } from '@preact/signals';
import type { FieldValue, OutputComparison, Override, QuantizedResult, Statistics } from 'tersor';

import { gather, type Inputs } from './inputs';
import { isAbort } from './problem';
import * as state from './state';
import { watchesOthers } from './work';

/** Samples that both files are compared on. */
const effectSamples = 16;
const mostKept = 60;

/** A change as the settings have it. */
export interface Changed {
  readonly fields?: Readonly<Record<string, FieldValue>>;
  readonly overrides?: readonly Override[];
  readonly platform?: string;
}

/** How good the outputs are. */
export interface Quality {
  readonly sqnr: number | null;
  /** Answers that are float's, where outputs are answers. */
  readonly same: number | null;
  readonly count: number;
  /** As fast as float so many times, as far as that is known. */
  readonly times: number | null;
  /** On x64 processors without VNNI, where that differs. */
  readonly elsewhere?: { readonly sqnr: number | null; readonly same: number | null } | undefined;
  /** Of the part of an output that is worst, where outputs have parts. */
  readonly part?: { readonly sqnr: number | null } | undefined;
}

export interface Effect {
  readonly before: Quality;
  readonly after: Quality;
}

/** By settings and change; `waiting`: it is being computed; null: it cannot be, from what is there. */
const known = signal<ReadonlyMap<string, Effect | 'waiting' | null>>(new Map());
const qualities = new WeakMap<QuantizedResult, Promise<Quality>>();
let queue: Promise<unknown> = Promise.resolve();

function keyOf(change: Changed): string {
  return JSON.stringify([state.result.value?.key, state.result.value?.dataKey, change]);
}

function remember(key: string, effect: Effect | 'waiting' | null): void {
  known.value = new Map([...[...known.peek()].slice(-mostKept), [key, effect]]);
}

/** Undefined: nobody asked. */
export function effectOf(change: Changed): Effect | 'waiting' | null | undefined {
  return known.value.get(keyOf(change));
}

async function qualityOf(made: QuantizedResult, inputs: Inputs): Promise<Quality> {
  const { output_sqnr_db, agreement, samples, without_vnni, outputs } = await made.compare(inputs.set.files, {
    ...inputs.preprocessing,
    selection: inputs.evaluation,
    limit: effectSamples,
    report: false,
  });
  return {
    sqnr: output_sqnr_db,
    same: agreement?.same ?? null,
    count: agreement?.count ?? samples,
    times: timesOf(made),
    elsewhere: without_vnni
      ? { sqnr: without_vnni.output_sqnr_db, same: without_vnni.agreement?.same ?? null }
      : undefined,
    part: worstPart(outputs),
  };
}

function worstPart(outputs: readonly OutputComparison[]): Quality['part'] {
  const parts = outputs.flatMap((output) => output.parts);
  const decibels = parts.flatMap(({ sqnr_db }) => sqnr_db ?? []);
  return parts.length === 0 ? undefined : { sqnr: decibels.length === 0 ? null : Math.min(...decibels) };
}

function timesOf({ report }: QuantizedResult): number | null {
  return report.time?.times_as_fast ?? null;
}

function qualityNow(made: QuantizedResult, inputs: Inputs): Promise<Quality> {
  const found = qualities.get(made) ?? qualityOf(made, inputs);
  qualities.set(made, found);
  return found;
}

async function compute(change: Changed): Promise<Effect | null> {
  const [inputs, done] = [gather(), state.result.value];
  const kept = state.measured.value;
  const statistics = kept.statistics[0]?.statistics;
  if (!inputs || !done || done.pending || !statistics || kept.dataKey !== inputs.dataKey) return null;
  const quantized = (from: Statistics | undefined) =>
    inputs.model.handle.quantize({
      ...inputs.preprocessing,
      ...inputs.settings,
      config: { ...inputs.settings.config, ...change.fields },
      overrides: [...inputs.settings.overrides, ...(change.overrides ?? [])],
      ...(change.platform === undefined ? {} : { platform: change.platform }),
      statistics: from,
      samples: inputs.set.files,
      selection: inputs.calibration,
    });
  const made = await quantized(statistics).catch((error: unknown) => {
    if (!watchesOthers(error)) throw error;
    return quantized(undefined);
  });
  try {
    return { before: await qualityNow(done.quantized, inputs), after: await qualityOf(made, inputs) };
  } finally {
    made.close();
  }
}

/** Computes the effect of a change on the result as it is, one after another; asks once. */
export async function askEffect(change: Changed): Promise<void> {
  const key = keyOf(change);
  if (known.peek().has(key)) return;
  remember(key, 'waiting');
  const mine = queue.then(async () => {
    // settings that changed meanwhile have effects of their own
    if (keyOf(change) !== key || state.run.value) return undefined;
    return compute(change);
  });
  queue = mine.catch(() => undefined);
  try {
    const effect = await mine;
    if (effect === undefined) known.value = new Map([...known.peek()].filter(([one]) => one !== key));
    else remember(key, effect);
  } catch (error) {
    // settings that the engine refuses, or that watch other tensors than the statistics hold
    if (!isAbort(error)) remember(key, null);
  }
}

/** The same effect on x64 processors without VNNI. */
export function elsewhere({ before, after }: Effect): Effect {
  return { before: { ...before, ...before.elsewhere }, after: { ...after, ...after.elsewhere } };
}

/** The same effect on the worst part of an output: what is pooled says nothing of its small values. */
export function onWorstPart({ before, after }: Effect): Effect {
  return { before: { ...before, ...before.part }, after: { ...after, ...after.part } };
}

/** It is expected to run faster by what is worth a word. */
export function isFaster({ before, after }: Effect): boolean {
  const least = 1.05;
  return before.times !== null && after.times !== null && after.times > least * before.times;
}

/** More answers are float's, or as many with outputs that are nearer. */
export function isGain({ before, after }: Effect): boolean {
  if (before.same !== null && after.same !== null && before.same !== after.same) return after.same > before.same;
  const least = 0.1;
  return (after.sqnr ?? Infinity) > (before.sqnr ?? Infinity) + least;
}
