// SPDX-License-Identifier: Apache-2.0
//
// Every platform over the labelled models: the file that the package makes in Node is the one that it makes in Chromium and that
// the native program makes by its recipe, and what one refuses the others refuse in the same words. Four samples each: what
// differs between machines differs with few samples too.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Tersor } from '../../wasm/dist/index.js';
import { emptyFolder, filesUnder, jobs, program } from './jobs.mjs';
import { openPage } from './page/open.mjs';

const count = 4;

let engine, page;
beforeAll(async () => {
  engine = await Tersor.create({ workers: 2 });
  page = await openPage();
}, 60_000);
afterAll(async () => {
  engine?.close();
  await page?.close();
});

/** What the package makes of a model for a platform: the result, or the error that refuses it. */
async function inNode(model, samples, job, platform) {
  try {
    return await model.quantize({
      samples,
      selection: { part: 'calibration', count },
      platform,
      ...(job.preprocessing ? { preprocessing: job.preprocessing } : {}),
    });
  } catch (error) {
    if (error.name !== 'TersorError') throw error;
    return error;
  }
}

/** The native program: its exit code, and its error as JSON. */
function natively(job, folder, work, args) {
  const output = path.join(work, 'out.onnx');
  const all = ['quantize', job.model, '--data', folder, '--threads', '2', '-o', output, '--json', ...args];
  const { status, stdout, stderr } = spawnSync(program, all, { encoding: 'utf8', maxBuffer: 1 << 28 });
  return { status, output, stdout, stderr };
}

describe('every platform: the same bytes by the recipe', () => {
  for (const job of jobs()) {
    test.skipIf(job.missing !== '')(`${job.name}${job.missing && ` (skipped: ${job.missing})`}`, async () => {
      const folder = job.data();
      const work = emptyFolder(`platforms-${job.name}`);
      const samples = filesUnder(folder).map((name) => ({ path: name, data: readFileSync(path.join(folder, name)) }));
      const model = await engine.open(readFileSync(job.model));
      const platforms = engine.platforms().map(({ name, version }) => `${name}@v${version}`);
      expect(platforms.length).toBeGreaterThan(11);
      const inPage = await page.quantize(job, folder, filesUnder(folder), { count, workers: 2, platforms });
      const made = [];
      for (const [k, platform] of platforms.entries()) {
        const ours = await inNode(model, samples, job, platform);
        const said = ours instanceof Error ? ours.message : createHash('sha256').update(ours.model).digest('hex');
        expect(inPage[k], `${platform} in Chromium`).toBe(said);
        if (ours instanceof Error) {
          const more = ['--platform', platform, '--limit', String(count)];
          const theirs = natively(job, folder, work, more);
          expect(theirs.status, platform).toBe(1);
          expect(theirs.stdout + theirs.stderr, platform).toContain(ours.message);
          continue;
        }
        const recipe = path.join(work, 'recipe.json');
        writeFileSync(recipe, JSON.stringify(ours.recipe));
        const theirs = natively(job, folder, work, ['--recipe', recipe]);
        expect(theirs.status, `${platform}: ${theirs.stderr}`).toBe(0);
        expect(readFileSync(theirs.output).equals(ours.model), platform).toBe(true);
        made.push(platform);
        ours.close();
      }
      model.close();
      expect(made).toEqual(expect.arrayContaining(['ort-cpu@v1', 'imx500@v1', 'tflite@v1', 'weight-only-int8@v1']));
    });
  }
});
