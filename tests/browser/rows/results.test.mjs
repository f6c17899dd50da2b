// SPDX-License-Identifier: Apache-2.0
//
// The work and its figures: rows 9, 13, 14 and 24 of the 25 behaviours (row 11 is in main_thread.test.mjs). One job serves several.

import { describe, expect, it } from 'vitest';

import { npy } from '../files.mjs';
import { residual } from '../networks.mjs';
import {
  axeFindings,
  button,
  comparison,
  expectQuiet,
  openPage,
  openWith,
  pixelsTooWide,
  plain,
  region,
  runDemo,
  untilDone,
  untilMeasured,
  useSite,
  viewports,
} from '../site.mjs';

const site = useSite();

/** A network of more than 300 operators. */
const deep = ['deep.onnx', residual(80)];
const arrays = Array.from({ length: 24 }, (_, k) => [
  `${k}.npy`,
  npy(
    Float32Array.from({ length: 64 }, (_v, i) => Math.sin(i * (k + 1))),
    [1, 4, 4, 4],
  ),
]);

// Rows of one network or one job share its page, in this order.
let visit;

describe.each(viewports)('$width pixels, 300 operators', (viewport) => {
  it('E.3 row 9: says stage, share, time and samples per second, and in the title while another tab is in front', async () => {
    visit = await openWith(site, { viewport }, deep, arrays);
    const { page, context } = visit;
    await page.evaluate(() => {
      window.seen = { titles: new Set(), lines: new Set(), stages: new Set(), rates: new Set() };
      const look = () => {
        window.seen.titles.add(document.title);
        const line = document.querySelector('.progress');
        if (line) window.seen.lines.add(line.textContent);
        const stage = document.querySelector('.stage-running .stage-title')?.firstChild?.textContent;
        if (stage) window.seen.stages.add(stage);
        const rate = document.querySelector('.stages .block-head .soft')?.textContent;
        if (rate) window.seen.rates.add(rate);
      };
      new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
    });
    await button(page, 'Quantize').click();
    const other = await context.newPage(); // in front from here on
    await other.goto('about:blank');
    await expect.poll(() => page.title(), { timeout: 120_000 }).toMatch(/deep · Tersor/);
    await other.close();
    await untilMeasured(page);
    const seen = await page.evaluate(() =>
      Object.fromEntries(Object.entries(window.seen).map(([name, texts]) => [name, [...texts]])),
    );
    const titles = seen.titles.map(plain).filter((title) => /^\d+ %/.test(title));
    const shares = titles.map((title) => parseInt(title, 10));
    expect(shares.length).toBeGreaterThan(3);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(titles.every((title) => / · .+ · Tersor$/.test(title))).toBe(true);
    expect(seen.stages.length).toBeGreaterThan(2);
    expect(seen.lines.map(plain).some((line) => /^\d+ %\d.* (ms|s) gone/.test(line))).toBe(true);
    // the stage stands beside the time where the list of stages is further down
    expect(seen.lines.map(plain).some((line) => / gone.*(Calibrate|Choose ranges|Error by layer)/.test(line))).toBe(
      true,
    );
    expect(seen.rates.map(plain).some((rate) => /\d samples \/ s, \d worker/.test(rate))).toBe(true);
  }, 240_000);

  it('E.3 row 14: lists the layers of 300 operators, worst first, finds one with a slash and opens it with a click', async () => {
    const { page, context } = visit;
    const list = page.locator('table.layers');
    const names = page.locator('.layer-name');
    await page.getByRole('button', { name: /^Show all \d+ layers/ }).click();
    const count = Number(await list.getAttribute('aria-rowcount'));
    expect(count).toBeGreaterThan(160);
    const sharesShown = (await list.locator('tbody tr td.right:nth-child(4)').allInnerTexts()).map(parseFloat);
    expect(sharesShown.length).toBeGreaterThan(5);
    expect(sharesShown).toEqual([...sharesShown].sort((a, b) => b - a));
    expect(await list.locator('.error-bar').count()).toBe(await names.count());
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('layer-search');
    await page.keyboard.type('block41/conv2');
    await expect.poll(() => names.count()).toBeLessThan(4);
    await names.first().click();
    await page.getByRole('group', { name: /block41/ }).waitFor();
    await expectQuiet(visit);
    await context.close();
  }, 240_000);
});

describe.each(viewports)('$width pixels', (viewport) => {
  it('E.3 row 13: shows float, A and B by accuracy, size, error, agreement and integer coverage', async () => {
    visit = await openPage(site, { viewport, reducedMotion: 'reduce' });
    const { page } = visit;
    await page.evaluate(() => {
      window.said = new Set();
      const look = () =>
        document.querySelectorAll('[aria-live], [role=status]').forEach((one) => window.said.add(one.textContent));
      new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
    });
    await runDemo(page);
    const one = await comparison(page);
    const [top] = Object.keys(one);
    expect(plain(top)).toMatch(/^Top-1 accuracy ?n = \d+, ± ?\d/);
    for (const cell of one[top].slice(0, 2)) expect(cell).toMatch(/^\d+\.\d\d %$/);
    await button(page, 'Change settings').click();
    await button(page, 'Copy to B').first().click();
    await region(page, 'Settings').getByLabel('Where to cut activations').selectOption('NOCLIPPING');
    await untilDone(page);
    const two = await comparison(page);
    expect(two[Object.keys(two)[0]].length).toBe(3);
    expect(two['Same answer as float'].slice(1)).toEqual([
      expect.stringMatching(/ %\d+ of \d+$/),
      expect.stringMatching(/ %\d+ of \d+$/),
    ]);
    for (const title of ['Output SQNR', 'File size', 'Runs as integer']) expect(two[title].length).toBe(3);
    expect(two['Output SQNR'][2]).toMatch(/dB/);
    expect(two['File size'].every((cell) => /(kB|MB)/.test(cell))).toBe(true);
    expect(two['Runs as integer'][1]).toMatch(/^\d+ of \d+/);
    expect(await pixelsTooWide(page)).toBe(0);
  }, 240_000);

  it('E.3 row 24: has landmarks, a live region, a table beside its chart, no motion, and no finding of axe', async () => {
    const { page, context } = visit;
    for (const role of ['banner', 'main', 'contentinfo']) expect(await page.getByRole(role).count()).toBe(1);
    const said = await page.evaluate(() => [...window.said].join('\n'));
    expect(said).toMatch(/percent, /);
    await page.locator('.layer-name').first().click();
    await page.locator('.panel').waitFor();
    await button(page, 'Show as table').click();
    expect(await page.locator('.panel table').count()).toBeGreaterThan(0);
    const moving = await page.evaluate(
      () => document.getAnimations().filter((one) => one.playState === 'running').length,
    );
    expect(moving).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
    if (viewport.width > 1000) {
      // at 200 % the page has half as many pixels to be laid out in
      await page.setViewportSize({ width: viewport.width / 2, height: viewport.height / 2 });
      expect(await pixelsTooWide(page)).toBe(0);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await axeFindings(page)).toEqual([]);
      // the keyboard's place is seen
      await page.keyboard.press('Tab');
      const outline = await page.evaluate(() => {
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(document.activeElement);
        return (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
      });
      expect(outline).toBe(true);
    }
    await expectQuiet(visit);
    await context.close();
  }, 240_000);
});
