// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the page's modules share: tensors, files, a page as on a first visit.

import type { NamedTensor, SampleRun } from 'tersor';

import { clearHistory } from '../src/job/history';
import type { Arrival } from '../src/job/intake';
import { forgetResults } from '../src/job/kept_results';
import { addArrivals } from '../src/job/load';
import * as state from '../src/job/state';
import { behaviour, Tersor } from './double';

export function tensor(
  name: string,
  shape: readonly number[],
  fill: (k: number) => number = () => 0,
  type = 'float32',
): NamedTensor {
  const length = shape.reduce((product, one) => product * one, 1);
  return { name, type, shape, data: Float32Array.from({ length }, (_, k) => fill(k)) };
}

/** A tensor of these values. */
export function values(name: string, shape: readonly number[], of: readonly number[], type = 'float32'): NamedTensor {
  return tensor(name, shape, (k) => of[k] ?? NaN, type);
}

export function run(index: number, ...outputs: NamedTensor[]): SampleRun {
  return { index, inputs: [], outputs };
}

export const file = (path: string, text = path): Arrival => ({ path, data: new Blob([text]) });

export function pictures(folder: string, n: number): Arrival[] {
  return Array.from({ length: n }, (_, k) => file(`set/${folder}/${k}.png`));
}

/** 100 pictures in two classes. */
export const petPictures = [...pictures('cat', 60), ...pictures('dog', 40)];

interface Writable {
  value: unknown;
  peek(): unknown;
}
const isWritable = (one: unknown): one is Writable =>
  typeof one === 'object' &&
  one !== null &&
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(one) as object, 'value')?.set !== undefined;
const signals = (Object.values(state) as unknown[]).filter(isWritable);
const atFirst = signals.map((one) => one.peek());
const usual = { ...behaviour };

/** The page as on a first visit, over the stand-in engine. */
export async function firstVisit(): Promise<void> {
  Object.assign(behaviour, usual, { calls: [] });
  signals.forEach((one, k) => (one.value = atFirst[k]));
  clearHistory();
  forgetResults();
  state.engine.value = await Tersor.create();
}

/** A first visit, and a model and 100 samples opened. */
export async function openPets(): Promise<void> {
  await firstVisit();
  await addArrivals([file('net.onnx'), ...petPictures]);
  behaviour.calls.length = 0;
}

/** Until the job that begins by itself has ended. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 200));
  while (state.run.value !== null) await new Promise((resolve) => setTimeout(resolve, 5));
}
