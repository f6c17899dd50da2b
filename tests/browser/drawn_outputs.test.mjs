// SPDX-License-Identifier: Apache-2.0
//
// Masks and boxes of float and int8 over the same pictures, with zoo models.

import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import {
  axeFindings,
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
