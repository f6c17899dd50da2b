// SPDX-License-Identifier: Apache-2.0

import { expect, it } from 'vitest';

import type { Comparison, Coverage, EvaluationResult, LayerRow, OutputComparison, Report } from 'tersor';

import { advise, floatFault, spreadOf, type Facts } from '../src/job/advice';

const layer = (name: string, more: Partial<LayerRow> = {}): LayerRow => ({
  name,
  op: 'Conv',
  detail: '',
  output: `${name}.out`,
  isolated_sqnr_db: 30,
  accumulated_sqnr_db: 28,
  error_share: 0.1,
  range: [-1, 1],
  scale: 1 / 128,
  zero_point: 0,
  type: 'int8',
  values: 1000,
  lost: 0,
  histogram: null,
  weight_max: null,
  ...more,
});

const output: OutputComparison = {
  name: 'out',
  sqnr_db: 20,
  mse: 0,
  cosine_similarity: 1,
  max_error: 0,
  parts: [],
  kind: 'values',
  median_sqnr_db: 20,
  worst_sqnr_db: 20,
  worst_sample: 0,
  median_cosine: 1,
  error_to_spread: 0,
};

const coverage: Coverage = {
  rows: [],
  core_nodes: 4,
  integer_core_nodes: 4,
  stays_float: [],
  may_stay_float: 0,
  estimated_size_bytes: 1,
  estimated_largest_bytes: 1,
  calibration_bytes: 1,
};

interface Given {
  readonly layers?: readonly LayerRow[];
  readonly outputs?: readonly OutputComparison[];
  readonly saturation?: Comparison['saturation'];
  readonly float?: Partial<EvaluationResult>;
  readonly report?: Partial<Report>;
  readonly facts?: Partial<Facts>;
}

function factsOf(given: Given): Facts {
  const comparison: Comparison = {
    samples: 64,
    layer_samples: 64,
    output_sqnr_db: 20,
    median_sqnr_db: 20,
    outputs: given.outputs ?? [output],
    unusual_samples: [],
    agreement: null,
    layers: given.layers ?? [layer('a'), layer('b')],
    saturation: given.saturation ?? [],
    float_sums: [],
  };
  const float: EvaluationResult = {
    metric: 'top1',
    count: 200,
    correct: 180,
    value: 0.9,
    interval: { lower: 0.85, upper: 0.94, level: 0.95 },
    chance: 0.1,
    label_shift: null,
    answers: null,
    agreement: null,
    ...given.float,
  };
  const report = { coverage, time: null, platform: { name: 'ort-cpu', version: 1 }, ...given.report } as Report;
  return {
    report,
    comparison,
    float,
    config: {},
    trial: null,
    isOtherThanBest: false,
    calibration: 64,
    usualCalibration: 128,
    isGuess: false,
    byOrder: null,
    ...given.facts,
  };
}

const first = (given: Given) => advise(factsOf(given))[0];

it('says nothing of a run in which nothing is wrong', () => {
  expect(advise(factsOf({}))).toEqual([]);
});

it('row 17: finds one tensor’s outlier, and cuts it with another method', () => {
  const counts = Array.from({ length: 256 }, () => 0);
  counts.fill(1000, 120, 136);
  counts[255] = 1;
  const row = layer('block.act', {
    histogram: { lower: -128, bin_width: 1, counts },
    range: [-128, 128],
    error_share: 0.4,
    isolated_sqnr_db: 9.5,
  });
  expect(spreadOf(row)?.mean).toBeCloseTo(0, 1);
  const given = {
    layers: [row, layer('b')],
    facts: { config: { activation_threshold_method: 'NOCLIPPING' } as const },
  };
  expect(first(given)?.sentence).toMatch(
    /block\.act reach 128.* 2\d standard deviations.* 9\.5.dB, 40.% of the output/,
  );
  expect(first(given)?.change).toEqual({ kind: 'field', name: 'activation_threshold_method', value: 'MSE' });
  const cut = { ...given, facts: { config: { activation_threshold_method: 'MSE' } as const } };
  expect(first(cut)?.change).toEqual({ kind: 'field', name: 'z_threshold', value: 12 });
  // the values at the end of a Softmax are its answers
  expect(advise(factsOf({ ...given, layers: [{ ...row, op: 'Softmax' }, layer('b')] }))).toEqual([]);
});

it('counts operators in float in a whole sentence', () => {
  const stays = (n: number) =>
    Array.from({ length: n }, (_, k) => ({
      name: `n${k}`,
      op: 'ArgMax',
      reason: 'The platform has no kernel for it.',
    }));
  const said = (n: number) =>
    first({ report: { coverage: { ...coverage, stays_float: stays(n) } } as Partial<Report> })?.sentence;
  expect(said(1)).toBe('1 operator stays in float and multiplies no matrices.');
  expect(said(2)).toBe('2 operators stay in float, none of them multiplies matrices.');
});

it('finds class folders that nothing says the outputs of, and none is right', () => {
  const byOrder = { folders: 10, outputs: 1001 };
  const float = { count: 5, correct: 0, value: 0, chance: 1 / 1001, interval: { lower: 0, upper: 0.43, level: 0.95 } };
  const found = floatFault({ ...factsOf({ float }), byOrder });
  expect(found?.sentence).toMatch(/0\.00.% on 5 samples: the 10 class folders were taken for outputs 0 to 9 of 1001/);
  expect(found?.change).toEqual({ kind: 'show-mapping' });
  expect(floatFault({ ...factsOf({ float }), byOrder: null })).toBe(null);
  const right = { ...float, correct: 4, value: 0.8, interval: { lower: 0.38, upper: 0.96, level: 0.95 } };
  expect(floatFault({ ...factsOf({ float: right }), byOrder })).toBe(null);
});

it('row 17: finds a concatenation of unlike ranges', () => {
  const parts = [
    { axis: 1, indices: '0 to 3', largest: 640, sqnr_db: 40 },
    { axis: 1, indices: '4 to 83', largest: 1, sqnr_db: 3.2 },
  ];
  const layers = [layer('conv'), layer('join', { op: 'Concat', output: 'out' })];
  const found = first({ layers, outputs: [{ ...output, parts }] });
  expect(found?.sentence).toMatch(
    /The small values of out keep 3\.2.* 4 to 83 of axis 1 reach to 1\.00, the others to 640/,
  );
  expect(found?.change).toEqual({ kind: 'float', name: 'join' });
});

it('row 17: finds depthwise weights that share a scale', () => {
  const layers = [layer('dw', { weight_max: [0.001, 0.5, 0.4] }), layer('b')];
  const found = first({ layers, facts: { config: { weights_per_channel_threshold: false } } });
  expect(found?.sentence).toMatch(/dw are 500 times/);
  expect(found?.change).toEqual({ kind: 'field', name: 'weights_per_channel_threshold', value: true });
  expect(first({ layers, facts: { config: { weights_per_channel_threshold: true } } })).toBeUndefined();
});

it('row 17: finds too few samples, and takes more where there are', () => {
  expect(first({ facts: { calibration: 4, usualCalibration: 50 } })?.change).toEqual({
    kind: 'calibration',
    count: 50,
  });
  expect(first({ facts: { calibration: 2, usualCalibration: 2 } })?.change).toEqual({ kind: 'samples' });
});

it('row 8: finds wrong preprocessing before anything else', () => {
  const trial = { best: 'imagenet', samples: 32, is_chance: false, tried: [{ name: 'imagenet', right: 29 }] };
  const facts = { trial, isOtherThanBest: true, calibration: 3 };
  const chance = first({ facts, float: { value: 0.11, interval: { lower: 0.07, upper: 0.16, level: 0.95 } } });
  expect(chance?.sentence).toMatch(
    /Float accuracy is 11\.00.% on 200 samples, chance is 10\.0.%; .* 29 of 32 are right/,
  );
  expect(chance?.change).toEqual({ kind: 'preprocessing' });
  expect(first({ facts, float: { value: 0.41 } })?.change).toEqual({ kind: 'preprocessing' });
  expect(first({ facts: { trial }, float: { value: 0.41 } })).toBeUndefined();
});

it('row 8: stops the job for what is wrong with the samples, and for nothing else', () => {
  const low = { value: 0.11, interval: { lower: 0.07, upper: 0.16, level: 0.95 } };
  expect(floatFault(factsOf({ float: low }))?.id).toBe('at-chance');
  // seven answers tell nothing
  expect(floatFault(factsOf({ float: { ...low, count: 7 } }))).toBe(null);
  expect(floatFault(factsOf({ facts: { calibration: 3 } }))).toBe(null);
  expect(floatFault(factsOf({ float: { label_shift: 1 } }))?.id).toBe('labels-off-by-one');
});

it('offers a guessed preset first where the file cannot be used', () => {
  const report = { verdict: { usability: 'not usable' } } as Partial<Report>;
  expect(first({ report, facts: { isGuess: true, calibration: 3 } })?.id).toBe('guessed-preprocessing');
  expect(first({ report, facts: { calibration: 3 } })?.id).toBe('few-samples');
});

it('row 17: finds labels that are off by one', () => {
  expect(first({ float: { label_shift: 1 } })?.change).toEqual({ kind: 'label-shift', by: 1 });
});

it('row 17: finds CPUs without VNNI where the platform is one of them', () => {
  const saturation = [{ name: 'conv', op: 'Conv', sums: 1000, saturated: 160 }];
  expect(first({ saturation })?.change).toEqual({ kind: 'platform', name: 'ort-cpu-avx2' });
  expect(first({ saturation, report: { platform: { name: 'imx500', version: 1 } } })).toBeUndefined();
});

it('row 17: says that int8 is not faster', () => {
  const time = {
    float_ms: 0.2,
    quantized_ms: 0.25,
    times_as_fast: 0.8,
    runtime: 'ONNX Runtime',
    machine: '',
    sentence: '',
  };
  expect(first({ report: { time } })?.change).toEqual({ kind: 'field', name: 'prefer', value: 'SPEED' });
  expect(first({ report: { time: { ...time, times_as_fast: 1.6 } } })).toBeUndefined();
});

it('row 17: says what stays in float, whether that matters, and why', () => {
  const stays_float = [{ name: 'x', op: 'Conv', reason: 'Its group is odd.' }];
  const found = first({ report: { coverage: { ...coverage, stays_float, integer_core_nodes: 3 } } });
  expect(found?.sentence).toBe('1 operator stays in float, 1 of 4 core nodes among them.');
  expect(found?.reason).toMatch(/Its group is odd/);
});

it('row 17: keeps one sensitive layer in float, and gives the first layer 8 bits', () => {
  expect(first({ layers: [layer('a', { error_share: 0.7 }), layer('b')] })?.change).toEqual({
    kind: 'float',
    name: 'a',
  });
  const weight_max = [1];
  const layers = ['a', 'b', 'c', 'd', 'e'].map((name, k) =>
    layer(name, { weight_max, error_share: k === 0 ? 0.4 : 0.1 }),
  );
  expect(first({ layers, facts: { config: { weights_n_bits: 4 } } })?.change).toEqual({
    kind: 'bits',
    name: 'a',
    bits: 8,
  });
});
