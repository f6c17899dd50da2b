// SPDX-License-Identifier: Apache-2.0
//
// What the help shows, computed by the core when the help is opened: the bundled model, quantized on sixteen of its pictures.

import type { Comparison, EvaluationResult, LayerRow, RangeFigures, RangeStudy, Report, WeightChannels } from 'tersor';

import { demoParts } from '../engine/demo';
import { comparePaths } from '../job/intake';
import type { Engine } from '../job/state';
import { unzip } from '../job/aside';

export interface Lesson {
  readonly report: Report;
  readonly comparison: Comparison;
  readonly float: EvaluationResult;
  readonly int8: EvaluationResult;
  /** The layer that is looked at, and its range with fewer and fewer bits. */
  readonly layer: LayerRow;
  readonly studies: readonly { readonly bits: number; readonly study: RangeStudy; readonly chosen: RangeFigures }[];
  readonly channels: WeightChannels;
  readonly shared: WeightChannels;
}

const calibrated = 16;
const bitsShown = [8, 6, 4, 3, 2];

async function compute(engine: Engine): Promise<Lesson> {
  const { about, model, samples } = await demoParts();
  const files = (await unzip({ path: about.samples, data: samples }))
    .map(({ path, data }) => ({ path, data }))
    .sort((a, b) => comparePaths(a.path, b.path));
  const { preprocessing } = about;
  const calibration = { part: 'calibration', count: calibrated } as const;
  const rest = { part: 'evaluation', count: calibrated } as const;
  const open = await engine.open(model);
  const made = await open.quantize({ samples: files, preprocessing, selection: calibration });
  const float = await open.evaluate(files, 'folders', { preprocessing, selection: rest });
  const int8 = await made.evaluate(files, 'folders', { preprocessing, selection: rest, reference: float });
  const comparison = await made.compare(files, { preprocessing, selection: rest, limit: calibrated });
  const layers = comparison.layers.filter((row) => row.histogram && row.range && row.weight_max);
  const layer = layers.toSorted((a, b) => b.error_share - a.error_share)[0];
  if (!layer?.range) throw new Error('The bundled model has no layer with a histogram.');
  const [low] = layer.range;
  const studies = [];
  for (const bits of bitsShown) {
    const question = { tensor: layer.output, method: 'UNIFORM', n_bits: bits, is_signed: low < 0 } as const;
    const study = await made.studyRange(question);
    const chosen = study.choices.find(({ method }) => method === 'Lp') ?? study.choices[0];
    studies.push({ bits, study, chosen: chosen?.figures ?? (await study.at(...layer.range)) });
  }
  const channels = await open.weightChannels(layer.name);
  const shared = await open.weightChannels(layer.name, { config: { weights_per_channel_threshold: false } });
  return { report: made.report, comparison, float, int8, layer, studies, channels, shared };
}

let known: Promise<Lesson> | null = null;

/** Once for the page; asked again where it failed. */
export function lesson(engine: Engine): Promise<Lesson> {
  known ??= compute(engine).catch((error: unknown) => {
    known = null;
    throw error;
  });
  return known;
}
