// SPDX-License-Identifier: Apache-2.0

import { expect, it } from 'vitest';

import { details, isAbort, problemOf } from '../src/job/problem';
import { TersorError } from './double';

it('keeps the four fields of the engine’s errors', () => {
  const fields = { code: 'io', message: 'It is gone.', place: 'net.onnx', hint: 'Drop it again.' };
  expect(problemOf(new TersorError(fields))).toEqual(fields);
  expect(problemOf(fields)).toEqual(fields);
});

it('makes a problem of whatever else was thrown', () => {
  expect(problemOf(new TypeError('x is undefined'))).toEqual({
    code: 'internal',
    message: 'x is undefined',
    place: '',
    hint: '',
  });
  expect(problemOf({ message: 'late', code: 7, place: null })).toMatchObject({ code: 'internal', place: '' });
  for (const [thrown, message] of [
    ['stop', 'stop'],
    [null, 'null'],
    [undefined, 'undefined'],
    [new Error(''), 'Error'],
  ] as const)
    expect(problemOf(thrown)).toEqual({
      code: 'internal',
      message,
      place: '',
      hint: 'Copy the details and report this.',
    });
});

it('tells what was cancelled from what failed', () => {
  expect(isAbort(new DOMException('', 'AbortError'))).toBe(true);
  expect(isAbort(new DOMException('', 'NetworkError'))).toBe(false);
  expect(isAbort({ name: 'AbortError' })).toBe(false);
});

it('writes a problem with the facts of a report as JSON', () => {
  const problem = { code: 'io', message: 'm', place: 'p', hint: 'h' };
  expect(JSON.parse(details(problem, { version: '1' }))).toEqual({ ...problem, version: '1' });
});
