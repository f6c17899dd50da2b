// SPDX-License-Identifier: Apache-2.0
// What the page's card says of a model and a platform before any sample is what the file turns out to be, on every model of the zoo and every
// platform: which nodes stay float, how many core nodes run as integers, and the size. Front ends are the exception, whose statistics keep them
// in float: of these it says how many there may be.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';

import { Tersor } from '../../wasm/dist/index.js';
import { labelledModels, npyBytes, sharedFolder, zooSamples } from './samples.mjs';

const zoo = path.join(sharedFolder, 'zoo');
const here = existsSync(zoo);
if (!here) console.log('skipped: forecasts of the zoo (TERSOR_SHARED is not here)');

/** The float models, as <model>/<file>. */
const models = here
  ? JSON.parse(readFileSync(path.join(zoo, 'index.json'), 'utf8')).models.flatMap(({ id, files }) =>
      Object.keys(files)
        .filter((name) => /^model.*\.onnx$/.test(name))
        .map((name) => `${id}/${name}`),
    )
  : [];

/** Sizes that the zoo's models leave open. */
const free = { height: 320, width: 320, sequence: 576 };
/** A sample rate; nothing else of the zoo is an integer of 64 bits. */
const rate = 16000n;

/** Samples that the zoo has, else three of noise: what stays float follows from the graph. */
function samplesOf(id, info) {
  if (labelledModels.includes(id)) {
    const { calibration } = zooSamples(sharedFolder, id, 3);
    return readdirSync(calibration)
      .filter((name) => name.endsWith('.npy'))
      .sort()
      .slice(0, 3)
      .map((name) => ({ path: name, data: readFileSync(path.join(calibration, name)) }));
  }
  let seed = 1;
  const noise = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const array = ({ type, shape }) => {
    const dims = shape.map((dim) => (typeof dim === 'number' ? dim : (free[dim] ?? 1)));
    const length = dims.reduce((product, dim) => product * dim, 1);
    if (type === 'int64') return [BigInt64Array.from({ length }, () => rate), dims];
    if (type === 'int32') return [Int32Array.from({ length }, () => Math.floor(256 * noise())), dims];
    return [Float32Array.from({ length }, () => 2 * noise() - 1), dims];
  };
  return Array.from({ length: 3 }, (_, k) =>
    info.inputs.length === 1
      ? { path: `${k}.npy`, data: npyBytes(...array(info.inputs[0])) }
      : Object.fromEntries(info.inputs.map((input) => [input.name, array(input)[0]])),
  );
}

let tersor;
beforeAll(async () => (tersor = await Tersor.create({ workers: 1 })));
afterAll(() => tersor?.close());

const magnifies = ({ reason }) => /magnifies the errors/.test(reason);
/** Samples show how large the parts of a join are. */
const joins = ({ reason }) => /parts of unlike size/i.test(reason);
/** Of nodes that a kernel or a join left in float takes along. */
const follows = ({ reason }) => /input is in float|inputs is in float|reads its result|be fused into/.test(reason);

describe('the forecast is the result', () => {
  test.skipIf(!here).each(here ? models : ['the zoo'])('%s', async (file) => {
    const model = await tersor.open(readFileSync(path.join(zoo, file)));
    const samples = samplesOf(path.dirname(file), model.info);
    const config = { effort: 0, weights_bias_correction_method: 'ANALYTIC', allow_larger_file: true };
    let compared = 0;
    for (const { name, version } of tersor.platforms()) {
      const platform = `${name}@v${version}`;
      const forecast = await model.coverage({ platform, config });
      const quantized = await model.quantize({ samples, platform, config });
      const { coverage, output } = quantized.report;
      quantized.close();
      const foretold = new Set(forecast.stays_float.map((one) => one.name));
      const bySamples = coverage.stays_float.filter(magnifies).length;
      const withJoins = bySamples + coverage.stays_float.filter(joins).length;
      const surprises = coverage.stays_float.filter(
        (one) => !foretold.has(one.name) && !magnifies(one) && !joins(one) && !(withJoins > 0 && follows(one)),
      );
      assert.deepEqual(surprises, [], platform);
      assert(bySamples <= forecast.may_stay_float, `${platform}: ${bySamples} of ${forecast.may_stay_float}`);
      assert.equal(coverage.may_stay_float, 0, platform);
      assert.equal(forecast.core_nodes, coverage.core_nodes, platform);
      const most = forecast.estimated_largest_bytes;
      assert(output.size_bytes < 1.2 * most + 4096, `${platform}: ${output.size_bytes}, at most ${most}`);
      if (withJoins === 0) {
        const now = new Set(coverage.stays_float.map((one) => one.name));
        assert.deepEqual(
          [...foretold].filter((one) => !now.has(one)),
          [],
          platform,
        );
        assert.equal(forecast.integer_core_nodes, coverage.integer_core_nodes, platform);
        // names, scales and nodes are all there is of a file of a few kilobytes
        const apart = Math.abs(forecast.estimated_size_bytes - output.size_bytes);
        assert(
          apart < 0.2 * output.size_bytes + 4096,
          `${platform}: ${forecast.estimated_size_bytes} and ${output.size_bytes}`,
        );
      }
      ++compared;
    }
    model.close();
    assert(compared > 12);
  });
});
