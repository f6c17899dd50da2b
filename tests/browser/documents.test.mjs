// SPDX-License-Identifier: Apache-2.0
//
// "The documents": every sentence's button is pressed and shows a number; tests/wasm/claims.test.mjs runs the same table
// without the page.

import { expect, it } from 'vitest';

import { axeFindings, button, expectQuiet, openPage, pixelsTooWide, useSite, viewports } from './site.mjs';

const site = useSite();

it('every button shows that its sentence holds', { timeout: 600_000 }, async () => {
  const visit = await openPage(site, {});
  const { page, context } = visit;
  await page.getByText('stored for offline use').waitFor();
  await button(page, 'The documents').click();
  const dialog = page.getByRole('dialog', { name: 'The documents' });
  const buttons = dialog.getByRole('button', { name: /^Run: / });
  await expect.poll(() => buttons.count()).toBeGreaterThan(75);
  const count = await buttons.count();
  const seen = dialog.getByTestId('seen');
  for (let k = 0; k < count; ++k) {
    const name = await buttons.nth(k).getAttribute('aria-label');
    await buttons.nth(k).click();
    await expect
      .poll(() => seen.nth(k).innerText(), { timeout: 120_000, message: name })
      .toMatch(/(differ|became|back|refused).*\.$/);
    expect(await seen.nth(k).innerText(), name).not.toMatch(/not hold|NaN|undefined/);
  }
  expect(await dialog.getByRole('status').innerText()).toBe(`${count} of ${count} shown to hold`);
  expect(await axeFindings(page)).toEqual([]);
  await page.setViewportSize(viewports[1]);
  expect(await pixelsTooWide(page)).toBe(0);
  await expectQuiet(visit);
  await context.close();
});
