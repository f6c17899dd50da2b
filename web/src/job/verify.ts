// SPDX-License-Identifier: Apache-2.0
//
// Verifying a result or a variant: the site's copy of onnxruntime-web runs the file that was made, and the float file, on the evaluated
// samples. Its outputs are compared with the preview in that runtime's arithmetic, its answers with those of the figures, and both files
// are timed.

import { effect, signal } from '@preact/signals';
import { TersorError } from 'tersor';
import type { EvaluationResult, QuantizedResult, SampleRun, Timer, Variant } from 'tersor';

import { count } from '../numbers';
import type { SampleCheck, Times, VerifyAnswer, VerifyFailure, VerifyRequest } from '../verify/verify.worker';
import { isAbort, problemOf, type Problem } from './problem';
import type { Inputs } from './inputs';
import { runtime } from './runtime';
import * as state from './state';
import { checks } from './variants';

/** What verifying a file came to, of the samples so far. */
export interface Checked {
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

export interface Verified extends Checked {
  readonly quantized: QuantizedResult;
}

export const verified = signal<Verified | null>(null);
/** What goes on, as words; null while nothing does. */
export const verifying = signal<string | null>(null);
export const verifyProblem = signal<Problem | null>(null);

/** The variant that is verified, and what goes on. */
export const checking = signal<{ readonly row: Variant; readonly words: string } | null>(null);
/** Samples that a variant is verified on: what a runtime computes otherwise shows on few. */
const checkedSamples = 8;

const name = runtime?.name ?? 'onnxruntime-web';
const runtimeFile = 'verify/ort.wasm.bundle.min.mjs';
const runtimeAddress = () => new URL(runtimeFile, document.baseURI).href;

let controller: AbortController | null = null;
let checkController: AbortController | null = null;

/** What the runtime said, as a sentence that says what it means. */
function problemWith({ failed, words }: VerifyFailure, inputs: Inputs, called = 'int8'): Problem {
  const said =
    words
      .replace(/^.*?ERROR_MESSAGE: /s, '')
      .split('\n')[0]
      ?.trim() ?? '';
  const file = failed === 'float' ? `The float file ${inputs.model.name}` : `The ${called} file`;
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
  to: Checked,
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

/** A file, the runs that the preview gives of it, and the answers that its figures are of. */
interface Subject {
  readonly called: string;
  readonly bytes: Uint8Array;
  readonly runs: AsyncIterable<SampleRun>;
  readonly of: number;
  readonly int8: EvaluationResult['answers'];
  readonly float: EvaluationResult['answers'];
}

async function check(
  inputs: Inputs,
  { called, bytes, runs, of, ...answers }: Subject,
  signal: AbortSignal,
  tell: (found: Checked | null, words: string) => void,
): Promise<void> {
  const worker = new RuntimeWorker();
  const failed = (answer: VerifyAnswer): VerifyFailure | null => ('failed' in answer ? answer : null);
  try {
    const { file, beside } = inputs.model;
    const files = {
      runtime: runtimeAddress(),
      float: file,
      beside,
      int8: bytes,
    };
    const opened = await worker.ask({ ask: 'open', files }, signal);
    let fault = failed(opened);
    if (fault) throw problemWith(fault, inputs, called);
    const float = 'opened' in opened ? opened.float : null;
    let shown: Checked = {
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
    for await (const one of runs) {
      const came = await worker.ask({ ask: 'run', run: one }, signal, memoryOf(one));
      fault = failed(came);
      if (fault) throw problemWith(fault, inputs, called);
      if (!('check' in came)) continue;
      const k = shown.samples;
      const list = (all: EvaluationResult['answers']) => (all?.length === of ? (all[k] ?? null) : null);
      shown = added(shown, came.check, { int8: list(answers.int8), float: list(answers.float) });
      tell(shown, `${count(shown.samples)} of ${count(of)} samples`);
    }
    const words = 'Timing both files';
    tell(shown.samples > 0 ? shown : null, words);
    const timed = await worker.ask({ ask: 'time' }, signal);
    fault = failed(timed);
    if (fault) throw problemWith(fault, inputs, called);
    if ('times' in timed) tell({ ...shown, times: timed.times }, words);
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
  const { quantized } = result;
  const selected = { ...inputs.preprocessing, selection: inputs.evaluation, signal: mine.signal };
  const subject = {
    called: 'int8',
    bytes: quantized.model,
    runs: quantized.run(inputs.set.files, { ...selected, runtime: 'wasm' }),
    of: result.int8.count,
    int8: result.int8.answers,
    float: result.float.answers,
  };
  try {
    await check(inputs, subject, mine.signal, (found, words) => {
      if (found) verified.value = { ...found, quantized };
      verifying.value = words;
    });
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

/** Runs a variant in onnxruntime-web as verify() does the result, on a few samples; does nothing while another job runs. */
export async function verifyVariant(inputs: Inputs, row: Variant): Promise<void> {
  const engine = state.engine.value;
  if (!engine || !row.model || state.running.value || checking.value) return;
  const mine = new AbortController();
  checkController = mine;
  checking.value = { row, words: 'Loading the runtime' };
  const note = (found: Checked | Problem) => (checks.value = new Map(checks.value).set(row, found));
  const stop = effect(() => {
    if (state.running.value || state.model.value?.handle !== inputs.model.handle) mine.abort();
  });
  try {
    const handle = await engine.open(row.model, { signal: mine.signal });
    const selected = { ...inputs.preprocessing, selection: inputs.evaluation, limit: checkedSamples };
    const subject = {
      called: row.dtype,
      bytes: row.model,
      runs: handle.run(inputs.set.files, { ...selected, signal: mine.signal, runtime: 'wasm' }),
      of: Math.min(checkedSamples, state.evaluationCount.value),
      int8: null,
      float: null,
    };
    try {
      await check(inputs, subject, mine.signal, (found, words) => {
        if (found) note(found);
        checking.value = { row, words };
      });
    } finally {
      handle.close();
    }
    state.announcement.value = `${row.file} is verified.`;
  } catch (error) {
    if (!isAbort(error)) note(problemOf(error));
  } finally {
    stop();
    if (checkController === mine) checking.value = null;
  }
}

export function cancelCheck(): void {
  checkController?.abort();
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
