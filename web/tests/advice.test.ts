// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from 'vitest';

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
  sample_range: null,
  median_cosine: 1,
  error_to_spread: 0,
  kept: null,
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
  readonly without_vnni?: Comparison['without_vnni'];
  readonly float?: Partial<EvaluationResult>;
  readonly report?: Partial<Report>;
  readonly facts?: Partial<Facts>;
}

function factsOf(given: Given): Facts {
  const comparison: Comparison = {
    samples: 64,
    distinct: 64,
    layer_samples: 64,
    output_sqnr_db: 20,
    median_sqnr_db: 20,
    outputs: given.outputs ?? [output],
    unusual_samples: [],
    agreement: null,
    layers: given.layers ?? [layer('a'), layer('b')],
    saturation: given.saturation ?? [],
    without_vnni: given.without_vnni ?? null,
    float_sums: [],
  };
  const float: EvaluationResult = {
    metric: 'top1',
    count: 200,
    correct: 180,
    value: 0.9,
    interval: { lower: 0.85, upper: 0.94, level: 0.95 },
    chance: 0.1,
    sureness: null,
    doubt: null,
    label_shift: null,
    label_order: null,
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
    order: null,
    isOfFolders: true,
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
    { axis: 1, indices: '0 to 3', largest: 640, sqnr_db: 40, kind: 'boxes' as const },
    { axis: 1, indices: '4 to 83', largest: 1, sqnr_db: 3.2, kind: 'scores' as const },
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
  const chance = first({ facts, float: { value: 0.11, doubt: 'guessing' } });
  expect(chance?.sentence).toMatch(
    /Float accuracy is 11\.00.% on 200 samples, chance is 10\.0.%; .* 29 of 32 are right/,
  );
  expect(chance?.change).toEqual({ kind: 'preprocessing' });
  expect(first({ facts, float: { value: 0.41 } })?.change).toEqual({ kind: 'preprocessing' });
  expect(first({ facts: { trial }, float: { value: 0.41 } })).toBeUndefined();
});

it('row 8: stops the job for what is wrong with the samples, and for nothing else', () => {
  expect(floatFault(factsOf({ float: { value: 0.11, doubt: 'guessing' } }))?.id).toBe('at-chance');
  expect(floatFault(factsOf({ float: { value: 0.14, count: 7 } }))).toBe(null);
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
    elsewhere: [],
    measured: false,
    timed: [],
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

const sentence = (id: string, given: Given) => advise(factsOf(given)).find((one) => one.id === id)?.sentence ?? null;
const interval = (lower: number) => ({ lower, upper: 0.9, level: 0.95 });

describe('what a histogram holds', () => {
  it('has the mean, the deviation and the ends of what was counted', () => {
    // values -1 and 3, thrice and once
    const counts = [0, 3, 0, 0, 0, 1, 0];
    const spread = spreadOf({ histogram: { lower: -2.5, bin_width: 1, counts } });
    expect(spread).toEqual({ mean: 0, deviation: Math.sqrt(3), low: -1.5, high: 3.5 });
    expect(spreadOf({ histogram: { lower: 1, bin_width: 2, counts: [2] } })).toEqual({
      mean: 2,
      deviation: 0,
      low: 1,
      high: 3,
    });
  });

  it('says nothing of none', () => {
    expect(spreadOf({ histogram: null })).toBeNull();
    expect(spreadOf({ histogram: { lower: 0, bin_width: 1, counts: [0, 0] } })).toBeNull();
  });
});

describe('float accuracy', () => {
  it('is doubted with the reason', () => {
    const at = (doubt: EvaluationResult['doubt']) =>
      sentence('at-chance', { float: { value: 0.5, count: 16, sureness: 0.91, doubt } });
    const begin = 'First get float right. Float accuracy is 50.00 % on 16 samples, chance is 10.0 %';
    const plain = (text: string | null) => text?.replaceAll(/\s/g, ' ');
    expect(plain(at('guessing'))).toBe(`${begin}.`);
    expect(plain(at('weak'))).toBe(`${begin}, and a trained model has far more.`);
    expect(plain(at('overconfident'))).toBe(
      `${begin}, and the model is 91 % sure of its answers: a trained one is about as often right as it is sure.`,
    );
    expect(at(null)).toBeNull();
  });

  it('tells nothing where one of its figures is not known', () => {
    const low = { value: 0.1, interval: interval(0.01), doubt: 'guessing' as const };
    for (const unknown of [{ value: null }, { chance: null }])
      for (const byOrder of [null, { folders: 2, outputs: 10 }])
        expect(floatFault({ ...factsOf({ float: { ...low, ...unknown } }), byOrder })).toBeNull();
  });

  it('is set against the trial where another preset than its best is in force', () => {
    const low = { value: 0.1, interval: interval(0.01), doubt: 'guessing' as const };
    const trial = { best: 'unit', samples: 40, is_chance: false, tried: [{ name: 'unit', right: 30 }] };
    const id = (more: Partial<Facts>) => first({ float: low, facts: more })?.id;
    expect(id({ trial, isOtherThanBest: true })).toBe('wrong-preprocessing');
    expect(id({ trial, isOtherThanBest: false })).toBe('at-chance');
    expect(id({ trial: { ...trial, is_chance: true }, isOtherThanBest: true })).toBe('at-chance');
  });

  it('is low where the best preset had 10 points more right', () => {
    const trial = { best: 'unit', samples: 100, is_chance: false, tried: [{ name: 'unit', right: 60 }] };
    const said = (value: number | null, more: Partial<typeof trial> = {}, isOtherThanBest = true) =>
      sentence('wrong-preprocessing', { float: { value }, facts: { trial: { ...trial, ...more }, isOtherThanBest } });
    expect(said(0.5)).toMatch(/50\.00.%; with the preset unit 60 of 100 samples were right/);
    expect(said(0.51)).toBeNull();
    expect(said(null)).toBeNull();
    expect(said(0.4, { is_chance: true })).toBeNull();
    expect(said(0.4, { best: 'raw' })).toBeNull();
    expect(said(0.4, {}, false)).toBeNull();
  });

  it('asks what folders stand for only where its interval reaches down to chance', () => {
    const byOrder = { folders: 3, outputs: 10 };
    const fault = (lower: number, more: Partial<Facts> = {}) =>
      floatFault({ ...factsOf({ float: { value: 0.1, interval: interval(lower), count: 5 } }), byOrder, ...more })?.id;
    expect(fault(0.1)).toBe('unmapped-classes');
    expect(fault(0.11)).toBeUndefined();
    const trial = { best: 'unit', samples: 9, is_chance: true, tried: [] };
    expect(fault(0.1, { trial })).toBe('unmapped-classes');
    expect(fault(0.1, { trial: { ...trial, is_chance: false } })).toBeUndefined();
  });

  it('shifts numbers of a file rather than calling them reordered', () => {
    const order = { outputs: new Map([[0, 1]]), correct: 9, before: 0, count: 9, preset: null, examples: [] };
    const id = (label_shift: number | null) =>
      first({ float: { label_shift }, facts: { order, isOfFolders: false } })?.id;
    expect([id(1), id(null)]).toEqual(['labels-off-by-one', 'labels-reordered']);
  });

  it('says which way labels are off', () => {
    const off = (label_shift: number) => first({ float: { label_shift } });
    expect(off(1)).toMatchObject({ word: 'Shift labels by +1', change: { by: 1 } });
    expect(off(-1)).toMatchObject({ word: 'Shift labels by −1', change: { by: -1 } });
    expect(off(-1)?.sentence).toContain('with −1 on every label');
    expect(off(-1)?.reason).toMatch(/count from 1/);
  });
});

it('asks to check a guess only where the file is not usable as it is', () => {
  const of = (usability: string, isGuess: boolean) =>
    advise(factsOf({ report: { verdict: { usability } } as Partial<Report>, facts: { isGuess } })).length;
  expect(of('usable with care', true)).toBe(1);
  expect(of('usable', true)).toBe(0);
  expect(of('not usable', false)).toBe(0);
  expect(advise(factsOf({ facts: { isGuess: true } }))).toEqual([]);
});

it('counts fewer than 32 samples as few, and takes more only where there are more', () => {
  const few = (calibration: number, usualCalibration: number) => first({ facts: { calibration, usualCalibration } });
  expect(few(32, 100)).toBeUndefined();
  expect(few(31, 100)).toMatchObject({ sentence: '31 samples set the ranges; 32 to 128 are usual.' });
  expect(few(1, 100)?.sentence).toMatch(/^1 sample sets the ranges/);
  expect(few(10, 10)?.change).toEqual({ kind: 'samples' });
  expect(few(10, 11)?.change).toEqual({ kind: 'calibration', count: 11 });
});

it('keeps a layer in float that makes more than half of the error', () => {
  const said = (error_share: number, more: Partial<LayerRow> = {}) =>
    sentence('one-layer', { layers: [layer('a', { error_share: 0.2 }), layer('b', { error_share, ...more })] });
  expect(said(0.51)).toMatch(/^51.% of the output error comes from b \(Conv\)/);
  expect(said(0.5)).toBeNull();
  expect(said(0.9, { range: null })).toBeNull();
  expect(sentence('one-layer', { layers: [] })).toBeNull();
  const exact = factsOf({ layers: [layer('b', { error_share: 0.9 })] });
  expect(advise({ ...exact, comparison: { ...exact.comparison, output_sqnr_db: null } })).toEqual([]);
});

describe('outliers', () => {
  /** `n` values at -1 and at 1, and one at `far`: a deviation of nearly 1, a mean of nearly 0. */
  function spread(far: number, more: Partial<LayerRow> = {}): LayerRow {
    const counts = Array.from({ length: 401 }, () => 0);
    counts[190] = 1e7;
    counts[210] = 1e7;
    counts[200 + 10 * far] = 1;
    return layer('wide', {
      histogram: { lower: -20.05, bin_width: 0.1, counts },
      range: [-Math.abs(far), Math.abs(far)],
      ...more,
    });
  }
  const found = (row: LayerRow, config: Facts['config'] = {}, others: readonly LayerRow[] = []) =>
    sentence('outliers', { layers: [row, ...others], facts: { config } });

  it('lie more than ten deviations from the mean, on either side', () => {
    expect(found(spread(10.4))).toMatch(/reach 10\.45, 10 standard deviations/);
    expect(found(spread(-10.4))).toMatch(/reach 10\.45, 10 standard deviations/);
    expect(found(spread(9.9))).toBeNull();
    expect(found(spread(-9.9))).toBeNull();
  });

  it('are measured from the mean, wherever that lies', () => {
    const { histogram } = spread(9.9);
    if (!histogram) throw new Error('no histogram');
    const up = spread(9.9, { histogram: { ...histogram, lower: histogram.lower + 100 }, range: [90, 110] });
    const down = spread(9.9, { histogram: { ...histogram, lower: histogram.lower - 100 }, range: [-110, -90] });
    expect([found(up), found(down)]).toEqual([null, null]);
  });

  it('count where the range holds them and they cost more than 2 % of the error', () => {
    expect(found(spread(16, { error_share: 0.021 }))).not.toBeNull();
    expect(found(spread(16, { error_share: 0.02 }))).toBeNull();
    expect(found(spread(16, { range: [-8, 7] }))).toBeNull();
    expect(found(spread(16, { range: [-8.1, 7] }))).not.toBeNull();
    expect(found(spread(16, { range: [-7, 8.1] }))).not.toBeNull();
    expect(found(spread(16, { range: null }))).toBeNull();
    expect(found(spread(16, { histogram: { lower: 0, bin_width: 1, counts: [5] } }))).toBeNull();
  });

  it('are told of the layer that costs most', () => {
    const other = spread(12, { name: 'worse', error_share: 0.4 });
    expect(found(spread(16), {}, [other])).toMatch(/^Values of worse reach/);
    expect(found(other, {}, [spread(16)])).toMatch(/^Values of worse reach/);
  });

  it('are left alone where both ways to cut them are in force', () => {
    const row = spread(16);
    expect(found(row, { activation_threshold_method: 'MSE', z_threshold: 12 })).toBeNull();
    expect(found(row, { activation_threshold_method: 'NOCLIPPING', z_threshold: 12 })).not.toBeNull();
    expect(first({ layers: [row], facts: { config: {} } })?.word).toBe('Drop outliers beyond 12 deviations');
    expect(first({ layers: [row], facts: { config: { activation_threshold_method: 'NOCLIPPING' } } })?.word).toBe(
      'Cut with MSE',
    );
  });
});

describe('parts of unlike size', () => {
  const part = (indices: string, largest: number) => ({
    axis: 1,
    indices,
    largest,
    sqnr_db: 3,
    kind: 'values' as const,
  });
  const join = layer('join', { op: 'Concat', output: 'out' });
  const said = (sizes: readonly number[], layers: readonly LayerRow[] = [join]) =>
    first({ layers, outputs: [{ ...output, parts: sizes.map((size, k) => part(`part ${k}`, size)) }] });

  it('differ by a factor of 8 or more, zeros aside', () => {
    expect(said([8, 1])?.sentence).toMatch(/part 1 of axis 1 reach to 1\.00, the others to 8\.00/);
    expect(said([7.9, 1])).toBeUndefined();
    expect(said([0, 8])).toBeUndefined();
    expect(said([0, 1, 8])?.sentence).toMatch(/part 1/);
    expect(said([8])).toBeUndefined();
    expect(said([])).toBeUndefined();
  });

  it('are joined by the operator of the output, or by the last Concat', () => {
    const change = (...layers: LayerRow[]) => said([80, 1], layers)?.change;
    const concat = (name: string) => layer(name, { op: 'Concat' });
    expect(change(concat('c1'), concat('c2'), layer('z'))).toEqual({ kind: 'float', name: 'c2' });
    expect(change(concat('c1'), layer('own', { output: 'out' }))).toEqual({ kind: 'float', name: 'own' });
    expect(change(layer('a'))).toBeUndefined();
    expect(change({ ...join, range: null })).toBeUndefined();
  });
});

it('finds channels of weights that differ by more than 100 under one scale', () => {
  const config = { weights_per_channel_threshold: false };
  const said = (...layers: LayerRow[]) => sentence('weights-per-tensor', { layers, facts: { config } });
  const of = (name: string, ...weight_max: number[]) => layer(name, { weight_max });
  expect(said(of('a', 1, 101))).toMatch(/of a are 101 times/);
  expect(said(of('a', 1, 100))).toBeNull();
  expect(said(of('a', 0, 100))).toBeNull();
  expect(said(of('a', 0, 0, 3))).toBeNull();
  expect(said(of('a', 1, 200), of('b', 1, 300), layer('c'))).toMatch(/of b are 300 times/);
  expect(said(of('b', 1, 300), of('a', 1, 200))).toMatch(/of b are 300 times/);
});

describe('the first and the last layer with weights', () => {
  const row = (name: string, error_share: number) => layer(name, { weight_max: [1], error_share });
  const five = (...shares: number[]) => shares.map((share, k) => row('abcdefgh'[k] ?? '', share));
  const said = (layers: readonly LayerRow[], weights_n_bits: number | null = 4, name = 'ort-cpu') =>
    sentence('first-or-last', {
      layers,
      facts: { config: { weights_n_bits } as Facts['config'] },
      report: { platform: { name, version: 1 } },
    });

  it('are given 8 bits where they are among the three worst', () => {
    expect(said(five(0.2, 0.1, 0.1, 0.1, 0.3))).toMatch(/^e, the last layer with weights, makes 30.% .* with 4 bits/);
    expect(said(five(0.3, 0.1, 0.1, 0.1, 0.2))).toMatch(/^a, the first layer with weights/);
    expect(said(five(0.15, 0.2, 0.2, 0.1, 0.1))).toMatch(/^a, the first/);
    expect(said(five(0.05, 0.2, 0.2, 0.2, 0.05))).toBeNull();
    expect(said([layer('input', { error_share: 0.4 }), ...five(0.2, 0.1, 0.1, 0.1)])).toMatch(/^a, the first/);
  });

  it('are not worth a word among three, with 8 bits, or where weights alone are integers', () => {
    const shares = five(0.3, 0.1, 0.1, 0.1);
    expect(said(shares)).not.toBeNull();
    expect(said(five(0.3, 0.1, 0.1))).toBeNull();
    expect(said(shares, 7)).not.toBeNull();
    expect(said(shares, 8)).toBeNull();
    expect(said(shares, null)).toBeNull();
    expect(said(shares, 4, 'weight-only-int4')).toBeNull();
  });
});

it('names the layer whose sums are cut off most on CPUs without VNNI', () => {
  const row = (name: string, saturated: number, sums = 1e6) => ({ name, op: 'Conv', sums, saturated });
  const said = (...saturation: ReturnType<typeof row>[]) => sentence('without-vnni', { saturation });
  expect(said(row('a', 1000), row('b', 5000), row('c', 1))).toMatch(/0\.5.% of the sums of b are cut off \(2 layers/);
  expect(said(row('b', 5000), row('a', 1000))).toMatch(/sums of b are cut off/);
  expect(said(row('a', 4, 2000), row('b', 500, 1e6))).toMatch(/sums of a are cut off/);
  expect(said(row('a', 2))).toMatch(/\(1 layer in all\)/);
  expect(said(row('a', 1))).toBeNull();
  expect(said(row('a', 3, 0))).toBeNull();
  const without_vnni = { output_sqnr_db: -2.7, agreement: { same: 6, count: 64 } };
  expect(sentence('without-vnni', { saturation: [row('a', 1000)], without_vnni })).toMatch(
    /: there the output has −2\.7.dB, and 6 of 64 answers are float’s\.$/,
  );
});

it('says that integers are not faster below 1.05, and what can be done about it', () => {
  const time = {
    float_ms: 2,
    quantized_ms: 1.9,
    times_as_fast: 1.04,
    runtime: 'ORT',
    machine: '',
    elsewhere: [],
    measured: false,
    timed: [],
    sentence: '',
  };
  expect(sentence('not-faster', { report: { time } })).toBe(
    'Int8 is expected to take 1.90 ms and float 2.00 ms in ORT: 1.04 times as fast.',
  );
  expect(sentence('not-faster', { report: { time: { ...time, times_as_fast: 1.05 } } })).toBeNull();
  const found = first({ report: { time }, facts: { config: { prefer: 'SPEED' } } });
  expect(found).toMatchObject({
    word: 'Quantize weights only',
    change: { kind: 'platform', name: 'weight-only-int8' },
  });
  expect(found?.reason).toMatch(/weights alone/);
  expect(first({ report: { time } })?.reason).toMatch(/preferring speed/);
});

it('gives the most frequent reason for what stays in float', () => {
  const node = (name: string, reason: string) => ({ name, op: 'Pad', reason });
  const stays_float = [node('a', 'One.'), node('b', 'Two.'), node('c', 'Two.'), node('d', 'Two.')];
  const with_ = (more: Partial<Coverage>, name = 'ort-cpu') =>
    first({ report: { coverage: { ...coverage, stays_float, ...more }, platform: { name, version: 1 } } });
  expect(with_({})).toMatchObject({
    sentence: '4 operators stay in float, none of them multiplies matrices.',
    reason: '3 of them: Two.',
  });
  expect(with_({ stays_float: [node('a', 'One.'), node('b', 'Two.'), node('c', 'One.')] })?.reason).toBe(
    '2 of them: One.',
  );
  expect(with_({ core_nodes: 10, integer_core_nodes: 3 })?.sentence).toMatch(/float, 7 of 10 core nodes among them/);
  expect(with_({}, 'weight-only-int8')).toBeUndefined();
});

it('gives no advice twice, the likeliest cause first', () => {
  const trial = { best: 'unit', samples: 40, is_chance: false, tried: [{ name: 'unit', right: 30 }] };
  const ids = advise(
    factsOf({
      float: { value: 0.1, interval: interval(0.01) },
      facts: { trial, isOtherThanBest: true, calibration: 4 },
      layers: [layer('a', { error_share: 0.9 })],
    }),
  ).map(({ id }) => id);
  expect(ids).toEqual(['wrong-preprocessing', 'one-layer', 'few-samples']);
});

describe('advice on an error', () => {
  const layers = [layer('squeeze', { op: 'Squeeze', error_share: 0.9 }), layer('conv', { error_share: 0.6 })];
  const comparisonOf = (same: number, count: number) => {
    const facts = factsOf({ layers });
    return { ...facts, comparison: { ...facts.comparison, agreement: { same, count } } };
  };
  const ids = (facts: Facts) => advise(facts).map(({ id }) => id);

  it('is given where answers were lost, and where too few were compared to say so', () => {
    expect(ids(comparisonOf(239, 240))).toEqual(['one-layer']);
    expect(ids(comparisonOf(240, 240))).toEqual([]);
    expect(ids(comparisonOf(15, 15))).toEqual(['one-layer']);
  });

  it('is not given where values are good enough as they are', () => {
    const of = (usability: string) =>
      factsOf({ layers, report: { verdict: { usability } } as unknown as Partial<Report> });
    expect(ids(of('usable'))).toEqual([]);
    expect(ids(of('usable with care'))).toEqual(['one-layer']);
  });

  it('names no operator that is a view of its input, or in float', () => {
    const rows = [{ op: 'Squeeze', domain: '', nodes: 1, support: 'moves', reason: '', mac_share: null } as const];
    const named = (stays: Coverage['stays_float']) =>
      advise(
        factsOf({ layers, report: { coverage: { ...coverage, rows, stays_float: stays } } as Partial<Report> }),
      ).find(({ id }) => id === 'one-layer')?.change;
    expect(named([])).toEqual({ kind: 'float', name: 'conv' });
    expect(named([{ name: 'conv', op: 'Conv', reason: '' }])).toBeUndefined();
  });
});

it('takes another order of the classes for the cause only where no other preset is', () => {
  const order = {
    outputs: new Map([[0, 1]]),
    correct: 90,
    before: 18,
    count: 100,
    preset: null,
    examples: [],
  };
  const found = floatFault({ ...factsOf({}), order });
  expect([found?.id, found?.change]).toEqual(['labels-reordered', { kind: 'label-order', order }]);
  const trial = { best: 'unit', samples: 40, is_chance: false, tried: [{ name: 'unit', right: 38 }] };
  const low = { value: 0.18, interval: { lower: 0.12, upper: 0.26, level: 0.95 } };
  expect(floatFault({ ...factsOf({ float: low, facts: { trial, isOtherThanBest: true } }), order })?.id).toBe(
    'wrong-preprocessing',
  );
});
