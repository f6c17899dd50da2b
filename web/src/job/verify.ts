// SPDX-License-Identifier: Apache-2.0
//
// Verifying a result: the site's copy of onnxruntime-web runs the file that was made, and the float file, on the evaluated samples.
// Its outputs are compared with the preview in that runtime's arithmetic, its answers with those of the figures, and both files
// are timed.

import { effect, signal } from '@preact/signals';
import { TersorError } from 'tersor';
import type { QuantizedResult, SampleRun, Timer } from 'tersor';

import { count } from '../numbers';
import type { SampleCheck, Times, VerifyAnswer, VerifyFailure, VerifyRequest } from '../verify/verify.worker';
import { isAbort, problemOf, type Problem } from './problem';
import type { Inputs } from './inputs';
import { runtime } from './runtime';
import * as state from './state';

/** What verifying came to, of the samples so far. */
export interface Verified {
  readonly quantized: QuantizedResult;
  /** Such as "onnxruntime-web 1.30.0". */
  readonly runtime: string;
  readonly samples: number;
  readonly of: number;
  /** Values of the outputs that are not the preview's to the last bit, of so many. */
  readonly differing: number;
  readonly values: number;
  /** The largest difference as a share of its output's largest value. */
  readonly apart: number;
  /** Answers that are those of the figures; null where outputs are no answers. */
  readonly int8Same: number | null;
  readonly floatSame: number | null;
  readonly times: Times | null;
  /** Why there is no float figure, as a sentence. */
  readonly floatFault: string;
}

export const verified = signal<Verified | null>(null);
/** What goes on, as words; null while nothing does. */
export const verifying = signal<string | null>(null);
export const verifyProblem = signal<Problem | null>(null);

const name = runtime?.name ?? 'onnxruntime-web';
const runtimeFile = 'verify/ort.wasm.bundle.min.mjs';
const runtimeAddress = () => new URL(runtimeFile, document.baseURI).href;

let controller: AbortController | null = null;

/** What the runtime said, as a sentence that says what it means. */
function problemWith({ failed, words }: VerifyFailure, inputs: Inputs): Problem {
  const said =
    words
      .replace(/^.*?ERROR_MESSAGE: /s, '')
      .split('\n')[0]
      ?.trim() ?? '';
  const file = failed === 'float' ? `The float file ${inputs.model.name}` : 'The int8 file';
  const common = { code: 'runtime', place: failed === 'runtime' ? runtimeFile : `${file} in ${name}` };
  if (failed === 'runtime') {
    return {
      ...common,
      message: `${name} could not be loaded or started: ${said}`,
      hint: `It lies in the folder verify/ of this site, which is optional; without a network it is there once it has been used.`,
    };
  }
  const operator = /Could not find an implementation for (\S+?)\(\d+\) node with name '([^']*)'/.exec(words);
  if (operator) {
    return {
      ...common,
      message: `${file} cannot be run by ${name}: that has no kernel for ${operator[1] ?? 'an operator'}, node "${operator[2] ?? ''}".`,
      hint: 'The native ONNX Runtime has more operators than the one for browsers; or keep this operator in float.',
    };
  }
  if (/IR version|opset \d+|is under development|not a registered function\/op/i.test(words)) {
    return {
      ...common,
      message: `${file} cannot be run by ${name}, which is too old for it or lacks one of its operators: ${said}`,
      hint: 'The native ONNX Runtime may run it; a site with a newer verify/ folder would, too.',
    };
  }
  return { ...common, message: `${file} cannot be run by ${name}: ${said}`, hint: 'Copy the details to report this.' };
}

/** Questions to a worker, one after the other. */
class RuntimeWorker {
  readonly #worker = new Worker(new URL('../verify/verify.worker.ts', import.meta.url), {
    type: 'module',
    name: 'verify',
  });

  ask(request: VerifyRequest, signal: AbortSignal, transfer: Transferable[] = []): Promise<VerifyAnswer> {
    return new Promise((resolve, reject) => {
      const end = new AbortController();
      const listen = { signal: end.signal, once: true };
      const settle = (act: () => void) => {
        end.abort();
        act();
      };
      signal.addEventListener('abort', () => settle(() => reject(signal.reason as Error)), listen);
      this.#worker.addEventListener(
        'message',
        ({ data }: MessageEvent<VerifyAnswer>) => settle(() => resolve(data)),
        listen,
      );
      this.#worker.addEventListener(
        'error',
        (event) => {
          event.preventDefault();
          settle(() => resolve({ failed: 'runtime', words: event.message || 'The file of its worker is not there.' }));
        },
        listen,
      );
      this.#worker.postMessage(request, transfer);
    });
  }

  close(): void {
    this.#worker.terminate();
  }
}

function memoryOf({ inputs, outputs, file }: SampleRun): Transferable[] {
  const tensors = [...inputs, ...outputs, ...(file?.inputs ?? []), ...(file?.outputs ?? [])];
  return tensors.map(({ data }) => data.buffer as ArrayBuffer);
}

function added(
  to: Verified,
  check: SampleCheck,
  answers: { readonly int8: number | null; readonly float: number | null },
) {
  const same = (before: number | null, got: number | null, wanted: number | null) =>
    before === null || got === null || wanted === null ? null : before + Number(got === wanted);
  return {
    ...to,
    samples: to.samples + 1,
    differing: to.differing + check.differing,
    values: to.values + check.values,
    apart: Math.max(to.apart, check.apart),
    int8Same: same(to.int8Same, check.int8Answer, answers.int8),
    floatSame: same(to.floatSame, check.floatAnswer, answers.float),
  };
}

async function work(inputs: Inputs, result: state.Result, signal: AbortSignal): Promise<void> {
  const of = result.int8.count;
  const worker = new RuntimeWorker();
  const failed = (answer: VerifyAnswer): VerifyFailure | null => ('failed' in answer ? answer : null);
  try {
    const { file, beside } = inputs.model;
    const files = {
      runtime: runtimeAddress(),
      float: file,
      beside,
      int8: result.quantized.model,
    };
    const opened = await worker.ask({ ask: 'open', files }, signal);
    let fault = failed(opened);
    if (fault) throw problemWith(fault, inputs);
    const float = 'opened' in opened ? opened.float : null;
    let shown: Verified = {
      quantized: result.quantized,
      runtime: name,
      samples: 0,
      of,
      differing: 0,
      values: 0,
      apart: 0,
      int8Same: 0,
      floatSame: 0,
      times: null,
      floatFault: float ? problemWith(float, inputs).message : '',
    };
    const runs = result.quantized.run(inputs.set.files, {
      signal,
      ...inputs.preprocessing,
      selection: inputs.evaluation,
      runtime: 'wasm',
    });
    for await (const one of runs) {
      const came = await worker.ask({ ask: 'run', run: one }, signal, memoryOf(one));
      fault = failed(came);
      if (fault) throw problemWith(fault, inputs);
      if (!('check' in came)) continue;
      const k = shown.samples;
      const list = (answers: typeof result.int8.answers) => (answers?.length === of ? (answers[k] ?? null) : null);
      shown = added(shown, came.check, { int8: list(result.int8.answers), float: list(result.float.answers) });
      verified.value = shown;
      verifying.value = `${count(shown.samples)} of ${count(of)} samples`;
    }
    verifying.value = 'Timing both files';
    const timed = await worker.ask({ ask: 'time' }, signal);
    fault = failed(timed);
    if (fault) throw problemWith(fault, inputs);
    if ('times' in timed) verified.value = { ...shown, times: timed.times };
  } finally {
    worker.close();
  }
}

/** Runs the result that is shown, which was made of these, in onnxruntime-web; does nothing while another job runs. */
export async function verify(inputs: Inputs): Promise<void> {
  const result = state.result.value;
  if (!result || result.pending || state.run.value || state.tradeoffRun.value || verifying.value !== null) return;
  const mine = new AbortController();
  controller = mine;
  verified.value = null;
  verifyProblem.value = null;
  verifying.value = 'Loading the runtime';
  const stop = effect(() => {
    if (state.run.value || state.result.value?.quantized !== result.quantized) mine.abort();
  });
  try {
    await work(inputs, result, mine.signal);
    state.announcement.value = 'Verified.';
  } catch (error) {
    if (!isAbort(error)) verifyProblem.value = problemOf(error);
  } finally {
    stop();
    if (controller === mine) {
      controller = null;
      verifying.value = null;
    }
  }
}

/** Times files in the site's runtime, for the job of these. */
export function timerFor(inputs: Inputs, signal: AbortSignal): Timer {
  return async (files, given) => {
    const worker = new RuntimeWorker();
    try {
      const answer = await worker.ask({ ask: 'timeFiles', runtime: runtimeAddress(), files, inputs: given }, signal);
      if ('ofFiles' in answer) return answer.ofFiles;
      const failure = 'failed' in answer ? answer : { failed: 'runtime' as const, words: 'It gave no times.' };
      throw new TersorError(problemWith(failure, inputs));
    } finally {
      worker.close();
    }
  };
}

/** Ends it; what was found so far stays. */
export function cancelVerify(): void {
  controller?.abort();
}
