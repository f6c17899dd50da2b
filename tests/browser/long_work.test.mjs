// SPDX-License-Identifier: Apache-2.0
//
// Work that takes its time: cancelled at every stage, in the title, and with workers that die in the middle.

import { describe, expect, it } from 'vitest';

import { residual } from './networks.mjs';
import { asInput, npy } from './files.mjs';
import { button, downloaded, expectQuiet, openPage, region, root, runDemo, untilDone, useSite } from './site.mjs';

const demo = [`${root}web/public/demo/model.onnx`, `${root}web/public/demo/samples.zip`];

const site = useSite();

const waits = (page) => button(page, 'Quantize').getAttribute('aria-disabled');

async function give(page, files) {
  await page.getByLabel('Model and samples').setInputFiles(files);
  await expect.poll(() => waits(page), { timeout: 30_000 }).toBe('false');
}

/** Outputs of this job are no classes, so that there are no figures to wait for. */
const done = (page) =>
  expect.poll(() => page.locator('.region-results .job-done').count(), { timeout: 120_000 }).toBe(1);

/** A network of 120 operators with 400 samples: every stage takes a while. */
const slowJob = () => [
  asInput('slow.onnx', residual(30)),
  ...Array.from({ length: 400 }, (_, k) =>
    asInput(
      `${k}.npy`,
      npy(
        Float32Array.from({ length: 64 }, (_v, i) => Math.sin(i * (k + 1))),
        [1, 4, 4, 4],
      ),
    ),
  ),
];

/** Presses Cancel once the stage of that title runs; the milliseconds until the page had its button back, or null where the job was over. */
function cancelIn(page, title) {
  return page.evaluate(
    (wanted) =>
      new Promise((resolve) => {
        const find = (name) => [...document.querySelectorAll('.main-button')].find((b) => b.textContent === name);
        const begin = performance.now();
        let hasBegun = false;
        const look = () => {
          hasBegun ||= find('Cancel') !== undefined;
          if (!hasBegun && performance.now() - begin < 2000) return setTimeout(look, 0);
          const running = document.querySelector('.stage-running .stage-title')?.firstChild?.textContent ?? '';
          if (!find('Cancel')) return resolve(null);
          if (running !== wanted) return setTimeout(look, 0);
          const asked = performance.now();
          find('Cancel').click();
          const back = () => (find('Cancel') ? requestAnimationFrame(back) : resolve(performance.now() - asked));
          return back();
        };
        look();
      }),
    title,
  );
}

describe('cancelling', () => {
  it('row 10: ends every stage at once, and the next job goes on from what was kept', async () => {
    const visit = await openPage(site);
    const { page, context } = visit;
    await give(page, slowJob());
    const stages = [
      'Float answers',
      'Calibrate',
      'Choose ranges',
      'Round and correct',
      'Int8 answers',
      'Error by layer',
    ];
    const seen = {};
    for (const stage of stages) {
      await button(page, 'Quantize').click();
      const took = await cancelIn(page, stage);
      if (took === null) continue; // the job was done before the stage was seen
      seen[stage] = Math.round(took);
      await region(page, 'Results')
        .getByText(/^Cancelled\./)
        .waitFor();
      expect(await waits(page)).toBe('false');
    }
    console.info(`cancelled after ${JSON.stringify(seen)} ms`);
    expect(Object.keys(seen).length).toBeGreaterThan(3);
    await button(page, 'Quantize').click();
    await done(page);
    await expectQuiet(visit);
    await context.close();
  });

  it('ends a training and a curve of budgets', async () => {
    const visit = await openPage(site);
    const { page, context } = visit;
    await runDemo(page);
    const block = page.getByTestId('training');
    await block.getByLabel('Minutes').fill('5');
    await block.getByRole('button', { name: 'Train', exact: true }).click();
    await block.getByText(/Step [\d\s]+ of [\d\s]+, loss/).waitFor({ timeout: 60_000 });
    // a click in the first half second of a job that began by itself was meant for the button that stood there
    await page.waitForTimeout(700);
    expect(await cancelIn(page, 'Train')).not.toBe(null);
    await region(page, 'Results')
      .getByText(/^Cancelled\./)
      .waitFor();
    await page.keyboard.press('Control+z');
    await expect.poll(() => waits(page)).toBe('false');
    await button(page, 'Compare budgets').click();
    await button(page, 'Cancel').first().waitFor();
    expect(await page.title()).toMatch(/^\d+\u202f% · Budgets · Tersor$/);
    await page.getByTestId('tradeoff').getByRole('button', { name: 'Cancel' }).click();
    await button(page, 'Compare budgets').waitFor();
    await expectQuiet(visit);
    await context.close();
  });
});

describe('the title', () => {
  it('row 9: shows the percentage and the stage', async () => {
    const visit = await openPage(site);
    const { page, context } = visit;
    await give(page, slowJob());
    await page.evaluate(() => {
      window.titles = new Set();
      new MutationObserver(() => window.titles.add(document.title)).observe(document.querySelector('title'), {
        childList: true,
      });
    });
    await button(page, 'Quantize').click();
    await done(page);
    const titles = await page.evaluate(() => [...window.titles]);
    expect(titles.filter((title) => /^\d+\u202f% · .+ · Tersor$/.test(title)).length).toBeGreaterThan(3);
    await context.close();
  });
});

describe('a worker that dies', () => {
  for (const stage of ['Float accuracy', 'Calibrate', 'Round and correct', 'Int8 accuracy', 'Error by layer']) {
    it(`in “${stage}” costs nothing but time`, async () => {
      const visit = await openPage(site);
      const { page, context } = visit;
      await give(page, demo);
      await button(page, 'Quantize').click();
      const running = page.locator('.stage-running .stage-title');
      // the stage may be over before anything is heard of it, and the worker then dies in the next one
      await running
        .filter({ hasText: stage })
        .waitFor({ timeout: 20_000 })
        .catch(() => undefined);
      const engines = page.workers().filter((worker) => /\/worker-/.test(worker.url()));
      expect(engines.length).toBeGreaterThan(0);
      await engines[0].evaluate(() => self.close()).catch(() => undefined);
      await untilDone(page);
      expect((await downloaded(page, 'Download model')).bytes.equals(await demoBytes())).toBe(true);
      await expectQuiet(visit);
      await context.close();
    });
  }
});

let kept;
/** The file that the demo makes when nothing goes wrong. */
async function demoBytes() {
  if (kept) return kept;
  const { page, context } = await openPage(site);
  await give(page, demo);
  await button(page, 'Quantize').click();
  await untilDone(page);
  kept = (await downloaded(page, 'Download model')).bytes;
  await context.close();
  return kept;
}
