// SPDX-License-Identifier: Apache-2.0
//
// The page as an application: what a browser needs to install it, a newer version that is offered, and a tab whose files are gone.

import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { button, openPage, openSite, runDemo, siteFolder, untilReady, viewports } from './site.mjs';

it.each(viewports)(
  'E.3 row 23: can be installed, and offers a newer version without forcing it ($width pixels)',
  async (viewport) => {
    const folder = await mkdtemp(join(tmpdir(), 'tersor-site-'));
    await cp(siteFolder, folder, { recursive: true });
    const site = await openSite({ root: folder });
    try {
      const { page, context } = await openPage(site, { viewport });
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
  },
);

/** A site whose files a newer version replaces, and a tab that has no store of its own. */
async function withOldTab(work) {
  const folder = await mkdtemp(join(tmpdir(), 'tersor-site-'));
  await cp(siteFolder, folder, { recursive: true });
  const site = await openSite({ root: folder });
  try {
    const { page, context } = await openPage(site, { serviceWorkers: 'block' });
    await runDemo(page);
    await work(page, async () => {
      const assets = join(folder, 'assets');
      for (const name of await readdir(assets)) if (name.endsWith('.js')) await rm(join(assets, name));
    });
    const card = page.getByRole('alert').filter({ hasText: 'A newer version of this page has taken the place' });
    await card.getByText(/^Reload to go on\. Model, recipe and report can still be downloaded/).waitFor();
    await cp(siteFolder, folder, { recursive: true });
    await context.unrouteAll();
    await Promise.all([page.waitForNavigation(), card.getByRole('button', { name: 'Reload' }).click()]);
    await untilReady(page);
    await context.close();
  } finally {
    await site.close();
    await rm(folder, { recursive: true });
  }
}

it('an old tab says "reload" when a part that it loads on first use is gone', async () => {
  await withOldTab(async (page, replace) => {
    await replace();
    await page.getByRole('tab', { name: 'Graph' }).click();
  });
});

it('an old tab says "reload" when the file of its workers is gone', async () => {
  await withOldTab(async (page, replace) => {
    await replace();
    // the browser's own store of files, which may have forgotten it
    await page.context().route(/\/assets\/worker-/, (route) => route.fulfill({ status: 404 }));
    for (const worker of page.workers()) await worker.evaluate(() => self.close()).catch(() => undefined);
    await button(page, 'Quantize').click();
  });
});
