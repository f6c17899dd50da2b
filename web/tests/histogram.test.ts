// SPDX-License-Identifier: Apache-2.0

import type { LayerRow } from 'tersor';
import { expect, it } from 'vitest';

import { binsOf } from '../src/ui/HistogramPlot';
import { layersShown } from '../src/ui/Layers';

const row = (more: Partial<LayerRow>): LayerRow => ({
  name: 'conv1',
  op: 'Conv',
  detail: '',
  output: 'a',
  isolated_sqnr_db: 40,
  accumulated_sqnr_db: 30,
  error_share: 0.1,
  range: [-1, 1],
  scale: 0.01,
  zero_point: 0,
  type: 'uint8',
  values: 10,
  lost: 0,
  histogram: null,
  weight_max: null,
  ...more,
});

it('marks the bins beyond the cuts as lost and leaves empty ends out', () => {
  const bins = binsOf(row({ histogram: { lower: -3, bin_width: 1, counts: [0, 2, 5, 6, 3, 1, 0] } }));
  expect(bins.map((bin) => [bin.from, bin.to, bin.n, bin.lost])).toEqual([
    [-2, -1, 2, true],
    [-1, 0, 5, false],
    [0, 1, 6, false],
    [1, 2, 3, true],
    [2, 3, 1, true],
  ]);
});

it('sorts layers by error or leaves them in order, and finds them by name, operator and output', () => {
  const rows = [
    row({ name: 'x', error_share: 0.1 }),
    row({ name: 'y', error_share: 0.9, op: 'Gemm' }),
    row({ name: 'z', error_share: 0.5, output: 'logits' }),
  ];
  expect(layersShown(rows, '', true).map((r) => r.name)).toEqual(['y', 'z', 'x']);
  expect(layersShown(rows, '', false).map((r) => r.name)).toEqual(['x', 'y', 'z']);
  expect(layersShown(rows, 'gemm', true).map((r) => r.name)).toEqual(['y']);
  expect(layersShown(rows, 'LOGITS', true).map((r) => r.name)).toEqual(['z']);
});
