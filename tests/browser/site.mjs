// SPDX-License-Identifier: Apache-2.0
//
// The built site in Chromium: a server that counts requests, a browser, and pages that remember everything a visitor must
// never see: console messages, errors, refused requests, violations of the security policy.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect } from 'vitest';

import { chromium } from 'playwright-core';

import { serve } from '../../scripts/serve.mjs';
import { browserPath } from './browser_path.mjs';

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export const root = here('../..');
export const siteFolder = process.env.TERSOR_SITE ?? `${root}web/dist`;
export const shared = process.env.TERSOR_SHARED ?? `${root}../shared`;

/** Server and browser for one file of tests. */
export async function openSite(options = {}) {
  if (!existsSync(`${siteFolder}/index.html`)) throw new Error(`${siteFolder} has no site: run ./scripts/build web`);
  const server = await serve({ root: siteFolder, port: 0, ...options });
  const browser = await chromium.launch({ executablePath: browserPath(), args: ['--disable-dev-shm-usage'] });
  return {
    server,
    browser,
    url: server.url,
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

/** Milliseconds of processor time that no task of the page's thread needs. The aim is 50 on the bench's machine; what a test
 * guards against is work that belongs into a worker. */
export const longTask = 200;

/** The site of a whole file of tests: opened before the first, closed after the last. */
export function useSite() {
  const site = {};
  beforeAll(async () => {
    Object.assign(site, await openSite());
  });
  afterAll(() => site.close?.());
  return site;
}

/** Sizes of a desk's and a phone's page. */
export const viewports = [
  { width: 1440, height: 900 },
  { width: 360, height: 740 },
];

/**
 * A page in a fresh profile; `complaints` collects what must stay empty. `view`: how much of a result is shown; null leaves it as on
 * a first visit.
 */
export async function openPage(site, { url = site.url, view = 'everything', ...options } = {}) {
  const context = await site.browser.newContext({
    viewport: viewports[0],
    acceptDownloads: true,
    ...options,
  });
  context.setDefaultTimeout(90_000);
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(site.url).origin });
  const page = await context.newPage();
  const complaints = [];
  const requests = [];
  page.on('console', (message) => complaints.push(`console ${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('requestfailed', (request) =>
    complaints.push(`failed: ${request.url()} ${request.failure()?.errorText ?? ''}`),
  );
  page.on('request', (request) => requests.push(request.url()));
  // a listener from the beginning, so that file choosers are caught before the first key is pressed
  page.on('filechooser', () => {});
  await page.addInitScript((wanted) => {
    try {
      if (wanted && !localStorage.getItem('tersor-view')) localStorage.setItem('tersor-view', wanted);
    } catch {
      // an address without a store
    }
    window.violations = [];
    document.addEventListener('securitypolicyviolation', (event) =>
      window.violations.push(`${event.violatedDirective} ${event.blockedURI}`),
    );
    window.longTasks = [];
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries())
        window.longTasks.push(`${Math.round(duration)} at ${Math.round(startTime)}`);
    }).observe({ type: 'longtask', buffered: true });
  }, view);
  if (url) {
    await page.goto(url);
    await untilReady(page);
  }
  return { context, page, complaints, requests };
}

export async function untilReady(page) {
  await page.waitForFunction(() => performance.getEntriesByName('tersor:ready').length > 0, undefined, {
    timeout: 150_000,
  });
}

export async function expectQuiet({ page, complaints }) {
  expect(complaints).toEqual([]);
  expect(await page.evaluate(() => window.violations)).toEqual([]);
}

/** The button that the reader sees, in the page or in the dock. */
export function button(page, name) {
  return page.getByRole('button', { name, exact: true });
}

export function region(page, name) {
  return page.getByRole('region', { name, exact: true });
}

/** Text as one reads it: every kind of white space a blank. */
export const plain = (text) => text.replaceAll(/\s+/g, ' ');

/** The three figures of the comparison's first row and others, as shown. */
export async function comparison(page) {
  return page.locator('.comparison tbody tr').evaluateAll((rows) =>
    Object.fromEntries(
      rows.map((row) => {
        const [title, ...cells] = [...row.children].map((cell) => cell.textContent.replaceAll('\u202f', ' '));
        return [title, cells];
      }),
    ),
  );
}

/** The demo of letters, which is small and loaded with the page. */
export async function runDemo(page) {
  await button(page, 'a smaller demo').click();
  await untilDone(page);
}

export async function untilDone(page, timeout = 120_000) {
  await page.locator('.comparison .first .readout').nth(1).waitFor({ timeout });
  await expect.poll(() => page.locator('.region-results .job-done').count(), { timeout }).toBe(1);
}

/** As untilDone(), of samples without labels too. */
export async function untilMeasured(page, timeout = 120_000) {
  await expect.poll(() => page.locator('.region-results .job-done').count(), { timeout }).toBe(1);
}

/** Content of a download that clicking `name` begins. */
export async function downloaded(page, name) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
  const chunks = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  return { name: download.suggestedFilename(), bytes: Buffer.concat(chunks) };
}

/** Gives files to the page's one input: [name, bytes] pairs, or paths. */
export async function give(page, ...files) {
  await page
    .getByLabel('Model and samples')
    .setInputFiles(
      files.map((file) =>
        typeof file === 'string'
          ? file
          : { name: file[0], mimeType: 'application/octet-stream', buffer: Buffer.from(file[1]) },
      ),
    );
}

/** A page that has been given a model and, once it knows that, the samples: `[name, bytes]` pairs, or paths. */
export async function openWith(site, options, model, samples = []) {
  const visit = await openPage(site, options);
  await give(visit.page, model);
  await region(visit.page, 'Model').getByText('parameters').first().waitFor();
  if (samples.length > 0) {
    await give(visit.page, ...samples);
    await untilCanQuantize(visit.page);
  }
  return visit;
}

/** Puts [name, bytes] pairs into a drop or a paste, all together, wherever the reader is. */
export async function transfer(page, type, files) {
  await page.evaluate(
    ([kind, listed]) => {
      const data = new DataTransfer();
      for (const [name, text] of listed) {
        const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
        data.items.add(new File([bytes], name));
      }
      const place = document.querySelector('footer');
      const options = { bubbles: true, cancelable: true };
      if (kind === 'paste') {
        place.dispatchEvent(new ClipboardEvent('paste', { ...options, clipboardData: data }));
        return;
      }
      place.dispatchEvent(new DragEvent('dragenter', { ...options, dataTransfer: data }));
      place.dispatchEvent(new DragEvent('drop', { ...options, dataTransfer: data }));
    },
    [type, files.map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')])],
  );
}

/** Unfolds a part of the open settings. */
export async function unfold(page, part) {
  await region(page, 'Settings')
    .getByRole('button', { name: new RegExp(`^${part}`) })
    .click();
}

/** Whether Quantize waits for something. */
export async function isReady(page) {
  return (await button(page, 'Quantize').getAttribute('aria-disabled')) === 'false';
}

export async function untilCanQuantize(page, timeout = 30_000) {
  await expect.poll(() => isReady(page), { timeout }).toBe(true);
}

/** The demo's model and pictures, as a reader's own. */
export const demoFiles = [`${root}web/public/demo/model.onnx`, `${root}web/public/demo/samples.zip`];

/** CPU time in milliseconds of the tasks on the page's main thread, from a trace: what other programs take does not count. */
export function tasksOf(trace) {
  const { traceEvents } = JSON.parse(trace);
  const renderers = traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain');
  const threads = new Set(renderers.map(({ pid, tid }) => `${pid} ${tid}`));
  return traceEvents
    .filter(({ name, pid, tid, tdur }) => name.endsWith('RunTask') && threads.has(`${pid} ${tid}`) && tdur)
    .map(({ tdur }) => tdur / 1000);
}

export const traced = { categories: ['disabled-by-default-devtools.timeline', 'toplevel'] };

/** Findings of axe at any severity. */
export async function axeFindings(page) {
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
  });
}

export async function pixelsTooWide(page) {
  return page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth));
}
