// SPDX-License-Identifier: Apache-2.0
//
// The site in Firefox and WebKitGTK: the bytes that Chromium makes, and nothing on the console.

import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { zipSync } from 'fflate';

import { png } from './files.mjs';
import { otherBrowsers } from './other_browsers.mjs';
import { button, openPage, openSite, runDemo, shared, siteFolder, untilMeasured } from './site.mjs';

const zoo = `${shared}/zoo`;

let site;
let folder;
let expected = null;

/** Pictures of a zoo model, in a zip. */
async function pictures() {
  const pixels = await readFile(`${zoo}/data/dev/cifar10_x.u8`);
  const size = 32 * 32 * 3;
  const files = {};
  for (let k = 0; k < 60; ++k)
    files[`${String(k).padStart(3, '0')}.png`] = png(pixels.subarray(k * size, (k + 1) * size), 32, 32);
  return Buffer.from(zipSync(files));
}

/**
 * Stands first in the page, as these browsers tell nobody what is on their console while they are driven: what scripts say there,
 * errors, what could not be loaded, and what the security policy refused.
 */
const watch = `
  window.complaints = [];
  for (const method of ['debug', 'log', 'info', 'warn', 'error'])
    console[method] = (...words) => complaints.push(method + ': ' + words.join(' '));
  addEventListener('error', ({ message, target }) => complaints.push('error: ' + (message ?? target.src ?? target.href)), true);
  addEventListener('unhandledrejection', ({ reason }) => complaints.push('rejected: ' + reason));
  addEventListener('securitypolicyviolation', (event) => complaints.push('refused: ' + event.violatedDirective + ' ' + event.blockedURI));
`;

const sha256 = (page) => page.locator('.sha').getAttribute('title');

beforeAll(async () => {
  if (otherBrowsers.every(({ missing }) => missing)) return;
  folder = await mkdtemp(join(tmpdir(), 'tersor-site-'));
  await cp(siteFolder, folder, { recursive: true });
  await writeFile(join(folder, 'watch.js'), watch);
  const start = join(folder, 'index.html');
  const html = await readFile(start, 'utf8');
  await writeFile(start, html.replace(/<head>/, '<head><script src="watch.js"></script>'));
  if (existsSync(zoo)) {
    await cp(`${zoo}/cifar10-resnet20/model.onnx`, join(folder, 'resnet20.onnx'));
    await writeFile(join(folder, 'pictures.zip'), await pictures());
  }
  site = await openSite({ root: folder });
});
afterAll(async () => {
  await site?.close();
  if (folder) await rm(folder, { recursive: true });
});

/** Digests of what Chromium makes. */
async function inChromium() {
  if (expected) return expected;
  const { page, context } = await openPage(site);
  await runDemo(page);
  const demo = await sha256(page);
  let zooModel = null;
  if (existsSync(zoo)) {
    const files = ['resnet20.onnx', 'pictures.zip'].map((name) => join(folder, name));
    await page.getByLabel('Model and samples').setInputFiles(files);
    await expect.poll(() => page.locator('.region-results .with-sign').count(), { timeout: 30_000 }).toBe(0);
    await expect.poll(() => button(page, 'Quantize').getAttribute('aria-disabled'), { timeout: 30_000 }).toBe('false');
    await button(page, 'Quantize').click();
    await untilMeasured(page);
    zooModel = await sha256(page);
  }
  await context.close();
  expected = { demo, zoo: zooModel };
  return expected;
}

/** For scripts in the page. */
const helpers = `
  const until = async (ask) => { for (;;) { const found = ask(); if (found) return found; await new Promise((go) => setTimeout(go, 50)); } };
  const press = (name) => [...document.querySelectorAll('button')].find((one) => one.textContent.startsWith(name) && one.offsetParent).click();
  const done = () => until(() => document.querySelector('.region-results .with-sign') && document.querySelector('.sha')?.title);
`;

for (const { name, missing, open } of otherBrowsers) {
  describe(name, () => {
    it.skipIf(missing)(
      `makes the bytes that Chromium makes${missing ? ` (${missing} is not installed)` : ''}`,
      async () => {
        const wanted = await inChromium();
        const browser = await open();
        try {
          await browser.go(`${site.url}#view=everything`);
          await browser.run(`${helpers} await until(() => performance.getEntriesByName('tersor:ready').length > 0);`);
          const demo = await browser.run(
            `${helpers} press('a smaller demo'); return { sha256: await done(), took: document.querySelector('.cost .soft').textContent };`,
          );
          expect(demo.sha256).toBe(wanted.demo);
          let told = `${name}: demo ${demo.took}`;
          if (wanted.zoo) {
            const zooModel = await browser.run(`${helpers}
            const files = new DataTransfer();
            for (const name of ['resnet20.onnx', 'pictures.zip'])
              files.items.add(new File([await (await fetch(name)).blob()], name));
            const input = document.querySelector('input[type="file"]');
            input.files = files.files;
            input.dispatchEvent(new Event('change', { bubbles: true }));
            await until(() => !document.querySelector('.region-results .with-sign'));
            await until(() => document.querySelector('.main-button')?.getAttribute('aria-disabled') === 'false');
            press('Quantize');
            return { sha256: await done(), took: document.querySelector('.cost .soft').textContent };`);
            expect(zooModel.sha256).toBe(wanted.zoo);
            told += `, ResNet20 ${zooModel.took}`;
          }
          console.info(told);
          expect(await browser.run('return window.complaints;')).toEqual([]);
        } finally {
          await browser.close();
        }
      },
      600_000,
    );
  });
}
