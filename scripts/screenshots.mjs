// SPDX-License-Identifier: Apache-2.0
//
// Walks through the built page in Chromium and takes a picture of each state, for every width and theme.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

import { browserPath } from '../tests/browser/browser_path.mjs';
import { serve } from './serve.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const isForDocs = process.argv[2] === '--docs';
const [folder = join(root, 'build/screenshots'), ...wanted] = isForDocs
  ? [join(root, 'docs/page')]
  : process.argv.slice(2);
const widths = [360, 768, 1440];
const themes = ['light', 'dark'];

const server = await serve({ root: join(root, 'web/dist'), port: 0 });
const browser = await chromium.launch({ executablePath: browserPath(), args: ['--disable-dev-shm-usage'] });
await mkdir(folder, { recursive: true });

const isWanted = (state) => wanted.length === 0 || wanted.includes(state);
const button = (page, name) => page.getByRole('button', { name, exact: true });
const give = (page, ...files) =>
  page
    .getByLabel('Model and samples')
    .setInputFiles(files.map((file) => (typeof file === 'string' ? join(root, file) : file)));

async function opened(address = '', options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  await page.addInitScript(
    () => localStorage.getItem('tersor-view') ?? localStorage.setItem('tersor-view', 'everything'),
  );
  await page.goto(server.url + address);
  await page.waitForFunction(() => performance.getEntriesByName('tersor:ready').length > 0, undefined, {
    timeout: 60_000,
  });
  return page;
}

/** Samples are decoded after the figures stand. */
const samplesDrawn = (page) =>
  page.waitForFunction(() => [...document.querySelectorAll('.thumbnail')].every((one) => one.firstChild));

async function picture(page, state, fullPage = true) {
  if (!isWanted(state)) return;
  await samplesDrawn(page);
  for (const width of widths) {
    await page.setViewportSize({ width, height: width < 600 ? 740 : 900 });
    for (const theme of themes) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      await page.screenshot({ path: join(folder, `${state}-${width}-${theme}.png`), fullPage });
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  console.log(state);
}

const done = (page) => page.locator('.region-results .job-done').waitFor({ timeout: 120_000 });
const demoModel = 'web/public/demo/model.onnx';
const demoSamples = 'web/public/demo/samples.zip';

if (isForDocs) {
  const devices = [
    { viewport: { width: 1440, height: 1050 } },
    { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  ];
  for (const device of devices)
    for (const colorScheme of themes) {
      const page = await opened('', { ...device, colorScheme, reducedMotion: 'reduce' });
      await button(page, 'Try the demo').click();
      await done(page);
      for (const state of ['Answer', 'Why', 'Everything']) {
        await page.getByRole('radio', { name: state }).check();
        await samplesDrawn(page);
        await page.evaluate(() => scrollTo(0, 0));
        const name = `${state.toLowerCase()}-${device.viewport.width}-${colorScheme}.png`;
        await page.screenshot({ path: join(folder, name) });
        console.log(name);
      }
      await page.context().close();
    }
  await browser.close();
  await server.close();
  process.exit();
}

const first = await opened();
await picture(first, 'landing');
await give(first, demoModel);
await first.locator('.operators').waitFor();
await picture(first, 'model');
await give(first, demoSamples);
await first.locator('.samples-columns figure').first().waitFor();
await picture(first, 'samples');
await give(first, { name: 'net.onnx', mimeType: 'application/octet-stream', buffer: Buffer.from('TFL3 no model') });
await first.getByRole('alert').first().waitFor();
await picture(first, 'error');
await first.context().close();

if (isWanted('running')) {
  const running = await opened();
  await give(running, demoModel, demoSamples);
  await running.locator('.samples-columns figure').first().waitFor();
  for (const width of widths) {
    await running.setViewportSize({ width, height: width < 600 ? 740 : 900 });
    for (const theme of themes) {
      await running.emulateMedia({ colorScheme: theme });
      await button(running, 'Quantize').click();
      await running.locator('.stages').waitFor();
      await running.screenshot({ path: join(folder, `running-${width}-${theme}.png`), fullPage: true });
      const cancel = button(running, 'Cancel');
      if (await cancel.count()) await cancel.click().catch(() => undefined);
      await button(running, 'Quantize').waitFor();
    }
  }
  console.log('running');
  await running.context().close();
}

if (isWanted('stop')) {
  const wrong = await opened();
  await give(wrong, demoModel, demoSamples);
  await wrong.getByLabel('Preset').selectOption('raw');
  await wrong.locator('.main-button.filled').first().waitFor();
  await button(wrong, 'Quantize').click();
  await wrong.getByTestId('float-stop').waitFor();
  await picture(wrong, 'stop');
  await wrong.context().close();
}

const page = await opened();
await button(page, 'Try the demo').click();
await done(page);
await picture(page, 'results');
for (const state of ['Answer', 'Why', 'Everything']) {
  await page.getByRole('radio', { name: state }).check();
  await picture(page, state.toLowerCase());
}
await page.locator('.layer-name').first().click();
await page.locator('.panel').waitFor();
await picture(page, 'layer');
await page.keyboard.press('Escape');
if (isWanted('graph')) {
  await page.getByRole('tab', { name: 'Graph' }).click();
  await page.locator('.graph-canvas').waitFor();
  await picture(page, 'graph');
  await page.getByRole('tab', { name: 'Layers' }).click();
}
if (isWanted('verify')) {
  await button(page, 'Verify in this browser').click();
  await page.getByText('Int8 answers as above').waitFor({ timeout: 120_000 });
  await picture(page, 'verify');
}
if (isWanted('help')) {
  await button(page, 'How it works').click();
  await page.locator('.help-section').last().waitFor();
  await picture(page, 'help', false);
  await page.keyboard.press('Escape');
}
await button(page, 'Change settings').click();
await picture(page, 'settings');
const parts = [/^Ranges/, /^Weights/, /^Activations/, /^Single operators/];
for (const part of parts) await page.getByRole('button', { name: part }).click();
await picture(page, 'all-settings');
for (const part of parts) await page.getByRole('button', { name: part }).click();
await page.getByLabel('Bits of weights').or(page.getByLabel('Weights, kB')).first().waitFor();
await page.getByLabel('Where to cut activations').selectOption('KL');
await page.keyboard.press('Control+z');
await picture(page, 'undone', false);
await done(page);
await button(page, 'Close settings').click();
await page.keyboard.press('?');
await picture(page, 'keys', false);
await page.keyboard.press('Escape');
await button(page, 'Change settings').click();
await button(page, 'Copy to B').click();
await page.getByLabel('Where to cut activations').selectOption('NOCLIPPING');
await page.getByLabel('Where it will run').selectOption('any');
await page.getByLabel('Bits of weights').fill('3');
await page.getByLabel('Bits of weights').blur();
await page.getByTestId('change-line').waitFor({ timeout: 60_000 });
await done(page);
await picture(page, 'two-settings');
await button(page, 'Close settings').click();
await picture(page, 'two');
await page.context().close();

if (isWanted('tradeoff') || isWanted('training')) {
  const few = await opened();
  await button(few, 'Try the demo').click();
  await done(few);
  await button(few, 'Change settings').click();
  await few.getByLabel('Where it will run').selectOption('any');
  await few.getByLabel('Bits of weights').fill('3');
  await few.getByLabel('Bits of weights').blur();
  await few.getByTestId('change-line').waitFor({ timeout: 60_000 });
  await done(few);
  await button(few, 'Close settings').click();
  await few.getByLabel('Minutes').fill('0.1');
  await button(few, 'Train').click();
  await few.getByText(/samples held aside the outputs have/).waitFor({ timeout: 120_000 });
  await done(few);
  await picture(few, 'training');
  await button(few, 'Change settings').click();
  await few.getByLabel('Bits of weights').fill('');
  await few.getByLabel('Bits of weights').blur();
  await button(few, 'Discard the training').click();
  await done(few);
  await button(few, 'Close settings').click();
  await button(few, 'Compare budgets').click();
  await button(few, 'Compare budgets again').waitFor({ timeout: 120_000 });
  await picture(few, 'tradeoff');
  await few.context().close();
}

await browser.close();
await server.close();
