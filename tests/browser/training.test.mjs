// SPDX-License-Identifier: Apache-2.0
//
// Training on the page: a budget in minutes, figures while it runs, an early end that keeps the best, and back.

import { describe, expect, it } from 'vitest';

import { button, expectQuiet, openPage, runDemo, untilDone, useSite } from './site.mjs';

const site = useSite();

describe('training', () => {
  it('runs for about the minutes that are given, says what it gained, and is discarded or taken back', async () => {
    const visit = await openPage(site);
    const { page } = visit;
    await runDemo(page);
    await button(page, 'Change settings').click();
    await page.getByLabel('Where it will run').selectOption({ label: 'Any bits' });
    await page.getByLabel('Bits of weights').fill('3');
    await page.getByLabel('Bits of weights').blur();
    await untilDone(page);
    const block = page.getByTestId('training');
    await block.getByLabel('Minutes').fill('0.1');
    await block.getByRole('button', { name: 'Train', exact: true }).click();
    await block.getByText(/Step [\d\s]+ of [\d\s]+, loss/).waitFor({ timeout: 60_000 });
    await expect.poll(() => block.innerText()).toMatch(/answers right, [\d\s]+ before; .*samples a second, .* left/);
    if (process.env.TERSOR_PICTURES) await block.screenshot({ path: `${process.env.TERSOR_PICTURES}/training.png` });
    await block.getByText(/samples held aside the outputs have/).waitFor({ timeout: 120_000 });
    await untilDone(page);
    expect(await block.innerText()).toMatch(
      /have \d+\.\d\sdB, before \d+\.\d\sdB: (the trained model is kept|training is not)/,
    );
    await expect
      .poll(() => block.innerText())
      .toMatch(/samples that evaluate: .*output SQNR \d+\.\d\sdB before and \d+\.\d\sdB after/);
    // each layer before and after, most changed first, where the trained model is kept
    const layers = block.locator('.trained-layers tbody tr');
    if (/the trained model is kept/.test(await block.innerText())) {
      const changes = await layers.evaluateAll((all) =>
        all.map((row) =>
          [...row.querySelectorAll('td')].map(({ textContent }) => parseFloat(textContent.replace('−', '-'))),
        ),
      );
      expect(changes.length).toBeGreaterThan(2);
      for (const [before, after, change] of changes) expect(after - before).toBeCloseTo(change, 0);
      const sizes = changes.map(([, , change]) => Math.abs(change));
      expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    } else expect(await layers.count()).toBe(0);
    if (process.env.TERSOR_PICTURES) {
      await block.screenshot({ path: `${process.env.TERSOR_PICTURES}/training-done.png` });
      await page.setViewportSize({ width: 390, height: 844 });
      await block.screenshot({ path: `${process.env.TERSOR_PICTURES}/training-phone.png` });
      await page.setViewportSize({ width: 1280, height: 800 });
    }
    await button(page, 'Discard the training').click();
    await untilDone(page);
    await expect.poll(() => block.innerText(), { timeout: 60_000 }).not.toMatch(/samples held aside the outputs/);
    await expectQuiet(visit);
  });

  it('ends early with the best so far', async () => {
    const visit = await openPage(site);
    const { page } = visit;
    await runDemo(page);
    const block = page.getByTestId('training');
    await block.getByLabel('Minutes').fill('5');
    await block.getByRole('button', { name: 'Train', exact: true }).click();
    await block.getByText(/Step (?!1 of)[\d\s]+ of [\d\s]+, loss/).waitFor({ timeout: 60_000 });
    await block.getByRole('button', { name: 'Stop and keep the best' }).click();
    await block.getByText(/samples held aside the outputs have/).waitFor({ timeout: 60_000 });
    await untilDone(page);
    await expectQuiet(visit);
  });
});
