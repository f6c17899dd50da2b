// SPDX-License-Identifier: Apache-2.0
//
// Runs the float file and the int8 file in onnxruntime-web, the site's own copy, on the samples that it is given; one thread, away
// from the page.

import type * as Runtime from 'onnxruntime-web/wasm';
import type { NamedTensor, SampleRun } from 'tersor';

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
  | { readonly ask: 'time' };

/** Where a request failed: what the runtime said, and which of the files it was about. */
export interface VerifyFailure {
  readonly failed: 'runtime' | 'float' | 'int8';
  readonly words: string;
}

export type VerifyAnswer =
  | { readonly opened: true; readonly float: VerifyFailure | null }
  | { readonly check: SampleCheck }
  | { readonly times: Times }
  | VerifyFailure;

type Session = Runtime.InferenceSession;

let ort: typeof Runtime;
let int8: Session;
let float: Session | null = null;
/** Of the first sample, which the times are taken of. */
let feeds: Record<string, Runtime.Tensor> | null = null;

class Failure extends Error {
  readonly failed: VerifyFailure['failed'];
  constructor(failed: VerifyFailure['failed'], cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause));
    this.failed = failed;
  }
}

async function open(files: FilesToVerify): Promise<VerifyAnswer> {
  try {
    ort = (await import(/* @vite-ignore */ files.runtime)) as typeof Runtime;
  } catch (error) {
    throw new Failure('runtime', error);
  }
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = 'fatal';
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

/** As evaluations look for it; -1 where a value is no number. */
function answerOf(output: NamedTensor | undefined, values: Numbers | undefined): number {
  if (!output || !values) return -1;
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

async function run({ inputs, outputs }: SampleRun): Promise<VerifyAnswer> {
  const mine = feedsOf(inputs);
  feeds ??= mine;
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
    for (let k = 0; k < theirs.length; ++k) {
      const [got, wanted] = [Number(theirs[k]), Number(output.data[k])];
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
    const given = await float.run(mine).catch((error: unknown) => {
      throw new Failure('float', error);
    });
    floatAnswer = answerOf(first, first && (given[first.name]?.data as Numbers | undefined));
  }
  const int8Answer = answerOf(first, first && (made[first.name]?.data as Numbers | undefined));
  return { check: { differing, values, apart, int8Answer, floatAnswer } };
}

/** Clocks of pages count in tenths of a millisecond or worse: a round repeats its run until it takes so long. */
const roundMilliseconds = 20;
const leastRounds = 5;
const mostRounds = 25;
const budgetMilliseconds = 4000;

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** Both files in turns, so that what else the machine does falls on both. */
async function time(): Promise<VerifyAnswer> {
  const given = feeds;
  if (!given) throw new Failure('int8', 'There was no sample to run.');
  const contestants = [float, int8].map((session) => ({ session, repeats: 1, milliseconds: [] as number[] }));
  const round = async (session: Session, repeats: number) => {
    const from = performance.now();
    for (let k = 0; k < repeats; ++k) await session.run(given);
    return performance.now() - from;
  };
  for (const one of contestants) {
    if (!one.session) continue;
    for (let took = 0; ; one.repeats *= 2) {
      took = await round(one.session, one.repeats);
      if (took >= roundMilliseconds || one.repeats >= 1 << 12) break;
    }
  }
  const started = performance.now();
  let rounds = 0;
  while (rounds < leastRounds || (rounds < mostRounds && performance.now() - started < budgetMilliseconds)) {
    for (const { session, repeats, milliseconds } of contestants) {
      if (session) milliseconds.push((await round(session, repeats)) / repeats);
    }
    ++rounds;
  }
  const [slow, fast] = contestants.map(({ milliseconds }) => median(milliseconds));
  return { times: { float: float ? (slow ?? null) : null, int8: fast ?? 0, rounds } };
}

function answer(request: VerifyRequest): Promise<VerifyAnswer> {
  if (request.ask === 'open') return open(request.files);
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
