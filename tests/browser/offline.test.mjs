// SPDX-License-Identifier: Apache-2.0
//
// The page as an application: what a browser needs to install it, and a newer version that is offered.

import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { openPage, openSite, siteFolder, untilReady } from './site.mjs';

it('row 23: can be installed, and offers a newer version without forcing it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tersor-site-'));
  await cp(siteFolder, folder, { recursive: true });
  const site = await openSite({ root: folder });
  try {
    const { page, context } = await openPage(site);
    const link = await page.locator('link[rel="manifest"]').getAttribute('href');
    const manifest = await (await fetch(new URL(link, site.url))).json();
    expect(manifest).toMatchObject({ start_url: './', display: 'standalone' });
    expect((await fetch(new URL(manifest.icons[0].src, site.url))).status).toBe(200);

    const worker = await readFile(join(folder, 'sw.js'), 'utf8');
    await writeFile(join(folder, 'sw.js'), `${worker}\n// newer`);
    await page.evaluate(async () => {
      const registration = await navigator.serviceWorker.register('./sw.js', { updateViaCache: 'none' });
      await registration.update();
    });
    const toast = page.locator('.toast');
    await toast.getByText('A newer version of this page is stored.').waitFor();
    expect(await page.evaluate(() => navigator.serviceWorker.getRegistration().then((r) => r.waiting !== null))).toBe(
      true,
    );
    await Promise.all([page.waitForNavigation(), toast.getByRole('button', { name: 'Reload' }).click()]);
    await untilReady(page);
    expect(await page.evaluate(() => navigator.serviceWorker.getRegistration().then((r) => r.waiting))).toBe(null);
    await context.setOffline(true);
    await page.reload();
    await untilReady(page);
    await context.close();
  } finally {
    await site.close();
    await rm(folder, { recursive: true });
  }
});
