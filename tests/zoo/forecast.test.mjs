// SPDX-License-Identifier: Apache-2.0
// What the page's card says of a model and a platform before any sample is what the file turns out to be, but for front ends whose statistics keep
// them in float: of these it says how many there may be.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';

import { Tersor } from '../../wasm/dist/index.js';
import { labelledModels, sharedFolder, zooSamples } from './samples.mjs';

const here = existsSync(path.join(sharedFolder, 'zoo'));
if (!here) console.log('skipped: forecasts of the labelled models (TERSOR_SHARED is not here)');

let tersor;
beforeAll(async () => (tersor = await Tersor.create({ workers: 1 })));
afterAll(() => tersor?.close());

describe('the forecast is the result', () => {
  test.skipIf(!here).each(labelledModels)('%s', async (id) => {
    const model = await tersor.open(readFileSync(path.join(sharedFolder, 'zoo', id, 'model.onnx')));
    const { calibration } = zooSamples(sharedFolder, id, 3);
    const samples = readdirSync(calibration)
      .filter((name) => name.endsWith('.npy'))
      .sort()
      .slice(0, 3)
      .map((name) => ({ path: name, data: readFileSync(path.join(calibration, name)) }));
    const config = { effort: 0, weights_bias_correction_method: 'ANALYTIC', allow_larger_file: true };
    let compared = 0;
    for (const { name, version } of tersor.platforms()) {
      const platform = `${name}@v${version}`;
      const forecast = await model.coverage({ platform, config });
      const { report } = await model.quantize({ samples, platform, config });
      const foretold = new Set(forecast.stays_float.map((one) => one.name));
      const surprises = report.coverage.stays_float.filter(
        (one) => !foretold.has(one.name) && !/magnifies the errors/.test(one.reason),
      );
      assert.deepEqual(surprises, [], platform);
      const bySamples = report.coverage.stays_float.filter((one) => /magnifies the errors/.test(one.reason)).length;
      assert(bySamples <= forecast.may_stay_float, `${platform}: ${bySamples} of ${forecast.may_stay_float}`);
      assert.equal(report.coverage.may_stay_float, 0, platform);
      assert.equal(forecast.core_nodes, report.coverage.core_nodes, platform);
      ++compared;
    }
    assert(compared > 12);
  });
});
