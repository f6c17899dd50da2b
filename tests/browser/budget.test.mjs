// SPDX-License-Identifier: Apache-2.0
//
// A budget on the page: its figure is entered, operators get the bits that fit, and the result says which.

import { describe, expect, it } from 'vitest';

import { button, comparison, expectQuiet, openPage, runDemo, untilDone, useSite } from './site.mjs';

const site = useSite();

describe('a budget', () => {
  it('gives operators the bits that fit, says which, and is gone when its field is emptied', async () => {
    const visit = await openPage(site);
    const { page } = visit;
    await runDemo(page);
    expect(await page.getByTestId('chosen-bits').count()).toBe(0);
    await button(page, 'Change settings').click();
    await page.getByLabel('Where it will run').selectOption({ label: 'Any bits' });
    await untilDone(page);
    const weights = page.getByLabel('Weights, kB');
    await weights.fill('20');
    await weights.blur();
    await page.getByTestId('chosen-bits').waitFor({ timeout: 60_000 });
    await untilDone(page);
    const text = await page.getByTestId('chosen-bits').innerText();
    expect(text).toMatch(/1\d\.\d\u202fkB of weights/);
    expect(text).toMatch(/8: .* · 4: .* · 2: /);
    if (process.env.TERSOR_PICTURES) {
      await page.screenshot({ path: `${process.env.TERSOR_PICTURES}/budget.png`, fullPage: true });
      await page.setViewportSize({ width: 390, height: 844 });
      await page.screenshot({ path: `${process.env.TERSOR_PICTURES}/budget-phone.png`, fullPage: true });
    }
    await weights.fill('1');
    await weights.blur();
    await page.getByText(/These budgets cannot be met: weights_memory/).waitFor({ timeout: 60_000 });
    await weights.fill('');
    await weights.blur();
    await untilDone(page);
    expect(await page.getByTestId('chosen-bits').count()).toBe(0);
    await expectQuiet(visit);
  });

  it('E.3 row 16: is chosen from a curve of error over size, and the choice can be undone', async () => {
    const visit = await openPage(site);
    const { page } = visit;
    await runDemo(page);
    await button(page, 'Change settings').click();
    await page.getByLabel('Where it will run').selectOption({ label: 'Any bits' });
    await untilDone(page);
    const before = [await page.locator('.sha').getAttribute('title'), (await comparison(page))['Output SQNR'][1]];
    await button(page, 'Compare budgets').click();
    await button(page, 'Compare budgets again').waitFor({ timeout: 120_000 });
    const block = page.getByTestId('tradeoff');
    const rows = await block.locator('tbody tr').allInnerTexts();
    expect(rows.length).toBe(6);
    const decibels = rows.map((row) => Number(/(-?\d+\.\d)\sdB/.exec(row.replace('−', '-'))[1]));
    expect(decibels[0]).toBeLessThan(decibels[5] - 10);
    expect(await block.locator('circle').count()).toBe(6);
    await block
      .getByRole('button', { name: /^Choose/ })
      .nth(2)
      .click();
    await page.getByTestId('chosen-bits').waitFor({ timeout: 60_000 });
    await untilDone(page);
    expect(Number(await page.getByLabel('Weights, kB').inputValue())).toBeGreaterThan(10);
    expect(await block.locator('circle.chosen').count()).toBe(1);
    if (process.env.TERSOR_PICTURES) await block.screenshot({ path: `${process.env.TERSOR_PICTURES}/tradeoff.png` });
    await button(page, 'Undo the choice').click();
    await expect.poll(() => page.getByTestId('chosen-bits').count(), { timeout: 60_000 }).toBe(0);
    expect(await page.getByLabel('Weights, kB').inputValue()).toBe('');
    await untilDone(page);
    expect([await page.locator('.sha').getAttribute('title'), (await comparison(page))['Output SQNR'][1]]).toEqual(
      before,
    );
    await expectQuiet(visit);
  });
});
