// SPDX-License-Identifier: Apache-2.0

import type { SampleRun } from 'tersor';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { gather, type Inputs } from '../src/job/inputs';
import { quantize } from '../src/job/quantize';
import * as state from '../src/job/state';
import { cancelVerify, verified, verify, verifying, verifyProblem } from '../src/job/verify';
import type { VerifyAnswer, VerifyRequest } from '../src/verify/verify.worker';
import { openPets, run, values } from './helpers';

const check = (more: object = {}) => ({ differing: 1, values: 10, apart: 0.1, int8Answer: 0, floatAnswer: 0, ...more });
let answerTo: (asked: VerifyRequest, n: number) => VerifyAnswer | { readonly breaks: string } | null;
let started = 0;
let closed = 0;

/** A worker that answers as the test says. */
class Stub extends EventTarget {
  #asked = 0;
  constructor() {
    super();
    ++started;
  }
  postMessage(asked: VerifyRequest): void {
    const answer = answerTo(asked, asked.ask === 'run' ? this.#asked++ : 0);
    queueMicrotask(() => {
      if (!answer) return;
      if ('breaks' in answer) this.dispatchEvent(Object.assign(new Event('error'), { message: answer.breaks }));
      else this.dispatchEvent(Object.assign(new Event('message'), { data: answer }));
    });
  }
  terminate(): void {
    ++closed;
  }
}

const usual = ({ ask }: VerifyRequest): VerifyAnswer =>
  ask === 'open'
    ? { opened: true, float: null }
    : ask === 'run'
      ? { check: check() }
      : { times: { float: 2, int8: 1, rounds: 5 } };

/** Answers to the first three samples, with the float file's and the int8 file's of the figures. */
async function openThree(float: readonly number[], int8: readonly number[]): Promise<Inputs> {
  const done = state.result.value;
  const inputs = gather();
  if (!done || !inputs) throw new Error('no result');
  const of = (answers: readonly number[]) => ({ count: 3, answers: Int32Array.from(answers) });
  const runs = async function* (): AsyncGenerator<SampleRun, void, undefined> {
    for (let k = 0; k < 3; ++k) yield run(k, values('y', [1], [k]));
  };
  state.result.value = {
    ...done,
    quantized: Object.assign(done.quantized, { run: runs }),
    float: { ...done.float, ...of(float) },
    int8: { ...done.int8, ...of(int8) },
  };
  return inputs;
}

beforeEach(async () => {
  [started, closed, answerTo] = [0, 0, usual];
  vi.stubGlobal('Worker', Stub);
  vi.stubGlobal('document', { baseURI: 'https://a.b/app/' });
  verified.value = null;
  verifyProblem.value = null;
  await openPets();
  await quantize();
});
afterEach(() => {
  vi.unstubAllGlobals();
});

it('adds up what the runtime makes of each sample, against the figures, and times both files', async () => {
  const inputs = await openThree([0, 1, 1], [0, 0, 1]);
  answerTo = (asked, n) =>
    asked.ask === 'run' ? { check: check({ apart: [0.1, 0.3, 0.2][n], floatAnswer: n === 2 ? 1 : 0 }) } : usual(asked);
  await verify(inputs);
  expect(verified.value).toMatchObject({ samples: 3, of: 3, differing: 3, values: 30, apart: 0.3 });
  expect(verified.value).toMatchObject({ int8Same: 2, floatSame: 2, floatFault: '' });
  expect(verified.value?.times).toEqual({ float: 2, int8: 1, rounds: 5 });
  expect([verifyProblem.value, verifying.value, state.announcement.value, closed]).toEqual([
    null,
    null,
    'Verified.',
    1,
  ]);
});

it('counts no answers where they are not known of all samples, or the float file cannot be run', async () => {
  const inputs = await openThree([0, 1], [0, 0, 0]);
  await verify(inputs);
  expect(verified.value).toMatchObject({ int8Same: 3, floatSame: null });
  answerTo = (asked) =>
    asked.ask === 'open'
      ? { opened: true, float: { failed: 'float', words: 'ERROR_MESSAGE: no kernel\nmore' } }
      : asked.ask === 'run'
        ? { check: check({ floatAnswer: null }) }
        : usual(asked);
  await verify(await openThree([0, 0, 0], [0, 0, 0]));
  expect(verified.value).toMatchObject({ int8Same: 3, floatSame: null });
  expect(verified.value?.floatFault).toBe('The float file net.onnx cannot be run by onnxruntime-web: no kernel');
});

it('says what the runtime cannot do, and what to do about it', async () => {
  const inputs = await openThree([0, 0, 0], [0, 0, 0]);
  const said = async (failed: 'runtime' | 'int8', words: string) => {
    answerTo = () => ({ failed, words });
    await verify(inputs);
    return [verifyProblem.value?.message, verifyProblem.value?.place];
  };
  expect(await said('runtime', 'gone')).toEqual([
    'onnxruntime-web could not be loaded or started: gone',
    'verify/ort.wasm.bundle.min.mjs',
  ]);
  expect(await said('int8', "Could not find an implementation for Foo(13) node with name 'n1'")).toEqual([
    'The int8 file cannot be run by onnxruntime-web: that has no kernel for Foo, node "n1".',
    'The int8 file in onnxruntime-web',
  ]);
  expect((await said('int8', 'Unsupported model IR version'))[0]).toMatch(/too old for it/);
  expect((await said('int8', 'broken'))[0]).toBe('The int8 file cannot be run by onnxruntime-web: broken');
  answerTo = () => ({ breaks: '' });
  await verify(inputs);
  expect(verifyProblem.value?.message).toMatch(/The file of its worker is not there\.$/);
  answerTo = () => ({ breaks: 'no memory' });
  await verify(inputs);
  expect(verifyProblem.value?.message).toMatch(/: no memory$/);
  expect(verifying.value).toBeNull();
});

it('does not begin without a whole result, or beside another job', async () => {
  const inputs = await openThree([0, 0, 0], [0, 0, 0]);
  const done = state.result.value as state.Result;
  for (const [block, free] of [
    [() => (state.result.value = { ...done, pending: 'layers' }), () => (state.result.value = done)],
    [() => (state.result.value = null), () => (state.result.value = done)],
    [() => (state.run.value = {} as state.Run), () => (state.run.value = null)],
    [() => (state.tradeoffRun.value = { kind: 'curve', done: 0, of: 1 }), () => (state.tradeoffRun.value = null)],
    [() => (verifying.value = 'Loading'), () => (verifying.value = null)],
  ] as const) {
    block();
    await verify(inputs);
    free();
    expect(started).toBe(0);
  }
  await verify(inputs);
  expect(started).toBe(1);
});

it('ends without a word where it is cancelled, or another job or result comes', async () => {
  for (const end of [
    () => cancelVerify(),
    () => (state.run.value = {} as state.Run),
    () => (state.result.value = { ...state.result.value, quantized: {} } as state.Result),
  ]) {
    await openPets();
    await quantize();
    const inputs = await openThree([0, 0, 0], [0, 0, 0]);
    answerTo = (asked, n) => (asked.ask === 'run' && n === 1 ? null : usual(asked));
    const job = verify(inputs);
    await vi.waitFor(() => expect(verified.value?.samples).toBe(1));
    expect(verifying.value).toBe('1 of 3 samples');
    end();
    await job;
    expect([verifyProblem.value, verifying.value, verified.value?.samples]).toEqual([null, null, 1]);
  }
});
