// SPDX-License-Identifier: Apache-2.0

import { expect, it } from 'vitest';
import type { Agreement, WithoutVnni } from 'tersor';

import { quantize } from '../src/job/quantize';
import * as state from '../src/job/state';
import { wordOf, worseElsewhere } from '../src/job/verdict';
import { openPets } from './helpers';

it('tells what older processors make of a file where that is plainly worse, and the file may run on them', async () => {
  await openPets();
  await quantize();
  const done = state.result.value;
  if (!done) throw new Error('no result');
  const said = (without_vnni: WithoutVnni | null, agreement: Agreement | null, platform = 'ort-cpu') =>
    worseElsewhere({
      ...done,
      quantized: { ...done.quantized, report: { ...done.quantized.report, platform: { name: platform, version: 1 } } },
      comparison: { ...done.comparison, output_sqnr_db: 30, agreement, without_vnni },
    } as state.Result);
  const there = (output_sqnr_db: number, same?: number): WithoutVnni => ({
    output_sqnr_db,
    agreement: same === undefined ? null : { same, count: 64 },
  });
  const here = { same: 62, count: 64 };
  expect(said(there(-2.7, 6), here)).toBe('the same answer as float for 6 of 64 samples instead of 62');
  expect(said(there(-2.7, 6), here, 'any')).not.toBeNull();
  expect(said(there(-2.7, 6), here, 'imx500')).toBeNull();
  expect(said(there(12, 61), here)).toBeNull();
  expect(said(null, here)).toBeNull();
  // where outputs are no answers
  expect(said(there(16), null)).toMatch(/^outputs about 15\.8.% off float’s instead of 3\.2.%$/);
  expect(said(there(24), null)).toBeNull();
});

it('recommends no file that older processors could not use', async () => {
  await openPets();
  await quantize();
  const done = state.result.value;
  if (!done) throw new Error('no result');
  const word = (without_vnni: WithoutVnni, agreement: Agreement | null) => {
    const verdict = { ...done.quantized.report.verdict, usability: 'usable' };
    return wordOf({
      ...done,
      quantized: { ...done.quantized, report: { ...done.quantized.report, verdict } },
      comparison: { ...done.comparison, output_sqnr_db: 30, agreement, without_vnni },
    } as state.Result)?.title;
  };
  const all = { same: 64, count: 64 };
  expect(word({ output_sqnr_db: 2, agreement: { same: 55, count: 64 } }, all)).toBe('Worth it');
  expect(word({ output_sqnr_db: 2, agreement: { same: 54, count: 64 } }, all)).toBe('Usable with care');
  expect(word({ output_sqnr_db: 11, agreement: null }, null)).toBe('Worth it');
  expect(word({ output_sqnr_db: 9, agreement: null }, null)).toBe('Usable with care');
});
