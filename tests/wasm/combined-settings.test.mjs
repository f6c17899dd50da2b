// SPDX-License-Identifier: Apache-2.0
//
// The same words make the same file through the program and through the package: a recipe, and what is given beside it.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Tersor } from '../../wasm/dist/index.js';
import { writeJob } from '../cli/job.mjs';
import { emptyFolder, program } from './jobs.mjs';

const folder = emptyFolder('combined-settings');
const { model: modelFile, samples: sampleFile } = writeJob(folder);
const samples = [{ path: 'samples.csv', data: readFileSync(sampleFile) }];
const perChannel = (value) => ({ type: 'MatMul', config: { weights_per_channel_threshold: value } });

/** What is given beside the recipe, as the package's call takes it. */
const beside = {
  nothing: {},
  'another field of the configuration': { config: { z_threshold: 5 } },
  'the field that the recipe sets': { config: { effort: 1, weights_threshold_method: 'MSE' } },
  'a preset': { preset: 'requirements' },
  'a preset and a field': { preset: 'requirements', config: { l_p_value: 4 } },
  'an override of the same operators': { overrides: [perChannel(true)] },
  'the override that the recipe has': { overrides: [perChannel(false)] },
  'FrameworkInfo with another field': { frameworkInfo: { no_quantization_ops: ['Exp'] } },
  'FrameworkInfo with the same field': { frameworkInfo: { kernel_ops: ['MatMul'] } },
  'another platform': { platform: 'tensorrt' },
  everything: {
    platform: 'tensorrt',
    config: { z_threshold: 5 },
    overrides: [perChannel(true)],
    frameworkInfo: { no_quantization_ops: ['Exp'] },
  },
};

function natively(more) {
  const output = path.join(folder, 'out.onnx');
  const recipe = path.join(folder, 'out.json');
  const done = spawnSync(
    program,
    ['quantize', modelFile, '--data', sampleFile, '-o', output, '--save-recipe', recipe, ...more],
    { encoding: 'utf8' },
  );
  expect(done.stderr.replace(/^note: .*\n/gm, '')).toBe('');
  return { model: readFileSync(output), recipe: JSON.parse(readFileSync(recipe, 'utf8')) };
}

/** The same words as options of the program. */
function words({ platform, preset, config, overrides = [], frameworkInfo }) {
  const file = path.join(folder, 'config.json');
  if (config) writeFileSync(file, JSON.stringify(config));
  return [
    ...(platform ? ['--platform', platform] : []),
    ...(preset ? ['--preset', preset] : []),
    ...(config ? ['--config', file] : []),
    ...overrides.flatMap((one) => ['--override', JSON.stringify(one)]),
    ...(frameworkInfo ? ['--framework-info', JSON.stringify(frameworkInfo)] : []),
  ];
}

let tersor, model, recipe, recipeFile;
beforeAll(async () => {
  tersor = await Tersor.create({ workers: 1 });
  model = await tersor.open(readFileSync(modelFile));
  ({ recipe } = natively(
    words({
      config: { effort: 0 },
      overrides: [perChannel(false)],
      frameworkInfo: { kernel_ops: ['MatMul', 'Gemm'] },
    }),
  ));
  recipeFile = path.join(folder, 'recipe.json');
  writeFileSync(recipeFile, JSON.stringify(recipe));
});
afterAll(() => tersor?.close());

describe('beside a recipe', () => {
  for (const [name, given] of Object.entries(beside)) {
    test(name, async () => {
      const native = natively(['--recipe', recipeFile, ...words(given)]);
      const made = await model.quantize({ samples, recipe, ...given });
      made.close();
      expect(made.recipe).toEqual(native.recipe);
      expect(Buffer.from(made.model).equals(native.model)).toBe(true);
      if (!given.preset && given.config?.effort === undefined) expect(made.recipe.quantization_config.effort).toBe(0);
    });
  }
});
