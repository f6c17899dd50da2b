// SPDX-License-Identifier: Apache-2.0
// The float engine against onnxruntime-web in one page of Chromium, one thread each, on the zoo's trained models. Samples
// are the labelled models' own; of the others, seeded values.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { labelledModels, makeSamples, sharedFolder } from '../zoo/samples.mjs';
import { withPages } from './pages.mjs';
import { failure, geometricMean, row } from './rows.mjs';

/** Inputs that a model leaves too open. */
const inputs = {
  'silero-vad-16k': { input: { dims: [1, 576] }, state: { dims: [2, 1, 128] }, sr: { dims: [], value: 16000 } },
};

/** Sums in another order: deep nets without normalization move by more than single operators. */
const mostApart = 1e-3;

async function compare(pages, id, rounds) {
  const name = `float ${id}, Chromium, against onnxruntime-web`;
  const given = { ...inputs[id] };
  if (labelledModels.includes(id)) makeSamples(sharedFolder, id);
  const npy = labelledModels.includes(id) ? `/samples/${id}/calib/0000.npy` : null;
  try {
    const { ours, theirs, apart } = await pages.with('engine_page.mjs', (page) =>
      page.evaluate((options) => window.measure(options), {
        model: `/zoo/${id}/model.onnx`,
        inputs: given,
        npy,
        rounds,
      }),
    );
    if (!(apart < mostApart)) return failure(name, `outputs are ${apart} of their range apart`);
    return row(name, ours, theirs, 1.0);
  } catch (error) {
    return failure(name, error.message.split('\n')[0]);
  }
}

export async function benchZoo({ root, nets, rounds, models, report }) {
  const zoo = path.join(sharedFolder, 'zoo');
  if (!existsSync(zoo)) {
    console.log('skipped: the zoo against onnxruntime-web (TERSOR_SHARED is not here)');
    return [];
  }
  const ids = readdirSync(zoo).filter((id) => existsSync(path.join(zoo, id, 'model.onnx')) && models(id));
  return withPages({ root, nets, shared: sharedFolder }, async (pages) => {
    const rows = [];
    for (const id of ids) {
      rows.push(await compare(pages, id, rounds));
      report(rows.at(-1));
    }
    const measured = rows.filter((one) => one.ratio > 0);
    rows.push(geometricMean(`float, Chromium, ${measured.length} models of the zoo`, measured, 1.4));
    report(rows.at(-1));
    return rows;
  });
}
