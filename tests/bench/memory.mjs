// SPDX-License-Identifier: Apache-2.0
// A model of 100 MB: how long opening it takes and what memory, natively and in the tab, and the memory of calibrating it
// there with one worker. Needs Linux's /proc.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';

import { withPages } from './pages.mjs';
import { peakDuring } from './renderer.mjs';
import { limitRow } from './rows.mjs';

const samples = 4;

/** Milliseconds of `tersor inspect` as a whole process. */
function inspect(program, model) {
  const begin = performance.now();
  const { status, stderr } = spawnSync(program, ['inspect', model], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return performance.now() - begin;
}

function openNatively({ root, model, rounds }) {
  const program = path.join(root, 'build/native/bin/tersor');
  inspect(program, model); // from the disk
  return Array.from({ length: rounds }, () => inspect(program, model));
}

async function openInPage(pages, model, rounds) {
  return pages.with('package_page.mjs', async (page) => {
    await page.evaluate(() => window.start());
    await page.setInputFiles('input', model);
    const milliseconds = [];
    for (let k = -1; k < rounds; ++k) {
      const took = await page.evaluate(() => window.openChosen());
      if (k >= 0) milliseconds.push(took);
      await page.evaluate(() => window.closeModel());
    }
    return milliseconds;
  });
}

/** Above idle, in megabytes: opening, then calibrating. */
async function memoryInPage(pages, model) {
  return pages.with('package_page.mjs', async (page) => {
    await page.evaluate(() => window.start());
    await page.setInputFiles('input', model);
    let opening;
    const whole = await peakDuring(pages.browser, page, async () => {
      opening = await peakDuring(pages.browser, page, () => page.evaluate(() => window.openChosen()));
      await page.evaluate((count) => window.calibrateOpened(count), samples);
    });
    return { opening: opening.above, whole: Math.max(opening.above + opening.idle - whole.idle, whole.above) };
  });
}

export async function benchMemory({ root, nets, rounds, report }) {
  const model = path.join(nets, 'resnet-50.onnx');
  const size = statSync(model).size / 1e6;
  const title = `a model of ${size.toFixed(0)} MB`;
  const rows = [];
  const add = (one) => (rows.push(one), report(one));
  add(limitRow(`opening ${title}, native, whole process`, openNatively({ root, model, rounds }), 1000));
  await withPages({ root, nets }, async (pages) => {
    add(limitRow(`opening ${title}, Chromium`, await openInPage(pages, model, rounds), 1000));
    const opening = [];
    const calibrating = [];
    for (let k = 0; k < Math.min(rounds, 3); ++k) {
      const peak = await memoryInPage(pages, model);
      opening.push(peak.opening);
      calibrating.push(peak.whole);
    }
    const times = (megabytes) => `${(megabytes / size).toFixed(2)} times the file`;
    const limit = (name, values, most) => {
      const one = limitRow(name, values, most * size, { unit: 'MB' });
      return { ...one, note: times(one.ours) };
    };
    add(limit(`memory above idle: opening ${title}, Chromium, one worker`, opening, 1.25));
    add(limit(`memory above idle: opening and calibrating ${title}, Chromium, one worker`, calibrating, 2.0));
  });
  return rows;
}
