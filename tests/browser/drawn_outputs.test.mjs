// SPDX-License-Identifier: Apache-2.0
//
// Masks and boxes of float and int8 over the same pictures, with zoo models; values as bars where outputs are neither, nor classes.

import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { npy } from './files.mjs';
import { maps } from './networks.mjs';
import {
  axeFindings,
  button,
  expectQuiet,
  give,
  longTask,
  openPage,
  pixelsTooWide,
  plain,
  region,
  shared,
  tasksOf,
  traced,
  untilCanQuantize,
  untilMeasured,
  useSite,
  viewports,
} from './site.mjs';

const site = useSite();
const zoo = `${shared}/zoo`;
const images = `${zoo}/data/dev/images`;

describe.skipIf(!existsSync(zoo))('outputs over their pictures', () => {
  it.each([
    [
      'mediapipe-selfie-seg',
      viewports[0],
      /value from 0 to 1 for each pixel.*Float covers \d.*A \d.* of pixels as float/,
    ],
    [
      'yolox-nano-416',
      viewports[1],
      /grids of 8, 16 and 32 pixels.*Assumed: .*The float model finds nothing in these pictures\. How .*Float \d+ box.*A /,
    ],
  ])(
    'draws those of %s',
    async (name, viewport, words) => {
      const visit = await openPage(site, { viewport });
      const { page, context } = visit;
      await give(page, `${zoo}/${name}/model.onnx`);
      await region(page, 'Model').getByText('parameters').first().waitFor();
      await give(page, ...readdirSync(images).map((file) => `${images}/${file}`));
      await untilCanQuantize(page);
      await site.browser.startTracing(page, traced);
      await page.keyboard.press('Control+Enter');
      await untilMeasured(page);
      const drawn = page.getByTestId('drawn-outputs');
      await drawn.waitFor();
      // outputs become drawings beside the page
      const longest = Math.max(...tasksOf(await site.browser.stopTracing()));
      console.info(`${name}: longest task from samples to drawings ${longest.toFixed(1)} ms`);
      expect(longest).toBeLessThan(longTask);
      expect(plain(await drawn.innerText())).toMatch(words);
      const tops = await drawn
        .locator('.drawn-row')
        .first()
        .locator('figure')
        .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
      expect(tops.length).toBe(2);
      expect(tops[0]).toBe(tops[1]);
      expect(await pixelsTooWide(page)).toBe(0);
      expect(await axeFindings(page)).toEqual([]);
      await expectQuiet(visit);
      await context.close();
    },
    150_000,
  );
});

it.each([
  { viewport: viewports[0], colorScheme: 'light' },
  { viewport: viewports[1], colorScheme: 'dark' },
])(
  'shows values as bars where outputs are nothing else, $viewport.width pixels, $colorScheme',
  async (options) => {
    const visit = await openPage(site, options);
    const { page, context } = visit;
    const arrays = Array.from({ length: 8 }, (_, k) => [
      `${k}.npy`,
      npy(
        Float32Array.from({ length: 192 }, (_v, at) => Math.sin(at * (k + 1))),
        [1, 3, 8, 8],
      ),
    ]);
    await give(page, ['maps.onnx', maps()], ...arrays);
    await untilCanQuantize(page);
    await page.keyboard.press('Control+Enter');
    await untilMeasured(page);
    const bars = page.getByTestId('value-bars');
    await bars.waitFor();
    expect(plain(await bars.innerText())).toMatch(/The 24 of 256 output values that differ most .* A \d+\.\d dB/);
    await button(page, 'Change settings').click();
    await button(page, 'Copy to B').first().click();
    await page.getByLabel('Where to cut activations').selectOption('MAE');
    await expect.poll(() => bars.locator('thead .badge').count(), { timeout: 60_000 }).toBe(3);
    await untilMeasured(page);
    // each bar is said by a number beside it: index, float, A and B
    const isRow = (text) => /^\[0, \d, \d, \d\]( −?\d+\.\d+){3}$/.test(plain(text));
    await expect
      .poll(async () => (await bars.locator('tbody tr').allInnerTexts()).map(isRow))
      .toEqual(Array(12).fill(true));
    const first = await bars.locator('tbody').innerText();
    // by keyboard to the next sample
    await bars.getByRole('button', { name: 'Next sample' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => bars.locator('tbody').innerText()).not.toBe(first);
    await page.keyboard.press('2');
    await expect.poll(() => bars.locator('thead .badge').count()).toBe(1);
    expect(await pixelsTooWide(page)).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
    await expectQuiet(visit);
    await context.close();
  },
  150_000,
);
