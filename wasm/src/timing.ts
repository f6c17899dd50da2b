// SPDX-License-Identifier: Apache-2.0
//
// What files take in ONNX Runtime on this machine. Both of its packages for JavaScript have the same interface, and neither is
// needed otherwise: it is looked for when it is asked for.

import { sentence, TersorError } from './error.js';
import { isNode, nodeModule } from './host.js';
import type { NamedTensor, OnnxRuntime, RuntimeSession, Timer, TypedArray } from './types.js';

/** Clocks of pages count in tenths of a millisecond or worse: a round repeats its run until it takes so long. */
const roundMilliseconds = 20;
const leastRounds = 5;
const mostRounds = 25;
const budgetMilliseconds = 4000;

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** Milliseconds of one run of each, the median of some rounds in turns, so that what else the machine does falls on all. */
export async function inTurns(
  runs: readonly (() => Promise<unknown>)[],
): Promise<{ readonly milliseconds: readonly number[]; readonly rounds: number }> {
  const round = async (run: () => Promise<unknown>, repeats: number) => {
    const from = performance.now();
    for (let k = 0; k < repeats; ++k) await run();
    return performance.now() - from;
  };
  const taken = runs.map((run) => ({ run, repeats: 1, milliseconds: [] as number[] }));
  for (const one of taken) {
    await one.run();
    while ((await round(one.run, one.repeats)) < roundMilliseconds && one.repeats < 1 << 12) one.repeats *= 2;
  }
  const started = performance.now();
  let rounds = 0;
  while (rounds < leastRounds || (rounds < mostRounds && performance.now() - started < budgetMilliseconds)) {
    for (const { run, repeats, milliseconds } of taken) milliseconds.push((await round(run, repeats)) / repeats);
    ++rounds;
  }
  return { milliseconds: taken.map(({ milliseconds }) => median(milliseconds)), rounds };
}

const integers: Readonly<Record<string, (length: number) => TypedArray>> = {
  uint8: (length) => new Uint8Array(length),
  int8: (length) => new Int8Array(length),
};

/** Times files in that runtime, with one thread. */
export function timerOf(ort: OnnxRuntime): Timer {
  const { node, web, common } = ort.env.versions;
  const runtime = node ? `onnxruntime-node ${node}` : `onnxruntime-web ${web ?? common}`;
  const options = {
    executionProviders: [node ? 'cpu' : 'wasm'],
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  };
  return async (files, inputs) => {
    if (!node) ort.env.wasm.numThreads = 1;
    const sessions: RuntimeSession[] = [];
    try {
      for (const file of files) sessions.push(await ort.InferenceSession.create(file, options));
      const runs = sessions.map((session) => {
        const feeds = feedsOf(ort, inputs, session);
        return () => session.run(feeds);
      });
      return { runtime, threads: 1, milliseconds: (await inTurns(runs)).milliseconds };
    } catch (error) {
      const which = sessions.length === 0 ? 'open the float model' : 'run the files';
      throw new TersorError(
        {
          code: 'invalid_argument',
          message: `${runtime} could not ${which}: ${sentence(error)}.`,
          place: 'options.measure',
          hint: 'Quantize without measure, or with a newer version of the runtime.',
        },
        { cause: error },
      );
    } finally {
      for (const session of sessions) await session.release?.();
    }
  };
}

/** A file whose inputs are integers (io_types) takes others than the float model: of them the time does not depend on values. */
function feedsOf(ort: OnnxRuntime, inputs: readonly NamedTensor[], session: RuntimeSession): Record<string, unknown> {
  const Tensor = ort.Tensor as new (type: string, data: TypedArray, shape: readonly number[]) => unknown;
  const tensor = ({ name, type, data, shape }: NamedTensor) => {
    const wanted = session.inputMetadata?.find((one) => one.name === name)?.type ?? type;
    const made = wanted === type ? undefined : integers[wanted]?.(data.length);
    return new Tensor(made ? wanted : type, made ?? data, shape);
  };
  return Object.fromEntries(inputs.map((input) => [input.name, tensor(input)]));
}

/** Of the package itself, or of the folder that the process runs in. */
async function runtimeNamed(name: string): Promise<OnnxRuntime | null> {
  const load = async (specifier: string) => {
    const loaded = (await import(/* @vite-ignore */ /* webpackIgnore: true */ specifier)) as Partial<OnnxRuntime> & {
      readonly default?: OnnxRuntime;
    };
    return loaded.env ? (loaded as OnnxRuntime) : (loaded.default ?? null);
  };
  try {
    return await load(name);
  } catch {
    if (!isNode) return null;
  }
  try {
    const { createRequire } = await nodeModule<{
      createRequire(from: string): { resolve(name: string): string };
    }>('module');
    const { pathToFileURL } = await nodeModule<{ pathToFileURL(path: string): URL }>('url');
    const { cwd } = await nodeModule<{ cwd(): string }>('process');
    return await load(pathToFileURL(createRequire(`${cwd()}/-`).resolve(name)).href);
  } catch {
    return null;
  }
}

/** Times files in the runtime that is installed here. */
async function installedTimer(): Promise<Timer> {
  for (const name of ['onnxruntime-node', 'onnxruntime-web']) {
    const ort = await runtimeNamed(name);
    if (ort) return timerOf(ort);
  }
  throw new TersorError({
    code: 'invalid_argument',
    message: 'measure times files in ONNX Runtime, and neither onnxruntime-node nor onnxruntime-web was found.',
    place: 'options.measure',
    hint: isNode
      ? 'Install it: npm install onnxruntime-node.'
      : 'Give the runtime that the page has: measure: timerOf(ort), ort being the module of onnxruntime-web.',
  });
}

/** Null where nobody asked for times; a runtime that is missing is said before the work. */
export async function timerFor(measure: boolean | Timer | undefined): Promise<Timer | null> {
  if (!measure) return null;
  return typeof measure === 'function' ? measure : installedTimer();
}
