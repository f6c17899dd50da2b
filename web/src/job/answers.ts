// SPDX-License-Identifier: Apache-2.0
//
// The evaluated samples one by one: what float, A and B answered, what their label is, and where they disagree.

import type { Agreement } from 'tersor';

import { configurationOf, letters, resultOf } from './configurations';
import * as state from './state';

export interface Answered {
  /** Its number in the data set. */
  readonly index: number;
  readonly path: string;
  /** Output that is right; null where it is not known here. */
  readonly label: number | null;
  /** Largest outputs of float, A and B; null where there is no such result. */
  readonly F: number;
  readonly A: number | null;
  readonly B: number | null;
}

/**
 * Answers that are the float model's; null where the output is not known to be classes, as with maps and boxes, whose largest value
 * is no answer unless labels say that it is.
 */
export function agreementOf(done: state.Result): Agreement | null {
  const isAnswer = done.float.value !== null || done.comparison.agreement !== null;
  return isAnswer ? (done.int8.agreement ?? done.comparison.agreement) : null;
}

/** Samples that are files each, in the data set's order; null where files hold several. */
export function filePaths(): readonly string[] | null {
  const [set, info] = [state.samples.value, state.samplesInfo.value];
  if (!set || !info) return null;
  const skipped = new Set(info.skipped.map(({ path }) => path));
  const paths = set.files.map(({ path }) => path).filter((path) => !skipped.has(path));
  return paths.length === info.count ? paths : null;
}

/** Every evaluated sample, where outputs are known to be classes; else none. */
export function answered(): Answered[] {
  const results = letters.map((letter) => (configurationOf(letter) ? resultOf(letter) : null));
  if (!results.some((one) => one && agreementOf(one))) return [];
  const evaluated = results.find((one) => one)?.float;
  const [float, indices] = [evaluated?.answers, evaluated?.samples];
  if (!float || indices?.length !== float.length) return [];
  const paths = filePaths();
  const own = state.samples.value?.labelsFile ? null : (state.samplesInfo.value?.labels ?? null);
  const [a, b] = results.map((one) =>
    one && !one.pending && one.int8.answers?.length === float.length ? one.int8.answers : null,
  );
  return indices.map((index, k) => {
    const path = paths?.[index] ?? `sample ${index}`;
    const folder = path.includes('/') ? path.slice(0, path.indexOf('/')) : '';
    const label = own?.[index] ?? null;
    return {
      index,
      path,
      label: label === null ? null : (state.mappedOutputs.value?.get(folder) ?? label),
      F: float[k] ?? 0,
      A: a?.[k] ?? null,
      B: b?.[k] ?? null,
    };
  });
}

export function disagree({ F, A, B }: Answered): boolean {
  return (A !== null && A !== F) || (B !== null && B !== F);
}

/** What an output stands for. */
export function className(output: number): string {
  const mapped = state.mappedOutputs.value;
  const isOf = ({ name, label }: { readonly name: string; readonly label: number }) =>
    (mapped?.get(name) ?? label) === output;
  return state.samplesInfo.value?.classes.find(isOf)?.name ?? `class ${output}`;
}

interface Confusion {
  readonly classes: readonly number[];
  /** Right class, then answer: samples that a configuration answers so more than float does. */
  readonly change: ReadonlyMap<string, number>;
}

/** How the answers of a configuration moved against float's, where labels are known; null else. */
export function confusionChange(rows: readonly Answered[], letter: state.Letter): Confusion | null {
  const change = new Map<string, number>();
  const classes = new Set<number>();
  const add = (label: number, answer: number, by: number) => {
    const key = `${label} ${answer}`;
    change.set(key, (change.get(key) ?? 0) + by);
  };
  for (const row of rows) {
    const answer = row[letter];
    if (row.label === null || answer === null) return null;
    if (answer === row.F) continue;
    add(row.label, answer, 1);
    add(row.label, row.F, -1);
    [row.label, answer, row.F].forEach((one) => classes.add(one));
  }
  return { classes: [...classes].sort((x, y) => x - y), change };
}
