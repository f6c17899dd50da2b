// SPDX-License-Identifier: Apache-2.0
//
// The first visit: the demo without a network, requests, security policy, sub-path, offline reload, timings.

import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';

import { contentSecurityPolicy, headerSecurityPolicy } from '../../web/csp.mjs';
import {
  button,
  comparison,
  expectQuiet,
  openPage,
  openSite,
  region,
  runDemo,
  siteFolder,
  untilDone,
  untilReady,
  useSite,
  viewports,
} from './site.mjs';

const site = useSite();

describe('the first visit', () => {
  it.each(viewports)(
    'E.3 row 3: runs the demo with the network off, without a request or a console message ($width pixels)',
    async (viewport) => {
      const visit = await openPage(site, { viewport });
      const { page, context, requests } = visit;
      for (const name of ['Model', 'Samples', 'Settings', 'Results']) expect(await region(page, name).count()).toBe(1);
      expect(await page.getByLabel('Model and samples').count()).toBe(1);
      expect(await button(page, 'Download model').count()).toBe(0);
      const before = { server: site.server.requests.length, page: requests.length };
      await context.setOffline(true);
      const started = Date.now();
      await runDemo(page);
      console.info(`demo: ${Date.now() - started} ms`);
      // the browser's own question after the offline worker comes about a second after a load
      await page.waitForTimeout(2500);

      const rows = await comparison(page);
      const figures = Object.entries(rows).find(([title]) => title.startsWith('Top-1 accuracy'));
      expect(figures[0]).toMatch(/n = \d+, ±\d/);
      expect(figures[1][0]).toMatch(/^\d\d\.\d\d %$/);
      expect(figures[1][1]).toMatch(/^\d\d\.\d\d %$/);
      expect(parseFloat(figures[1][0])).toBeGreaterThan(90);
      expect(parseFloat(figures[1][0]) - parseFloat(figures[1][1])).toBeLessThan(2);
      expect(rows['Output SQNR'][1]).toMatch(/^\d+\.\d dB$/);
      expect(rows['Same answer as float'][1]).toMatch(/^\d+\.\d\d %$/);
      expect(await page.locator('.layers tbody tr').count()).toBeGreaterThan(3);
      expect(await page.title()).toMatch(/^\d\d\.\d\d\u202f% · model · Tersor$/);
      for (const name of ['Download model', 'Download recipe', 'Download report'])
        expect(await button(page, name).count()).toBe(1);
      const text = await page.locator('body').innerText();
      expect(text).not.toMatch(/NaN|Infinity|undefined|\[object/);

      expect(site.server.requests.slice(before.server)).toEqual([]);
      expect(requests.slice(before.page).filter((url) => url.startsWith('http'))).toEqual([]);
      await expectQuiet(visit);
      await context.close();
    },
  );

  it('prints when it painted and when it was ready', async () => {
    const { page, context } = await openPage(site);
    const times = await page.evaluate(() => ({
      paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
      ready: performance.getEntriesByName('tersor:ready')[0].startTime,
    }));
    await runDemo(page);
    const longTasks = await page.evaluate(() => window.longTasks);
    console.info(
      `first paint ${Math.round(times.paint)} ms, ready ${Math.round(times.ready)} ms, long tasks [${longTasks.join(', ')}] ms`,
    );
    expect(times.paint).toBeGreaterThan(0);
    expect(times.ready).toBeGreaterThan(times.paint);
    await context.close();
  });

  it('works after a reload without a network', async () => {
    const visit = await openPage(site);
    await visit.context.setOffline(true);
    await visit.page.reload();
    await untilReady(visit.page);
    await runDemo(visit.page);
    await visit.context.close();
  });

  it('asks for nothing after a second load either', async () => {
    const visit = await openPage(site);
    await visit.page.reload();
    await untilReady(visit.page);
    const before = site.server.requests.length;
    await runDemo(visit.page);
    await visit.page.waitForTimeout(3000);
    expect(site.server.requests.slice(before)).toEqual([]);
    await expectQuiet(visit);
    await visit.context.close();
  });
});

describe('the photographs', () => {
  it('are fetched when they are asked for, and kept; their int8 file is worth it', async () => {
    const visit = await openPage(site, { view: null });
    const { page, context } = visit;
    const fetched = () => site.server.requests.filter((path) => path.includes('/demo/fruit/')).length;
    const before = fetched();
    await button(page, 'Try the demo').click();
    const answer = page.getByTestId('answer');
    await answer.getByRole('heading', { name: 'Worth it' }).waitFor({ timeout: 120_000 });
    expect(fetched() - before).toBe(3);
    expect(await answer.innerText()).toMatch(/^Worth it\s+3\.[5-9]× smaller, about (1\.[5-9]|[2-9]\.\d) times as fast/);
    const names = await answer.locator('.answered').allInnerTexts();
    expect(new Set(names).size).toBe(10);
    await expect.poll(() => answer.locator('.thumbnail .pixels').count()).toBe(10);
    await expectQuiet(visit);
    await context.setOffline(true);
    await page.reload();
    await untilReady(page);
    await button(page, 'Try the demo').click();
    await answer.getByText('aubergine').first().waitFor({ timeout: 120_000 });
    await context.close();
  }, 180_000);

  it('give way to letters where they are not stored and there is no network', async () => {
    const { page, context } = await openPage(site);
    await context.setOffline(true);
    await button(page, 'Try the demo').click();
    await page.getByText('here are letters and digits instead').first().waitFor();
    await untilDone(page);
    await context.close();
  }, 180_000);

  it('are kept with all else when the reader asks for it', async () => {
    const { page, context } = await openPage(site);
    await button(page, 'What leaves this tab: nothing').click();
    await button(page, 'Keep all of it for offline use').click();
    await page.getByText('All of it is here now').waitFor({ timeout: 60_000 });
    const kept = await page.evaluate(async () => {
      const paths = [];
      for (const name of await caches.keys())
        for (const { url } of await (await caches.open(name)).keys()) paths.push(new URL(url).pathname);
      return paths;
    });
    expect(kept.filter((path) => path.startsWith('/demo/fruit/')).length).toBe(3);
    expect(kept.filter((path) => path.startsWith('/verify/')).length).toBe(2);
    expect(kept.filter((path) => /^\/assets\/tersor-(?!light-|sans-).*\.(js|wasm)$/.test(path)).length).toBe(2);
    await context.close();
  }, 120_000);

  it('with two faults are repaired in one press, which can be undone', async () => {
    const visit = await openPage(site, { view: null });
    const { page, context } = visit;
    await button(page, 'a broken demo').click();
    const proposed = page
      .getByTestId('float-stop')
      .getByText(/reordering of the model’s outputs: with channels in the order RGB 9\d\.\d/);
    await proposed.waitFor({ timeout: 120_000 });
    expect(await page.getByTestId('answer').count()).toBe(0);
    await button(page, 'Take this order').click();
    await page.getByTestId('answer').getByRole('heading', { name: 'Worth it' }).waitFor({ timeout: 120_000 });
    await button(page, 'Undo').first().click();
    await proposed.waitFor({ timeout: 120_000 });
    await expectQuiet(visit);
    await context.close();
  }, 180_000);
});

describe('hosting', () => {
  it('sends the security policy as a header and carries it in the page', async () => {
    const response = await fetch(site.url);
    expect(response.headers.get('content-security-policy')).toBe(headerSecurityPolicy);
    expect(await response.text()).toContain(`http-equiv="Content-Security-Policy" content="${contentSecurityPolicy}"`);
    expect(contentSecurityPolicy).toMatch(
      /default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; style-src 'self';/,
    );
  });

  it('has no inline script, style or foreign address in the page', async () => {
    const page = await readFile(`${siteFolder}/index.html`, 'utf8');
    expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)/);
    expect(page.replace(/xmlns='[^']*'/g, '')).not.toMatch(/https?:\/\//);
  });

  it('runs from a sub-path, and on a host that sends no headers', async () => {
    const other = await openSite({ prefix: '/tools/tersor/', policy: false });
    try {
      expect(other.url).toMatch(/\/tools\/tersor\/$/);
      const visit = await openPage(other);
      await runDemo(visit.page);
      await expectQuiet(visit);
      expect(other.server.requests.filter((path) => !path.startsWith('/tools/tersor/'))).toEqual([]);
    } finally {
      await other.close();
    }
  });

  it('answers with the right media types and refuses to leave its folder', async () => {
    const type = async (path) => (await fetch(new URL(path, site.url))).headers.get('content-type');
    expect(await type('demo/demo.json')).toMatch(/^application\/json/);
    expect(await type('sw.js')).toMatch(/^text\/javascript/);
    expect((await fetch(new URL('%2e%2e/package.json', site.url))).status).toBe(404);
    expect((await fetch(new URL('..%2fpackage.json', site.url))).status).toBe(404);
    expect((await fetch(new URL('missing.js', site.url))).status).toBe(404);
    expect((await fetch(site.url, { method: 'POST' })).status).toBe(405);
  });
});

describe('room that is kept', () => {
  it.each(viewports)(
    'nothing that is read moves as the figures of the demo arrive ($width pixels)',
    async (viewport) => {
      const { page, context } = await openPage(site, { viewport });
      await untilReady(page);
      await page.evaluate(() => {
        window.shifts = [];
        // what moves within half a second of a press was asked for
        const note = (list) => window.shifts.push(...list.getEntries().filter((entry) => !entry.hadRecentInput));
        new PerformanceObserver(note).observe({ type: 'layout-shift' });
      });
      await runDemo(page);
      await button(page, 'Download model').first().waitFor();
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
      const shift = await page.evaluate(() => window.shifts.reduce((sum, { value }) => sum + value, 0));
      expect(shift).toBeLessThan(0.1);
      await context.close();
    },
    150_000,
  );
});
