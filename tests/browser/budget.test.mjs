// SPDX-License-Identifier: Apache-2.0
//
// A budget on the page: its figure is entered, operators get the bits that fit, and the result says which.

import { describe, expect, it } from 'vitest';

import { button, comparison, expectQuiet, openPage, plain, runDemo, untilDone, useSite, viewports } from './site.mjs';

const site = useSite();

/** A finger that moves like a mouse. */
async function finger(page) {
  const session = await page.context().newCDPSession(page);
  let [x, y] = [0, 0];
  const send = (type, ...touchPoints) => session.send('Input.dispatchTouchEvent', { type, touchPoints });
  let isDown = false;
  return {
    async move(toX, toY, { steps = 1 } = {}) {
      const [fromX, fromY] = [x, y];
      for (let k = 1; k <= steps; ++k) {
        [x, y] = [fromX + ((toX - fromX) * k) / steps, fromY + ((toY - fromY) * k) / steps];
        if (isDown) await send('touchMove', { x, y });
      }
    },
    async down() {
      isDown = true;
      await send('touchStart', { x, y });
    },
    async up() {
      isDown = false;
      await send('touchEnd');
    },
  };
}

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
    const said = text.match(/(1\d\.\d)\u202fkB of weights, each of its own bits, in a file of (\d+\.\d)\u202fkB;/);
    expect(Number(said?.[2])).toBeGreaterThan(Number(said?.[1]));
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

  it.each(viewports)(
    'E.3 row 16: is chosen from a curve of error over size, and the choice can be undone ($width pixels)',
    async (viewport) => {
      const visit = await openPage(site, { viewport, hasTouch: viewport.width < 600 });
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
      expect(await block.locator('circle.tradeoff-point').count()).toBe(6);
      await block
        .getByRole('button', { name: /^Choose/ })
        .nth(2)
        .click();
      await page.getByTestId('chosen-bits').waitFor({ timeout: 60_000 });
      await untilDone(page);
      expect(Number(await page.getByLabel('Weights, kB').inputValue())).toBeGreaterThan(10);
      const handle = block.getByRole('slider', { name: 'Weights at most' });
      const chosen = await handle.getAttribute('aria-valuetext');
      expect(chosen).toMatch(/^[\d.]+\skB: [\d.]+\sdB, [\d.]+\s% of \d+$/);
      expect(plain(await block.getByTestId('tradeoff-point').innerText())).toContain(plain(chosen));
      if (process.env.TERSOR_PICTURES) await block.screenshot({ path: `${process.env.TERSOR_PICTURES}/tradeoff.png` });

      // the point is dragged to the next budget, and each choice is one step back
      // in the middle, where nothing that stays at the window's edge covers it
      await handle.evaluate((one) => one.scrollIntoView({ block: 'center' }));
      const points = await block
        .locator('circle.tradeoff-point')
        .evaluateAll((all) =>
          all.map((one) => one.getBoundingClientRect()).map(({ x, y }) => ({ x: x + 4, y: y + 4 })),
        );
      const [, third, fourth] = rows.map((row) => /^[\d.]+/.exec(row)[0]).slice(1);
      const hand = viewport.width < 600 ? await finger(page) : page.mouse;
      await hand.move(points[2].x, points[2].y);
      await hand.down();
      await hand.move(points[3].x, points[3].y, { steps: 8 });
      await expect.poll(() => handle.getAttribute('aria-valuetext')).toMatch(new RegExp(`^${fourth}`));
      await hand.up();
      const weights = page.getByLabel('Weights, kB');
      await expect.poll(async () => Number(await weights.inputValue())).toBeCloseTo(Number(fourth), 0);
      await page.keyboard.press('Control+z');
      await expect.poll(async () => Number(await weights.inputValue())).toBeCloseTo(Number(third), 0);
      await untilDone(page);

      // what a limit on accuracy leaves is the smallest file; what nothing keeps to is said
      await block.getByLabel('points lost').fill('100');
      await block.getByLabel('points lost').blur();
      await button(page, 'Choose what fits').click();
      await expect
        .poll(async () => Number(await weights.inputValue()))
        .toBeCloseTo(Number(/^[\d.]+/.exec(rows[0])[0]), 0);
      await page.keyboard.press('Control+z');
      await expect.poll(async () => Number(await weights.inputValue())).toBeCloseTo(Number(third), 0);
      await untilDone(page);

      // a limit between two points is searched for between them
      const sizes = rows.map((row) => Number(/kB\s+([\d.]+)\skB/.exec(row)[1]));
      const limit = (0.3 * sizes[3] + 0.7 * sizes[4]).toFixed(1);
      await block.getByLabel('points lost').fill('');
      await block.getByLabel('points lost').blur();
      await block.getByLabel('kB of file').fill(limit);
      await block.getByLabel('kB of file').blur();
      await button(page, 'Choose what fits').click();
      await expect.poll(() => block.locator('tbody tr').count(), { timeout: 90_000 }).toBeGreaterThan(6);
      await block.locator('tbody tr', { hasText: 'in force' }).waitFor({ timeout: 90_000 });
      await expect
        .poll(async () => Number(await weights.inputValue()), { timeout: 90_000 })
        .toBeGreaterThan(Number(third) + 1);
      const taken = await block.locator('tbody tr', { hasText: 'in force' }).innerText();
      const kilobytes = Number(/kB\s+([\d.]+)\skB/.exec(taken)[1]);
      expect(kilobytes).toBeLessThanOrEqual(Number(limit));
      expect(kilobytes).toBeGreaterThanOrEqual(sizes[3]);
      await untilDone(page);
      await page.keyboard.press('Control+z');
      await expect.poll(async () => Number(await weights.inputValue())).toBeCloseTo(Number(third), 0);
      await block.getByLabel('kB of file').fill('0.1');
      await block.getByLabel('kB of file').blur();
      await button(page, 'Choose what fits').click();
      await block.getByText(/No point of the curve keeps to this/).waitFor();
      await untilDone(page);
      await button(page, 'Undo the choice').click();
      await expect.poll(() => page.getByTestId('chosen-bits').count(), { timeout: 60_000 }).toBe(0);
      expect(await page.getByLabel('Weights, kB').inputValue()).toBe('');
      await untilDone(page);
      expect([await page.locator('.sha').getAttribute('title'), (await comparison(page))['Output SQNR'][1]]).toEqual(
        before,
      );
      await expectQuiet(visit);
    },
  );
});
