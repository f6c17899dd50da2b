// SPDX-License-Identifier: Apache-2.0

import { beforeEach, expect, it } from 'vitest';

import type { Advice, Change } from '../src/job/advice';
import { changedBy, gainText } from '../src/job/apply_advice';
import { askEffect, effectOf, isFaster, isGain, type Effect, type Quality } from '../src/job/effects';
import { quantize } from '../src/job/quantize';
import * as state from '../src/job/state';
import { behaviour } from './double';
import { openPets } from './helpers';

const inFloat = {
  overrides: [{ name: 'conv1', config: { enable_weights_quantization: false, enable_activation_quantization: false } }],
};
const quality = (sqnr: number | null, same: number | null = null, times: number | null = null): Quality => ({
  ...{ sqnr, same, times, count: 16 },
});
const effect = (before: Quality, after: Quality): Effect => ({ before, after });
const advice = (change: Change, id = ''): Advice => ({ id, change, sentence: '', reason: '', word: '' });

beforeEach(async () => {
  await openPets();
  behaviour.decibels = ({ overrides }) => (overrides.length > 0 ? 33 : 30);
});

it('makes the file with the change from kept statistics, and compares both on a few samples', async () => {
  await quantize();
  behaviour.calls.length = 0;
  const asked = askEffect(inFloat);
  expect(effectOf(inFloat)).toBe('waiting');
  await asked;
  const agree = { same: 16, count: 16, times: 1.7 };
  expect(effectOf(inFloat)).toEqual({ before: { sqnr: 30, ...agree }, after: { sqnr: 33, ...agree } });
  expect(behaviour.calls).toEqual(['choose', 'correct', 'write', 'compare', 'compare', 'close result']);
  // the file in force is compared once, and nothing is asked twice
  behaviour.calls.length = 0;
  await askEffect(inFloat);
  expect(behaviour.calls).toEqual([]);
  await askEffect({ fields: { weights_bias_correction: false } });
  expect(behaviour.calls.filter((call) => call === 'compare')).toHaveLength(1);
  // other settings have effects of their own
  state.fields.value = { weights_bias_correction: false };
  await quantize();
  expect(effectOf(inFloat)).toBeUndefined();
});

it('says nothing where there is no result, or the engine refuses the change', async () => {
  await askEffect(inFloat);
  expect(effectOf(inFloat)).toBeNull();
  await quantize();
  behaviour.quantizeError = { code: 'invalid_config', message: '', place: '', hint: '' };
  await askEffect(inFloat);
  expect(effectOf(inFloat)).toBeNull();
});

it('takes more answers for a gain, and of as many nearer outputs', () => {
  expect(isGain(effect(quality(30, 14), quality(29, 15)))).toBe(true);
  expect(isGain(effect(quality(30, 15), quality(33, 14)))).toBe(false);
  expect(isGain(effect(quality(30, 15), quality(30.1, 15)))).toBe(false);
  expect(isGain(effect(quality(30, 15), quality(30.2, 15)))).toBe(true);
  expect(isGain(effect(quality(30), quality(null)))).toBe(true);
  expect(isGain(effect(quality(null), quality(90)))).toBe(false);
  expect(isFaster(effect(quality(30, 1, 1), quality(30, 1, 1.05)))).toBe(false);
  expect(isFaster(effect(quality(30, 1, 1), quality(30, 1, 1.06)))).toBe(true);
  expect(isFaster(effect(quality(30), quality(30, 1, 9)))).toBe(false);
});

it('is told as a sentence, and not at all where it does not help', () => {
  const field = advice({ kind: 'field', name: 'z_threshold', value: 12 });
  expect(gainText(field, effect(quality(30.2, 14), quality(33.1, 15)))).toMatch(
    /^Computed on 16 samples: 14 → 15 of 16 answers, 30\.2.dB → 33\.1.dB at the output\.$/,
  );
  expect(gainText(field, effect(quality(30.2), quality(33.1)))).toMatch(/^Computed on 16 samples: 30\.2.dB/);
  expect(gainText(field, effect(quality(30.2), quality(30)))).toBeNull();
  const speed = advice({ kind: 'field', name: 'prefer', value: 'SPEED' }, 'not-faster');
  expect(gainText(speed, effect(quality(30, 1, 0.9), quality(20, 1, 1.4)))).toBe(
    'Computed: 0.90 → 1.40 times as fast as float.',
  );
  expect(gainText(speed, effect(quality(30, 1, 0.9), quality(40, 1, 0.9)))).toBeNull();
  // for processors without VNNI by what these give
  const everywhere = advice({ kind: 'platform', name: 'ort-cpu-avx2' }, 'without-vnni');
  const saturates = { ...quality(30, 16), elsewhere: { sqnr: -2.7, same: 2 } };
  expect(gainText(everywhere, effect(saturates, quality(29, 15)))).toMatch(
    /^Computed on 16 samples without VNNI: 2 → 15 of 16 answers, −2\.7.dB → 29\.0.dB at the output\.$/,
  );
  expect(gainText(everywhere, effect(quality(30, 16), quality(29, 15)))).toBeNull();
  // of unlike values by the small ones
  const join = advice({ kind: 'float', name: 'y' }, 'unlike-ranges');
  const [lost, kept] = [0, 40].map((sqnr) => ({ ...quality(46.8), part: { sqnr } }));
  expect(gainText(join, effect(lost ?? quality(0), kept ?? quality(0)))).toMatch(
    /: 0\.0.dB → 40\.0.dB at the worst part of the output\.$/,
  );
});

it('knows which advice changes this file', () => {
  expect(changedBy(advice({ kind: 'float', name: 'conv1' }))).toEqual(inFloat);
  expect(changedBy(advice({ kind: 'field', name: 'z_threshold', value: 12 }))).toEqual({ fields: { z_threshold: 12 } });
  expect(changedBy(advice({ kind: 'bits', name: 'fc', bits: 8 }))).toEqual({
    overrides: [{ name: 'fc', config: { weights_n_bits: 8 } }],
  });
  expect(changedBy(advice({ kind: 'platform', name: 'any' }))).toEqual({ platform: 'any' });
  expect(changedBy(advice({ kind: 'samples' }))).toBeNull();
});
