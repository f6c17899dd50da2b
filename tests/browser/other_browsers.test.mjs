// SPDX-License-Identifier: Apache-2.0
//
// The site in Firefox and WebKitGTK: the bytes that Chromium makes, samples that are seen and heard, and nothing on the console.

import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { zipSync } from 'fflate';

import { png, wav } from './files.mjs';
import { softened, words } from './networks.mjs';
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
  await writeFile(join(folder, 'softened.onnx'), softened());
  await writeFile(join(folder, 'words.onnx'), words());
  for (let k = 0; k < 6; ++k) {
    await writeFile(join(folder, `${k}.wav`), wav(4000 + 40 * k));
    const pixels = Uint8Array.from({ length: 3 * 32 * 32 }, (_, at) => at * (k + 3));
    await writeFile(join(folder, `${k}.png`), png(pixels, 32, 32));
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
    await expect.poll(() => page.locator('.region-results .job-done').count(), { timeout: 30_000 }).toBe(0);
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
  // what the page was just told is drawn before it is asked
  const until = async (ask) => { for (;;) { await new Promise((go) => setTimeout(go, 50)); const found = ask(); if (found) return found; } };
  const press = (name) => [...document.querySelectorAll('button')].find((one) => one.textContent.startsWith(name) && one.offsetParent).click();
  const give = async (...names) => {
    const files = new DataTransfer();
    for (const name of names) files.items.add(new File([await (await fetch(name)).blob()], name));
    const input = document.querySelector('input[type="file"]');
    input.files = files.files;
    input.dispatchEvent(new Event('change', { bubbles: true }));
    await until(() => !document.querySelector('.region-results .job-done'));
  };
  const quantize = async () => {
    await until(() => document.querySelector('.main-button')?.getAttribute('aria-disabled') === 'false');
    press('Quantize');
  };
  const shown = (text) => until(() => document.querySelector(text));
  const done = () => until(() => document.querySelector('.region-results .job-done') && document.querySelector('.sha')?.title);
`;

/** A key or a word's letters, typed where the focus is. */
const typed = (...keys) => [
  {
    type: 'key',
    id: 'keys',
    actions: keys.flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]),
  },
];
const end = '\uE010';

/** A drag by mouse between points of the window. */
const dragged = (from, to) => [
  {
    type: 'pointer',
    id: 'mouse',
    parameters: { pointerType: 'mouse' },
    actions: [
      { type: 'pointerMove', duration: 0, ...from },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerMove', duration: 100, ...to },
      { type: 'pointerUp', button: 0 },
    ],
  },
];

/** The likeliest classes of the demo's samples: the slider over the worst, and what the numbers show. */
async function seesClasses(browser) {
  const captions = () =>
    browser.run(`return [...document.querySelectorAll('.closer caption')].map((one) => one.textContent);`);
  const first = await browser.run(`${helpers}
    press('Compare the likeliest classes');
    await shown('.closer td');
    document.querySelector('.closer input[type="range"]').focus();
    return document.querySelector('.closer').innerText;`);
  expect(first).toMatch(/^Sample 1 of 24, worst first/);
  expect((await browser.run(`return document.querySelectorAll('.closer td').length;`)) / 2).toBe(5);
  await browser.act(typed(end));
  expect(await browser.run(`return document.querySelector('.closer').innerText;`)).toMatch(/^Sample 24 of 24/);
  await browser.run(`document.activeElement.blur();`);
  for (const [key, seen] of [
    ['1', ['Float']],
    ['2', ['int8']],
    ['0', ['Float', 'int8']],
  ]) {
    await browser.act(typed(key));
    await expect.poll(captions).toEqual(seen);
  }
}

/** Outputs that are pictures on both sides of a divider. */
async function divides(browser) {
  const place = await browser.run(`${helpers}
    await give('softened.onnx', ...Array.from({ length: 6 }, (_, k) => k + '.png'));
    await quantize();
    await done();
    const divided = await shown('.compared .divided');
    divided.scrollIntoView({ block: 'center' });
    const { x, y, width, height } = divided.getBoundingClientRect();
    return { x, y, width, height };`);
  const parts = () =>
    browser.run(`return [document.querySelector('.divider-grip').getAttribute('aria-valuenow'),
      getComputedStyle(document.querySelectorAll('.drawn-picture')[1]).clipPath];`);
  const at = (share) => ({ x: Math.round(place.x + share * place.width), y: Math.round(place.y + place.height / 2) });
  await browser.act(dragged(at(0.5), at(0.25)));
  const [part, clip] = await parts();
  expect(Math.abs(part - 25)).toBeLessThanOrEqual(1);
  expect(clip).toContain(`${part}%`);
  await browser.run(`document.querySelector('.divider-grip').focus();`);
  await browser.act(typed(end));
  await expect.poll(async () => (await parts())[0]).toBe('100');
}

/** Recordings play. */
async function hears(browser) {
  const seconds = await browser.run(`${helpers}
    await give('words.onnx', ...Array.from({ length: 6 }, (_, k) => k + '.wav'));
    await until(() => document.querySelector('.main-button')?.getAttribute('aria-disabled') === 'false');
    [...document.querySelectorAll('.region-samples button')].find((one) => one.textContent.startsWith('Details'))?.click();
    const player = await shown('.region-samples audio');
    await until(() => player.readyState >= 1);
    player.scrollIntoView({ block: 'center' });
    player.focus();
    return player.duration;`);
  expect(seconds).toBeGreaterThan(0);
  await browser.act(typed(' '));
  await expect
    .poll(() =>
      browser.run(`const { played } = document.querySelector('.region-samples audio'); return played.length;`),
    )
    .toBe(1);
}

for (const { name, missing, open } of otherBrowsers) {
  describe(name, () => {
    it.skipIf(missing)(
      `makes the bytes that Chromium makes, shows samples and plays recordings${missing ? ` (${missing} is not installed)` : ''}`,
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
          await seesClasses(browser);
          let told = `${name}: demo ${demo.took}`;
          if (wanted.zoo) {
            const zooModel = await browser.run(`${helpers}
            await give('resnet20.onnx', 'pictures.zip');
            await quantize();
            return { sha256: await done(), took: document.querySelector('.cost .soft').textContent };`);
            expect(zooModel.sha256).toBe(wanted.zoo);
            told += `, ResNet20 ${zooModel.took}`;
          }
          console.info(told);
          await divides(browser);
          expect(await browser.run('return window.complaints;')).toEqual([]);
          await hears(browser);
        } finally {
          await browser.close();
        }
      },
      600_000,
    );
  });
}
