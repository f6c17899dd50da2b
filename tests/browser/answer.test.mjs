// SPDX-License-Identifier: Apache-2.0
//
// One result in three states: the answer, why, everything.

import { expect, it } from 'vitest';

import { button, expectQuiet, give, openPage, plain, pixelsTooWide, untilReady, useSite, viewports } from './site.mjs';
import { demoFiles } from './site.mjs';

const site = useSite();

/** Words that somebody has to know beforehand. */
const jargon = /SQNR|\bdB\b|saturate|core nodes|\bmind\b|VNNI/;

const state = (page, name) => page.getByRole('radio', { name, exact: true });
const results = (page) => page.locator('.region-results');
const answer = (page) => page.getByTestId('answer');

it.each(viewports)(
  'says the answer first, in few words and controls, and remembers more ($width pixels)',
  async (viewport) => {
    const visit = await openPage(site, { viewport, view: null });
    const { page, context } = visit;
    await button(page, 'Try the demo').click();
    await answer(page).waitFor({ timeout: 120_000 });
    const text = plain(await page.locator('body').innerText());
    expect(text.split(' ').length).toBeLessThan(150);
    expect(text).not.toMatch(jargon);
    const controls = await results(page).locator('button:visible, a:visible, input:visible, select:visible').count();
    expect(controls).toBeLessThanOrEqual(12);
    expect(await answer(page).getByRole('heading').innerText()).toMatch(
      /^(Worth it|Usable with care|Not worth it|Not usable)$/,
    );
    expect(await pixelsTooWide(page)).toBe(0);

    await state(page, 'Why').check();
    await page.locator('.worst').waitFor();
    expect(await page.locator('.comparison').count()).toBe(0);
    await expect.poll(() => page.url()).toMatch(/[#&]view=why$/);
    await state(page, 'Everything').check();
    await page.locator('.comparison').waitFor();
    await state(page, 'Answer').check();
    expect(await page.locator('.comparison').count()).toBe(0);
    await expect.poll(() => page.url()).not.toMatch(/view/);

    // keys reach what is not shown
    await page.locator('body').click({ position: { x: 2, y: 2 } });
    await page.keyboard.press('/');
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('layer-search');
    await expect.poll(() => page.url()).toMatch(/[#&]view=everything$/);
    await expectQuiet(visit);

    // and the browser remembers it
    await page.goto(site.url);
    await untilReady(page);
    await give(page, ...demoFiles);
    await expect.poll(() => button(page, 'Quantize').getAttribute('aria-disabled')).toBe('false');
    await button(page, 'Quantize').click();
    await page.locator('.comparison').waitFor({ timeout: 60_000 });
    await context.close();
  },
  180_000,
);

it('opens settings beside the result, and not above it', async () => {
  const visit = await openPage(site, { view: null });
  const { page, context } = visit;
  await button(page, 'Try the demo').click();
  await answer(page).waitFor({ timeout: 120_000 });
  const top = async () => (await results(page).boundingBox()).y;
  const before = await top();
  await button(page, 'Change settings').click();
  const settings = await page.locator('.region-settings').boundingBox();
  const beside = await results(page).boundingBox();
  expect(settings.x).toBeGreaterThanOrEqual(beside.x + beside.width);
  expect(Math.abs((await top()) - before)).toBeLessThan(120);
  expect(await pixelsTooWide(page)).toBe(0);
  await expectQuiet(visit);
  await context.close();
}, 180_000);
