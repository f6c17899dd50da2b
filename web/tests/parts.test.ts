// SPDX-License-Identifier: Apache-2.0

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { followDeaths, isOutdated, loadPart, lookForParts } from '../src/job/parts';
import * as state from '../src/job/state';
import { firstVisit } from './helpers';

let src: string | undefined;
const fetched = vi.fn<(url: string, options: object) => Promise<unknown>>();
const answer = (ok: boolean, type: string | null) => ({ ok, headers: { get: () => type } });

beforeEach(async () => {
  await firstVisit();
  isOutdated.value = false;
  src = 'https://a.b/main.js';
  fetched.mockReset().mockResolvedValue(answer(true, 'text/javascript'));
  vi.stubGlobal('document', { querySelector: () => ({ src }) });
  vi.stubGlobal('fetch', fetched);
});
afterEach(() => {
  vi.unstubAllGlobals();
});

it('is up to date on a first visit, and while the site has its script', async () => {
  vi.resetModules();
  expect((await import('../src/job/parts')).isOutdated.value).toBe(false);
  await lookForParts();
  expect(isOutdated.value).toBe(false);
  expect(fetched).toHaveBeenCalledWith(src, { method: 'HEAD', cache: 'no-store' });
});

it('is outdated where the script is gone, or another page stands there', async () => {
  for (const other of [answer(false, 'text/javascript'), answer(true, 'text/html'), answer(true, null)]) {
    isOutdated.value = false;
    fetched.mockResolvedValue(other);
    await lookForParts();
    expect(isOutdated.value).toBe(true);
  }
  fetched.mockClear();
  await lookForParts();
  expect(fetched).not.toHaveBeenCalled();
});

it('says nothing without an answer, or without a script', async () => {
  fetched.mockRejectedValue(new Error('offline'));
  await lookForParts();
  src = undefined;
  await lookForParts();
  expect(isOutdated.value).toBe(false);
  expect(fetched).toHaveBeenCalledTimes(1);
});

it('asks where a part cannot be loaded, or a worker’s file is gone', async () => {
  expect(await loadPart(async () => 7)).toBe(7);
  expect(fetched).not.toHaveBeenCalled();
  expect(await loadPart(() => Promise.reject(new Error('404')))).toBeNull();
  expect(fetched).toHaveBeenCalledTimes(1);
  followDeaths();
  expect(fetched).toHaveBeenCalledTimes(1);
  const problem = (code: string) => ({ code, message: '', place: '', hint: '' });
  state.runProblem.value = problem('io');
  expect(fetched).toHaveBeenCalledTimes(1);
  state.runProblem.value = problem('worker_died');
  expect(fetched).toHaveBeenCalledTimes(2);
  state.runProblem.value = null;
  expect(fetched).toHaveBeenCalledTimes(2);
  state.engineProblem.value = problem('io');
  expect(fetched).toHaveBeenCalledTimes(3);
});
