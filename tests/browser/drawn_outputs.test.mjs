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
  openWith,
  pixelsTooWide,
  plain,
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

/** Float's part of the picture, in percent, by keys, hand and numbers; then the next sample. */
async function usesDivider(page, drawn) {
  const places = await drawn
    .locator('.drawn-picture')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ x, y, width }) => [x, y, width]));
  expect(places.length).toBe(2);
  expect(places[0]).toEqual(places[1]);
  const grip = drawn.getByRole('slider', { name: 'Divider, Float on its left, int8 on its right' });
  const part = () => grip.getAttribute('aria-valuetext');
  expect(await part()).toBe('50 % Float');
  await grip.focus();
  await page.keyboard.press('ArrowLeft');
  expect(await part()).toBe('45 % Float');
  await page.keyboard.press('Home');
  expect(await part()).toBe('0 % Float');
  const { x, y, width } = await drawn.locator('.divided').boundingBox();
  await page.mouse.move(x + width / 2, y + 20);
  await page.mouse.down();
  await page.mouse.move(x + width / 4, y + 40, { steps: 3 });
  await page.mouse.up();
  expect(await part()).toBe('25 % Float');
  const clip = () =>
    drawn
      .locator('.drawn-picture')
      .nth(1)
      .evaluate((one) => one.style.clipPath);
  expect(await clip()).toMatch(/25%/);
  for (const [key, seen] of [
    ['1', '100 % Float'],
    ['2', '0 % Float'],
    ['0', '25 % Float'],
  ]) {
    await page.keyboard.press(key);
    await expect.poll(part).toBe(seen);
  }
  const worst = drawn.getByRole('slider', { name: /^Sample 1 of \d+, worst first$/ });
  const label = () => drawn.locator('canvas').first().getAttribute('aria-label');
  const first = await label();
  await worst.focus();
  await page.keyboard.press('ArrowRight');
  await expect.poll(label).not.toBe(first);
}

describe.skipIf(!existsSync(zoo))('outputs over their pictures', () => {
  it.each([
    [
      'mediapipe-selfie-seg',
      viewports[0],
      /value from 0 to 1 for each pixel.*Float covers \d.*int8 \d.* of pixels as float/,
    ],
    [
      'yolox-nano-416',
      viewports[1],
      /grids of 8, 16 and 32 pixels.*Assumed: .*The float model finds nothing in these pictures\. How .*Float \d+ box.*int8 /,
    ],
  ])(
    'draws those of %s',
    async (name, viewport, words) => {
      const pictures = readdirSync(images).map((file) => `${images}/${file}`);
      const visit = await openWith(site, { viewport }, `${zoo}/${name}/model.onnx`, pictures);
      const { page, context } = visit;
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
      await usesDivider(page, drawn);
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
