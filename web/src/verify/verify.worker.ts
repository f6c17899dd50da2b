// SPDX-License-Identifier: Apache-2.0
//
// Runs the float file and the int8 file in onnxruntime-web, the site's own copy, on the samples that it is given; one thread, away
// from the page.

import type * as Runtime from 'onnxruntime-web/wasm';
import { inTurns, timerOf, type MeasuredTimes, type NamedTensor, type SampleRun } from 'tersor';

interface FilesToVerify {
  /** Address of the runtime's script. */
  readonly runtime: string;
  readonly float: Blob;
  /** Files that may hold the float model's weights, by name. */
  readonly beside: ReadonlyMap<string, Blob>;
  readonly int8: Uint8Array;
}

/** What the runtime made of one sample. */
export interface SampleCheck {
  /** Values of all outputs that differ, of so many. */
  readonly differing: number;
  readonly values: number;
  /** The largest difference of all outputs, as a share of that output's largest absolute value here. */
  readonly apart: number;
  /** Index of the largest value of the first output; null where the file could not be run. */
  readonly int8Answer: number;
  readonly floatAnswer: number | null;
}

/** Milliseconds of one run, the median of some rounds. */
export interface Times {
  readonly float: number | null;
  readonly int8: number;
  readonly rounds: number;
}

export type VerifyRequest =
  | { readonly ask: 'open'; readonly files: FilesToVerify }
  | { readonly ask: 'run'; readonly run: SampleRun }
  | { readonly ask: 'time' }
  | {
      readonly ask: 'timeFiles';
      readonly runtime: string;
      readonly files: readonly Uint8Array[];
      readonly inputs: readonly NamedTensor[];
    };

/** Where a request failed: what the runtime said, and which of the files it was about. */
export interface VerifyFailure {
  readonly failed: 'runtime' | 'float' | 'int8';
  readonly words: string;
}

export type VerifyAnswer =
  | { readonly opened: true; readonly float: VerifyFailure | null }
  | { readonly check: SampleCheck }
  | { readonly times: Times }
  | { readonly ofFiles: MeasuredTimes }
  | VerifyFailure;

type Session = Runtime.InferenceSession;

let ort: typeof Runtime;
let int8: Session;
let float: Session | null = null;
/** Of the first sample, which the times are taken of. */
let feeds: Record<'int8' | 'float', Record<string, Runtime.Tensor>> | null = null;

class Failure extends Error {
  readonly failed: VerifyFailure['failed'];
  constructor(failed: VerifyFailure['failed'], cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause));
    this.failed = failed;
  }
}

async function load(runtime: string): Promise<void> {
  try {
    ort = (await import(/* @vite-ignore */ runtime)) as typeof Runtime;
  } catch (error) {
    throw new Failure('runtime', error);
  }
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = 'fatal';
}

async function timeFiles(files: readonly Uint8Array[], inputs: readonly NamedTensor[]): Promise<VerifyAnswer> {
  try {
    return { ofFiles: await timerOf(ort)(files, inputs) };
  } catch (error) {
    throw new Failure('float', error);
  }
}

async function open(files: FilesToVerify): Promise<VerifyAnswer> {
  await load(files.runtime);
  const options = { executionProviders: ['wasm'], logSeverityLevel: 4 } as const;
  try {
    int8 = await ort.InferenceSession.create(files.int8, options);
  } catch (error) {
    // what stands in the way of any model is no fault of this one
    throw new Failure(/no available backend/.test(String(error)) ? 'runtime' : 'int8', error);
  }
  try {
    const externalData = await Promise.all(
      [...files.beside].map(async ([path, blob]) => ({ path, data: new Uint8Array(await blob.arrayBuffer()) })),
    );
    const bytes = new Uint8Array(await files.float.arrayBuffer());
    float = await ort.InferenceSession.create(bytes, { ...options, externalData });
  } catch (error) {
    const { failed, message } = new Failure('float', error);
    return { opened: true, float: { failed, words: message } };
  }
  return { opened: true, float: null };
}

function feedsOf(inputs: readonly NamedTensor[]): Record<string, Runtime.Tensor> {
  return Object.fromEntries(
    inputs.map(({ name, type, data, shape }) => [
      name,
      new ort.Tensor(type as 'float32', data as Float32Array, shape as number[]),
    ]),
  );
}

type Numbers = ArrayLike<number> | ArrayLike<bigint>;

/** The value of a binary16 bit pattern. */
function half(bits: number): number {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const magnitude =
    exponent === 31
      ? fraction
        ? NaN
        : Infinity
      : exponent
        ? 2 ** (exponent - 25) * (1024 + fraction)
        : 2 ** -24 * fraction;
  return bits & 0x8000 ? -magnitude : magnitude;
}

function numbersOf(type: string, values: ArrayBufferView & Numbers): Numbers {
  return type === 'float16'
    ? Array.from(new Uint16Array(values.buffer, values.byteOffset, values.length), half)
    : values;
}

/** As evaluations look for it; -1 where a value is no number. */
function answerOf(output: NamedTensor | undefined, made: Record<string, Runtime.Tensor>): number {
  const data = output && (made[output.name]?.data as (ArrayBufferView & Numbers) | undefined);
  if (!data) return -1;
  const values = numbersOf(output.type, data);
  const isClass = values.length === 1 && /^u?int/.test(output.type);
  if (isClass) return Number(values[0]);
  let best = 0;
  for (let k = 0; k < values.length; ++k) {
    const value = Number(values[k]);
    if (Number.isNaN(value)) return -1;
    if (value > Number(values[best])) best = k;
  }
  return best;
}

function sameBytes(a: ArrayBufferView, b: ArrayBufferView): boolean {
  if (a.byteLength !== b.byteLength) return false;
  const [left, right] = [a, b].map((view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  return left !== undefined && left.every((byte, k) => byte === right?.[k]);
}

async function run({ file, ...floats }: SampleRun): Promise<VerifyAnswer> {
  const { inputs, outputs } = file ?? floats;
  const mine = feedsOf(inputs);
  // The float file has float16 where the quantized one has, and no integers.
  const wide = feedsOf(floats.inputs.map((tensor, k) => (inputs[k]?.type === 'float16' ? inputs[k] : tensor)));
  feeds ??= { int8: mine, float: wide };
  const made = await int8.run(mine).catch((error: unknown) => {
    throw new Failure('int8', error);
  });
  let [differing, values, apart] = [0, 0, 0];
  for (const output of outputs) {
    const theirs = made[output.name]?.data as (ArrayBufferView & Numbers) | undefined;
    values += output.data.length;
    if (theirs && sameBytes(theirs, output.data)) continue;
    if (!theirs || theirs.length !== output.data.length) {
      differing += output.data.length;
      continue;
    }
    let [largest, most] = [0, 0];
    const [gave, preview] = [numbersOf(output.type, theirs), numbersOf(output.type, output.data)];
    for (let k = 0; k < theirs.length; ++k) {
      const [got, wanted] = [Number(gave[k]), Number(preview[k])];
      most = Math.max(most, Math.abs(wanted));
      if (Object.is(got, wanted)) continue;
      ++differing;
      largest = Math.max(largest, Math.abs(got - wanted));
    }
    apart = Math.max(apart, largest / (most || 1));
  }
  const first = outputs[0];
  let floatAnswer: number | null = null;
  if (float) {
    const given = await float.run(wide).catch((error: unknown) => {
      throw new Failure('float', error);
    });
    floatAnswer = answerOf(first, given);
  }
  const int8Answer = answerOf(first, made);
  return { check: { differing, values, apart, int8Answer, floatAnswer } };
}

/** Both files in turns. */
async function time(): Promise<VerifyAnswer> {
  const given = feeds;
  if (!given) throw new Failure('int8', 'There was no sample to run.');
  const runs = [() => int8.run(given.int8)];
  const wide = float;
  if (wide) runs.push(() => wide.run(given.float));
  const { milliseconds, rounds } = await inTurns(runs);
  return { times: { float: milliseconds[1] ?? null, int8: milliseconds[0] ?? 0, rounds } };
}

async function answer(request: VerifyRequest): Promise<VerifyAnswer> {
  if (request.ask === 'open') return open(request.files);
  if (request.ask === 'timeFiles') {
    await load(request.runtime);
    return timeFiles(request.files, request.inputs);
  }
  return request.ask === 'run' ? run(request.run) : time();
}

let last: Promise<void> = Promise.resolve();
addEventListener('message', ({ data }: MessageEvent<VerifyRequest>) => {
  last = last.then(async () => {
    const came = await answer(data).catch((error: unknown) => {
      const { failed, message } = error instanceof Failure ? error : new Failure('runtime', error);
      return { failed, words: message } satisfies VerifyFailure;
    });
    postMessage(came);
  });
});
