// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from 'vitest';

import * as n from '../src/numbers';

const thin = '\u202f';

describe('figures', () => {
  it('puts a narrow space before a unit and a true minus before a number', () => {
    expect(n.percent(0.9165)).toBe(`91.65${thin}%`);
    expect(n.decibels(-3.14159)).toBe(`−3.1${thin}dB`);
    expect(n.points(-0.0005)).toBe('−0.05');
    expect(n.points(0.001)).toBe('+0.10');
  });

  it('never writes minus zero', () => {
    expect(n.points(-0.00001)).toBe('0.00');
    expect(n.fixed(-0.001, 2)).toBe('0.00');
    expect(n.value(-0)).toBe('0.00');
  });

  it('groups digits from five on', () => {
    expect(n.count(2000)).toBe('2000');
    expect(n.count(269078)).toBe(`269${thin}078`);
    expect(n.count(-12345678)).toBe(`−12${thin}345${thin}678`);
  });

  it('writes a dash for what is not there', () => {
    const functions = [n.count, n.percent, n.points, n.size, n.duration, n.about, n.value, n.scale, n.large, n.times];
    for (const f of functions) {
      for (const nothing of [undefined, NaN, Infinity, -Infinity, null]) expect(f(nothing)).toBe('–');
    }
    expect(n.range(0, NaN)).toBe('–');
    expect(n.halfWidth(null, 1)).toBe('–');
    expect(n.decibels(undefined)).toBe('–');
  });

  it('calls a tensor without error exact', () => {
    expect(n.decibels(null)).toBe('exact');
  });

  it('does not call outputs exact that were never compared', () => {
    const output = {
      name: 'y',
      kind: 'values' as const,
      sqnr_db: null,
      median_sqnr_db: null,
      worst_sqnr_db: null,
      worst_sample: null,
      sample_range: null,
      kept: null,
      cosine_similarity: null,
      median_cosine: null,
      error_to_spread: null,
      max_error: null,
      parts: [],
    };
    const text = (...mses: (number | null)[]) =>
      n.outputDecibels({ output_sqnr_db: null, outputs: mses.map((mse) => ({ ...output, mse })) });
    expect(text(0, 0)).toBe('exact');
    expect(text(null)).toBe('–');
    expect(text(0, null)).toBe('–');
    expect(n.outputDecibels({ output_sqnr_db: 31.41, outputs: [] })).toBe(`31.4${thin}dB`);
  });

  it('writes sizes in MB of a million bytes, small ones in kB', () => {
    expect(n.size(1_092_217)).toBe(`1.09${thin}MB`);
    expect(n.size(1400)).toBe(`1.4${thin}kB`);
    expect(n.size(12)).toBe(`12${thin}B`);
  });

  it('gives tensor values two decimals and small ones three digits', () => {
    expect(n.range(-6.789, 6.0949)).toBe('−6.79 … 6.09');
    expect(n.value(0.012345)).toBe('0.0123');
    expect(n.value(1.234e-9)).toBe('1.23e−9');
    expect(n.value(0.0000016)).toBe('1.60e−6');
    expect(n.scale(0.0505099)).toBe('0.050510');
    expect(n.scale(1 / 256 / 256)).toBe('0.000015259');
  });

  it('keeps the decimals of values that stand under each other alike', () => {
    expect(n.column([-2.12, 0.07, 2.64])).toEqual(['−2.12', '0.07', '2.64']);
    expect(n.column([0.001, 0.002])).toEqual(['0.00100', '0.00200']);
  });

  it('writes durations', () => {
    expect(n.duration(0.001)).toBe(`<${thin}0.01${thin}s`);
    expect(n.duration(0.04)).toBe(`0.04${thin}s`);
    expect(n.duration(8.53)).toBe(`8.5${thin}s`);
    expect(n.duration(125)).toBe(`2${thin}min 5${thin}s`);
    expect(n.about(0.2)).toBe(`1${thin}s`);
  });

  it('leaves out the middle of names that exporters joined, and names that they made up for dimensions', () => {
    expect(n.shortName('model.0.conv')).toBe('model.0.conv');
    const joined = n.shortName('model_1/re_lu_1/Relu;model_1/re_lu_1/Relu;model_1/conv2d_1/Conv2D1');
    expect(joined).toMatch(/^model_1\/re_lu_1.*….*Conv2D1$/);
    expect(joined.length).toBeLessThan(45);
    expect(n.shape(['unk__749', 43844, 1])).toBe('N×43844×1');
    expect(n.shape(['Concatoutput_dim_0', 'batch'])).toBe('N×batch');
  });

  it('shows free dimensions by name', () => {
    expect(n.shape(['?', 3, 224, 224])).toBe('N×3×224×224');
    expect(n.shape(['batch', 10])).toBe('batch×10');
    expect(n.shape(['floor(floor(height/2)/2)', 4])).toBe('N×4');
    expect(n.shortShape(['batch', 3, 'height', 'width'])).toBe('B×3×H×W');
    expect(n.shortShape(['N', 84, 'floor(floor(height/2)/2)'])).toBe('N×84×N');
    expect(n.shape([])).toBe('one number');
    expect(n.shape(null)).toBe('any shape');
  });
});
