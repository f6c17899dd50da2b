// SPDX-License-Identifier: Apache-2.0
//
// Two configurations beside float: each with its settings, recipe and file.

import { expect, it } from 'vitest';

import {
  button,
  comparison,
  downloaded,
  expectQuiet,
  openPage,
  region,
  runDemo,
  untilDone,
  useSite,
  viewports,
} from './site.mjs';

const site = useSite();

const heads = (page) => page.locator('.comparison thead th').allInnerTexts();
const digest = (page) => page.locator('.sha').getAttribute('title');

it.each(viewports)(
  'E.3 row 12: keeps A and B side by side, copies, swaps and goes between them with 1, 2 and 3 ($width pixels)',
  async (viewport) => {
    const visit = await openPage(site, { viewport });
    const { page, context } = visit;
    await runDemo(page);
    const first = await digest(page);
    await page.keyboard.press('3');
    await expect.poll(() => page.locator('.toast').innerText()).toMatch(/one configuration/);
    await button(page, 'Change settings').click();
    await button(page, 'Copy to B').first().click();
    const settings = region(page, 'Settings');
    await settings.getByText('A and B are the same').waitFor();
    const started = Date.now();
    await settings.getByLabel('Where to cut activations').selectOption('NOCLIPPING');
    await expect.poll(() => digest(page), { timeout: 60_000 }).not.toBe(first);
    console.info(`file of B after ${Date.now() - started} ms`);
    await untilDone(page);
    expect(await page.locator('.cost').innerText()).toMatch(/Calibrate\s+kept from before/);
    const differing = await settings.locator('.differences tbody tr').allInnerTexts();
    expect(differing.length).toBe(1);
    expect(differing[0]).toMatch(/Where to cut activations\s+.*Lp\s+No clipping/);
    expect(await settings.getByText('A ≠ B', { exact: true }).count()).toBe(1);

    // row 13: accuracy, size, SQNR, agreement and integer coverage of float, A and B
    await expect.poll(async () => (await heads(page)).length).toBe(3);
    const rows = await comparison(page);
    for (const title of ['Change, points', 'Same answer as float', 'Output SQNR', 'File size', 'Runs as integer'])
      expect(rows[title].length).toBe(3);
    expect(rows['Output SQNR'][2]).toMatch(/dB.*[+−±]\d+\.\d dB against A/);

    const second = await digest(page);
    await page.keyboard.press('2');
    await expect.poll(() => digest(page)).toBe(first);
    expect(await settings.getByLabel('Where to cut activations').inputValue()).toBe('Lp');
    const recipe = await downloaded(page, 'Download recipe');
    expect(JSON.parse(recipe.bytes).quantization_config.activation_threshold_method).toBe('Lp');
    await page.keyboard.press('3');
    await expect.poll(() => digest(page)).toBe(second);
    await expect.poll(() => page.locator('.comparison.looks-b').count()).toBe(1);
    await page.keyboard.press('1');
    await expect.poll(() => page.locator('.comparison.looks-f').count()).toBe(1);
    await button(page, 'Swap').click();
    await page.keyboard.press('2');
    await expect.poll(() => digest(page)).toBe(second);
    await page.keyboard.press('Control+z');
    await expect.poll(() => page.locator('.toast').innerText()).toMatch(/Undone: A and B swapped/);
    await page.keyboard.press('2');
    await expect.poll(() => digest(page), { timeout: 60_000 }).toBe(first);
    await button(page, 'Remove B').click();
    await expect.poll(async () => (await heads(page)).length).toBe(2);
    await page.keyboard.press('Control+z');
    await expect.poll(async () => (await heads(page)).length).toBe(3);
    await expectQuiet(visit);
    await context.close();
  },
  300_000,
);

it('shows the samples on which they disagree, with the answer of each', async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  await runDemo(page);
  await button(page, 'Change settings').click();
  await page.getByLabel('Where it will run').selectOption('any');
  await page.getByLabel('Bits of weights').fill('2');
  await page.getByLabel('Bits of weights').blur();
  await expect.poll(() => page.getByTestId('change-line').count(), { timeout: 90_000 }).toBe(1);
  await untilDone(page);
  expect(await page.getByTestId('change-line').innerText()).toMatch(/output SQNR −\d+\.\d/);
  const pictures = page.getByTestId('pictures');
  await expect.poll(() => pictures.innerText()).toMatch(/disagree on \d+ samples? of 240/);
  await expect.poll(() => pictures.locator('canvas').count()).toBeGreaterThan(0);
  expect(await pictures.locator('.answered').first().innerText()).toMatch(/F .*\s+A /);
  expect(await pictures.locator('.confusion table').count()).toBeLessThan(2);
  await expectQuiet(visit);
  await context.close();
}, 300_000);
