// SPDX-License-Identifier: Apache-2.0

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { say } from '../src/job/say';
import * as state from '../src/job/state';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('shows one line for eight seconds, and a newer one in its place', () => {
  say('first');
  vi.advanceTimersByTime(5000);
  say('second');
  vi.advanceTimersByTime(5000);
  expect(state.toast.value?.text).toBe('second');
  vi.advanceTimersByTime(2999);
  expect(state.toast.value?.text).toBe('second');
  vi.advanceTimersByTime(1);
  expect(state.toast.value).toBeNull();
});

it('stays while the focus is on its button', () => {
  let isInside = true;
  vi.stubGlobal('document', { activeElement: { closest: (of: string) => (of === '.toast' && isInside ? {} : null) } });
  say('line');
  vi.advanceTimersByTime(9000);
  expect(state.toast.value?.text).toBe('line');
  isInside = false;
  vi.advanceTimersByTime(8000);
  expect(state.toast.value).toBeNull();
});
