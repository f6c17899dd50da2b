// SPDX-License-Identifier: Apache-2.0
//
// Settings that can be taken back, shared and repeated: one history, the address, the command line and the module for Node.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { unzipSync } from 'fflate';

import { asInput } from './files.mjs';
import {
  button,
  downloaded,
  expectQuiet,
  openPage,
  region,
  root,
  runDemo,
  untilDone,
  useSite,
  viewports,
} from './site.mjs';

const native = `${root}build/native/bin/tersor`;

const site = useSite();
let folder;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tersor-history-'));
});
afterEach(async () => {
  if (folder) await rm(folder, { recursive: true });
});

const toast = (page) => page.locator('.toast').innerText();

it.each(viewports)(
  'E.3 row 22: takes settings, platform, operators and preprocessing back and forth with Ctrl+Z and Ctrl+Shift+Z ($width pixels)',
  async (viewport) => {
    const visit = await openPage(site, { viewport });
    const { page, context } = visit;
    await runDemo(page);
    const first = await page.locator('.sha').getAttribute('title');
    await button(page, 'Change settings').click();
    const cut = page.getByLabel('Where to cut activations');
    const before = await cut.inputValue();
    await cut.selectOption('NOCLIPPING');
    await page.getByLabel('Where it will run').selectOption('tensorrt');
    await button(page, 'Back to Tersor’s defaults').click();
    await expect.poll(() => toast(page)).toMatch(/Back to Tersor’s defaults\s*Undo/);
    await expect.poll(() => cut.inputValue()).toBe(before);
    await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => cut.inputValue()).toBe('NOCLIPPING');
    await page.keyboard.press('Control+z');
    await expect.poll(() => toast(page)).toMatch(/Undone: Where it will run: .*TensorRT/);
    expect(await page.getByLabel('Where it will run').inputValue()).toBe('ort-cpu');
    await page.keyboard.press('Control+z');
    await expect.poll(() => toast(page)).toMatch(/Undone: Where to cut activations: No clipping/);
    await expect.poll(() => cut.inputValue()).toBe(before);
    await expect.poll(() => page.locator('.sha').getAttribute('title'), { timeout: 60_000 }).toBe(first);
    await page.keyboard.press('Control+Shift+z');
    await expect.poll(() => toast(page)).toMatch(/Done again: Where to cut activations/);
    await expect.poll(() => cut.inputValue()).toBe('NOCLIPPING');
    await page.getByRole('button', { name: /^Undo/ }).first().click();
    await untilDone(page);

    await page.locator('.layer-name').first().click();
    await page.getByLabel('Keep in float', { exact: true }).selectOption('on');
    await page.keyboard.press('Control+z');
    await expect.poll(() => toast(page)).toMatch(/Undone: .*kept in float/);
    expect(await page.getByLabel('Keep in float', { exact: true }).inputValue()).toBe('auto');

    await button(page, 'Details samples').click();
    const preset = region(page, 'Samples').getByLabel('Preset');
    const was = await preset.inputValue();
    await preset.selectOption('raw');
    await expect.poll(() => preset.inputValue()).toBe('raw');
    await page.keyboard.press('Control+z');
    await expect.poll(() => preset.inputValue()).toBe(was);

    const deviation = region(page, 'Samples').getByLabel('Divide by');
    await deviation.click();
    await page.keyboard.type('1');
    await page.keyboard.press('Control+z');
    expect(await preset.inputValue()).toBe(was);
    await expectQuiet(visit);
    await context.close();
  },
  300_000,
);

it.each(viewports)(
  'E.3 row 20: keeps the settings in the address, fills them from it without a model, and says what is wrong with it ($width pixels)',
  async (viewport) => {
    const visit = await openPage(site, { viewport });
    const { page, context } = visit;
    await runDemo(page);
    await button(page, 'Change settings').click();
    await page.getByLabel('Where to cut activations').selectOption('KL');
    await page.getByLabel('Where it will run').selectOption({ label: 'Any bits' });
    await page.getByLabel('Weights, kB').fill('20');
    await page.getByLabel('Weights, kB').blur();
    await untilDone(page);
    await button(page, 'Copy link to these settings').click();
    const address = await page.evaluate(() => navigator.clipboard.readText());
    expect(address).toMatch(/#.*activation_threshold_method=KL/);
    expect(address).not.toMatch(/letters|model/);
    await expect.poll(() => page.url()).toBe(address);

    const other = await openPage(site, { url: address });
    expect(await other.page.getByTestId('from-address').innerText()).toMatch(/holds 3 settings and no data/);
    await runDemo(other.page);
    const digests = await Promise.all([page, other.page].map((one) => one.locator('.sha').getAttribute('title')));
    expect(digests[1]).toBe(digests[0]);
    await expectQuiet(other);
    await other.context.close();

    await page.goto(`${site.url}#weights_n_bits=many`);
    await page.reload();
    await region(page, 'Settings').getByRole('alert').waitFor();
    expect(await region(page, 'Settings').getByRole('alert').innerText()).toMatch(/weights_n_bits/);
    await context.close();
  },
  300_000,
);

it.each(viewports)(
  'E.3 row 21: copies a command line and a module that give the same bytes ($width pixels)',
  async (viewport) => {
    const visit = await openPage(site, { viewport });
    const { page, context } = visit;
    const about = JSON.parse(await readFile(`${root}web/public/demo/demo.json`, 'utf8'));
    await page
      .getByLabel('Model and samples')
      .setInputFiles([`${root}web/public/demo/model.onnx`, `${root}web/public/demo/samples.zip`]);
    await expect.poll(() => button(page, 'Quantize').getAttribute('aria-disabled'), { timeout: 30_000 }).toBe('false');
    await page.getByLabel('Where to cut activations').or(button(page, 'Change settings')).first().click();
    await page.getByLabel('Where to cut activations').selectOption('KL');
    await button(page, 'Quantize').click();
    await untilDone(page);
    const model = await downloaded(page, 'Download model');
    const recipe = await downloaded(page, 'Download recipe');
    expect(about.model).toBe('model.onnx');
    await writeFile(join(folder, 'model.onnx'), await readFile(`${root}web/public/demo/model.onnx`));
    const archive = await readFile(`${root}web/public/demo/samples.zip`);
    await writeFile(join(folder, 'samples.zip'), archive);
    for (const [path, bytes] of Object.entries(unzipSync(archive))) {
      if (path.endsWith('/')) continue;
      await mkdir(dirname(join(folder, 'samples', path)), { recursive: true });
      await writeFile(join(folder, 'samples', path), bytes);
    }
    await writeFile(join(folder, recipe.name), recipe.bytes);

    await button(page, 'Copy as command line').click();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    expect(command).toMatch(/^tersor quantize model\.onnx --data samples\.zip --recipe/);
    if (existsSync(native)) {
      execFileSync('sh', ['-c', `"$TERSOR"${command.slice('tersor'.length)}`], {
        cwd: folder,
        env: { ...process.env, TERSOR: native },
      });
      expect((await readFile(join(folder, model.name))).equals(model.bytes)).toBe(true);
      await rm(join(folder, model.name));
    } else console.info(`skipped: bytes of the native program (${native} is not built)`);

    await button(page, 'Copy as JavaScript').click();
    const script = await page.evaluate(() => navigator.clipboard.readText());
    await mkdir(join(folder, 'node_modules'));
    await symlink(`${root}wasm`, join(folder, 'node_modules', 'tersor'));
    await writeFile(join(folder, 'quantize.mjs'), script);
    execFileSync(process.execPath, ['quantize.mjs'], { cwd: folder });
    expect((await readFile(join(folder, model.name))).equals(model.bytes)).toBe(true);
    await expectQuiet(visit);
    await context.close();
  },
  300_000,
);

it('a recipe restores everything, and can be taken back', async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  await runDemo(page);
  await button(page, 'Change settings').click();
  await page.getByLabel('Where to cut activations').selectOption('KL');
  await untilDone(page);
  await page.locator('.layer-name').first().click();
  await page.getByLabel('Keep in float', { exact: true }).selectOption('on');
  await expect.poll(() => page.locator('.stays-float').count(), { timeout: 60_000 }).toBe(1);
  await untilDone(page);
  const digest = await page.locator('.sha').getAttribute('title');
  const recipe = await downloaded(page, 'Download recipe');
  await page.reload();
  await page.evaluate(() => location.replace('#'));
  await page.waitForFunction(() => performance.getEntriesByName('tersor:ready').length > 0);
  await runDemo(page);
  await page.getByLabel('Model and samples').setInputFiles([asInput('r.json', recipe.bytes)]);
  await expect.poll(() => page.locator('.sha').getAttribute('title'), { timeout: 60_000 }).toBe(digest);
  await page.keyboard.press('Control+z');
  await expect.poll(() => toast(page)).toMatch(/Undone: Settings of r\.json/);
  await expect.poll(() => page.locator('.sha').getAttribute('title'), { timeout: 60_000 }).not.toBe(digest);
  await context.close();
}, 300_000);
