// SPDX-License-Identifier: Apache-2.0
//
// The help: ten sections whose pictures the core computes in this tab, also without a network and while nothing is open.

import { describe, expect, it } from 'vitest';

import { axeFindings, button, expectQuiet, openPage, pixelsTooWide, runDemo, useSite, viewports } from './site.mjs';

const site = useSite();

describe.each(viewports)('$width pixels', (viewport) => {
  it('explains the method in ten sections, and a cut that is moved is judged by the core', async () => {
    const visit = await openPage(site, { viewport });
    const { page, context } = visit;
    await page.getByText('stored for offline use').waitFor();
    await context.setOffline(true);
    await button(page, 'How it works').click();
    const help = page.getByRole('dialog', { name: 'How it works' });
    await help.getByRole('heading', { name: '10. The file' }).waitFor({ timeout: 60_000 });
    await expect.poll(() => help.getByRole('heading', { level: 3 }).count()).toBe(10);
    const told = help.getByTestId('help-cut');
    await expect
      .poll(() => told.innerText())
      .toMatch(/A step of 0\.\d+; \d.* values are cut off; \d+\.\d\sdB are left/);
    const lost = async () => Number(/; ([\d\s]+) of/.exec(await told.innerText())[1].replace(/\s/g, ''));
    const before = await lost();
    await help.getByRole('slider').focus();
    await page.keyboard.press('Home');
    await expect.poll(lost).toBeGreaterThan(before);
    const text = await help.innerText();
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
    // fewer bits, less signal
    const decibels = [...text.matchAll(/(\d) bits\s+(-?\d+\.\d)\sdB/g)].map(([, , db]) => Number(db));
    expect(decibels.length).toBe(5);
    expect(decibels).toEqual(decibels.toSorted((a, b) => b - a));
    expect(await pixelsTooWide(page)).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expect.poll(() => help.count()).toBe(0);
    await runDemo(page);
    await expectQuiet(visit);
    await context.close();
  });
});
