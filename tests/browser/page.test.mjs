// SPDX-License-Identifier: Apache-2.0
//
// The page as people use it: keyboard, drop, accessibility, widths.

import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';

import { asInput, png } from './files.mjs';
import {
  button,
  expectQuiet,
  openPage,
  region,
  root,
  runDemo,
  siteFolder,
  untilDone,
  untilReady,
  unfold,
  useSite,
} from './site.mjs';

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const site = useSite();

/** Findings of axe that are serious or worse. */
async function audit(page) {
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
    return violations
      .filter((violation) => ['serious', 'critical'].includes(violation.impact))
      .map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.target.join(' ')).join(', ')}`);
  });
}

async function overflows(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

const regions = [
  ['Details model', 'Close model'],
  ['Details samples', 'Close samples'],
  ['Change settings', 'Close settings'],
];

it('is under 1.3 MB compressed, without the demo and what loads on first use', async () => {
  const onFirstUse =
    /^assets\/((tokens|Closer|Documents|GraphView|Help|HistogramPlot|LayerPanel|Verification|VariantsTable|variants|verify|layout\.worker|aside\.worker|verify\.worker)-|tersor-(?!light-|sans-))/;
  const files = (await readdir(siteFolder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .filter(
      (file) =>
        !/^(demo\/|verify\/|fonts\/|tersor\.html$|THIRD_PARTY_NOTICES\.txt$|sbom\.cdx\.json$)/.test(
          path.relative(siteFolder, file),
        ),
    )
    .filter((file) => !onFirstUse.test(path.relative(siteFolder, file)));
  const sizes = await Promise.all(files.map(async (file) => gzipSync(await readFile(file), { level: 9 }).length));
  expect(files.filter((file) => file.endsWith('.wasm')).length).toBe(1);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1.3e6);
});

describe('accessibility and width', () => {
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [1440, 768, 360]) {
      it(`has no serious finding and no sideways scrolling, ${colorScheme}, ${width} pixels`, async () => {
        const visit = await openPage(site, { colorScheme, viewport: { width, height: 900 }, reducedMotion: 'reduce' });
        const { page, context } = visit;
        const found = {};
        const look = async (state) => {
          found[state] = [
            ...(await audit(page)),
            ...((await overflows(page)) > 0 ? [`${await overflows(page)} pixels too wide`] : []),
          ];
        };
        await look('start');
        await runDemo(page);
        await look('results');
        for (const [open, close] of regions) {
          await button(page, open).click();
          await look(open);
          if (close === 'Close settings') {
            for (const part of ['Ranges', 'Weights', 'Activations', 'Single operators']) await unfold(page, part);
            await page.locator('.override-form').waitFor();
            await look('all settings');
          }
          await button(page, close).click();
        }
        await page.locator('.layer-name').first().click();
        await look('layer');
        await button(page, 'Show as table').click();
        await look('histogram as a table');
        await page.locator('body').press('?');
        await look('dialog');
        for (const [state, findings] of Object.entries(found)) expect([state, findings]).toEqual([state, []]);
        await expectQuiet(visit);
        await context.close();
      });
    }
  }

  it('shows every main button once, on the desk and on the phone', async () => {
    for (const width of [1440, 360]) {
      const { page, context } = await openPage(site, { viewport: { width, height: 740 } });
      expect(await button(page, 'Try the demo').count()).toBe(1);
      await runDemo(page);
      for (const name of ['Quantize', 'Download model', 'Download recipe', 'Download report']) {
        expect([width, name, await button(page, name).count()]).toEqual([width, name, 1]);
      }
      await context.close();
    }
  });
});

describe('keyboard', () => {
  it('reaches the drop zone with Tab and opens it with Enter', async () => {
    const { page, context } = await openPage(site);
    for (let k = 0; k < 12; ++k) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(() => document.activeElement?.getAttribute('type') === 'file')) break;
    }
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Enter')]);
    expect(chooser.isMultiple()).toBe(true);
    await context.close();
  });

  it('opens files with Ctrl+O, quantizes with Ctrl+Enter, finds with a slash, closes with Escape, helps with a question mark', async () => {
    const visit = await openPage(site);
    const { page, context } = visit;
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Control+o')]);
    expect(chooser.isMultiple()).toBe(true);
    await runDemo(page);
    await page.evaluate(() => {
      window.labels = new Set();
      const look = () =>
        document.querySelectorAll('.main-button').forEach((button) => window.labels.add(button.textContent));
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    await page.keyboard.press('Control+Enter');
    await expect.poll(() => page.evaluate(() => [...window.labels])).toContain('Cancel');
    await untilDone(page);
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('layer-search');
    await page.keyboard.type('nothing is called so');
    await page.getByText('No layer is called').waitFor();
    await page.keyboard.press('Escape');
    const first = page.locator('.layer-name').first();
    await first.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('group', { name: await first.textContent() }).waitFor();
    await first.focus();
    await page.keyboard.press('ArrowDown');
    const second = await page.locator('.layer-name').nth(1).textContent();
    await page.getByRole('group', { name: second }).waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator('.panel').count()).toBe(0);
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe(second);
    await page.keyboard.press('?');
    const keys = page.getByRole('dialog', { name: 'Keyboard' });
    await keys.getByRole('radio', { name: 'Off' }).check();
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.keyboard.press('?');
    await page.keyboard.press('/');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await page.evaluate(() => document.activeElement?.id)).not.toBe('layer-search');
    await page.reload();
    await untilReady(page);
    await page.keyboard.press('?');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await button(page, 'Keyboard').click();
    await keys.getByRole('radio', { name: 'On' }).check();
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await keys.waitFor();
    await expectQuiet(visit);
    await context.close();
  });
});

it('gives fingers 44 pixels', async () => {
  const visit = await openPage(site, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const { page, context } = visit;
  await runDemo(page);
  for (const [name] of regions) await button(page, name).click();
  for (const head of await page.locator('.setting-group-head').all()) await head.click();
  const small = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('button, select, input, .switch label')]
        .filter((one) => one.getClientRects().length > 0 && !one.closest('.visually-hidden'))
        .filter((one) => !one.matches('.switch input, .open-files input'))
        .filter((one) => one.getBoundingClientRect().height < 44)
        .map((one) => one.outerHTML.slice(0, 100)),
    );
  expect(await small()).toEqual([]);
  await page.locator('.layer-name').first().click();
  expect(await small()).toEqual([]);
  expect(await overflows(page)).toBe(0);
  await expectQuiet(visit);
  await context.close();
});

describe('the focus', () => {
  const focused = (page) =>
    page.evaluate(() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.className);

  it('stays where the reader was when what had it goes away', async () => {
    const visit = await openPage(site);
    const { page, context } = visit;
    await button(page, 'a smaller demo').focus();
    await page.keyboard.press('Enter');
    await untilDone(page);
    expect(await focused(page)).toBe('main');
    await page.locator('.worst button').first().click();
    await expect.poll(() => focused(page)).toBe('panel');
    const top = await page.locator('.panel').evaluate((panel) => panel.getBoundingClientRect().top);
    expect(top).toBeGreaterThanOrEqual(0);
    expect(top).toBeLessThan(450);
    await button(page, 'Next layer').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    expect(await focused(page)).toBe('Next layer');
    const keep = page.locator('.stays-float select').first();
    await page.locator('.worst select').first().selectOption('on');
    await keep.waitFor();
    await untilDone(page);
    await keep.focus();
    await keep.selectOption('auto');
    await keep.waitFor({ state: 'detached' });
    expect(await focused(page)).toMatch(/stays-float/);
    await expectQuiet(visit);
    await context.close();
  });
});

describe('files', () => {
  it('takes samples and model dropped anywhere, samples first', async () => {
    const visit = await openPage(site);
    const { page, context } = visit;
    const model = [...(await readFile(`${root}web/public/demo/model.onnx`))];
    const samples = [...(await readFile(`${root}web/public/demo/samples.zip`))];
    const drop = (name, bytes) =>
      page.evaluate(
        ([fileName, content]) => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([new Uint8Array(content)], fileName));
          document
            .querySelector('footer')
            .dispatchEvent(new DragEvent('dragenter', { dataTransfer: transfer, bubbles: true }));
          document
            .querySelector('footer')
            .dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
        },
        [name, bytes],
      );
    await drop('pictures.zip', samples);
    await region(page, 'Samples').getByText('pictures').waitFor();
    expect(await button(page, 'Quantize').getAttribute('aria-disabled')).toBe('true');
    await drop('letters.onnx', model);
    await region(page, 'Model').getByText('letters.onnx', { exact: true }).first().waitFor();
    await expect.poll(() => button(page, 'Quantize').getAttribute('aria-disabled')).toBe('false');
    await region(page, 'Samples').getByText('16 classes').waitFor();
    await expectQuiet(visit);
    await context.close();
  });

  it('folds a long list of classes, shows all of it, and folds it again', async () => {
    const visit = await openPage(site);
    const { page, context } = visit;
    const picture = png(new Uint8Array(48 * 48 * 3), 48, 48);
    const classes = Object.fromEntries(Array.from({ length: 60 }, (_, k) => [`class ${k}/a.png`, picture]));
    const model = await readFile(`${root}web/public/demo/model.onnx`);
    await page
      .getByLabel('Model and samples')
      .setInputFiles([asInput('letters.onnx', model), asInput('many.zip', Buffer.from(zipSync(classes)))]);
    const rows = page.locator('.classes tbody tr');
    await button(page, 'Show all 60 classes').click();
    expect(await rows.count()).toBe(60);
    await button(page, 'Show fewer classes').click();
    expect(await rows.count()).toBe(20);
    await expectQuiet(visit);
    await context.close();
  });

  it('copies the command line that makes the same file', async () => {
    const { page, context } = await openPage(site);
    await runDemo(page);
    await button(page, 'Copy as command line').click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      'tersor quantize model.onnx --data samples.zip --recipe model.tersor.json -o model.int8.onnx',
    );
    await context.close();
  });

  it('says that figures are old when settings change, and quantizes again', async () => {
    const { page, context } = await openPage(site);
    await runDemo(page);
    await button(page, 'Change settings').click();
    const method = region(page, 'Settings').getByLabel('Where to cut activations');
    const values = await method.locator('option').evaluateAll((options) => options.map((option) => option.value));
    const current = await method.inputValue();
    await method.selectOption(values.find((value) => value !== current));
    await region(page, 'Results').getByText('Settings have changed').waitFor();
    await button(page, 'Quantize').click();
    await untilDone(page);
    await context.close();
  });
});
