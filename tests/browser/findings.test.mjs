// SPDX-License-Identifier: Apache-2.0
//
// What a walk over the page found, each of its kind: data that does not fit the model, files without a use, results that would be
// lost.

import { readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';

import { asInput, png } from './files.mjs';
import {
  button,
  comparison,
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

const site = useSite();
let model;
beforeAll(async () => {
  model = await readFile(`${root}web/public/demo/model.onnx`);
});

const give = (page, ...files) => page.getByLabel('Model and samples').setInputFiles(files);
const ready = (page) => button(page, 'Quantize').getAttribute('aria-disabled');

/** Pictures in class folders, by an input that keeps folders. */
async function giveFolders(page, names, perFolder) {
  const { zipSync } = await import('fflate');
  const files = {};
  for (const [k, name] of names.entries()) {
    for (let n = 0; n < perFolder; ++n) {
      const pixels = new Uint8Array(48 * 48 * 3).map((_v, at) => (at * (k + 3) * (n + 7)) % 251);
      files[`${name}/${n}.png`] = png(pixels, 48, 48);
    }
  }
  await give(page, asInput('mine.zip', zipSync(files)));
}

it('puts the demo’s pictures away when another model comes, and says so', async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  await runDemo(page);
  await give(page, asInput('mine.onnx', model));
  await page.getByText('The demo’s pictures were put away').first().waitFor();
  await button(page, 'Choose samples').first().waitFor();
  expect(await page.locator('.comparison').count()).toBe(0);
  await expectQuiet(visit);
  await context.close();
});

it('checks class folders against the outputs, and maps them by name or by hand', async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  await give(page, asInput('mine.onnx', model));
  await giveFolders(
    page,
    Array.from({ length: 17 }, (_, k) => `c${String(k).padStart(2, '0')}`),
    2,
  );
  const samples = region(page, 'Samples');
  await samples.getByText(/17 class folders, 16 outputs of the model\..*more folders than outputs/).waitFor();
  expect(await ready(page)).toBe('true');

  await giveFolders(page, ['letter 7', 'letter 12', 'letter 3'], 4);
  await samples.getByText(/3 class folders, 16 outputs/).waitFor();
  await expect.poll(() => ready(page)).toBe('false');
  const by = samples.getByLabel('A folder’s output is given by');
  await by.selectOption('number');
  expect(await ready(page)).toBe('false');
  await by.selectOption('hand');
  const output = samples.getByLabel('Output of letter 12');
  await output.fill('99');
  await output.blur();
  await samples.getByText('99 is over 15.').waitFor();
  await output.fill('12');
  await output.blur();
  await button(page, 'Quantize').click();
  await untilDone(page);
  expect(Object.keys(await comparison(page))[0]).toMatch(/^Top-1 accuracy/);
  await expectQuiet(visit);
  await context.close();
});

it('says what it did not use, and asks once before an unsaved file is lost', async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  await give(page, asInput('mine.onnx', model), asInput('notes.txt', Buffer.from('hello')));
  await page
    .getByText(/^notes\.txt is neither a model nor samples/)
    .first()
    .waitFor();
  await giveFolders(page, ['a', 'b'], 6);
  await expect.poll(() => ready(page), { timeout: 30_000 }).toBe('false');
  await button(page, 'Quantize').click();
  await untilDone(page);
  const asked = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.type());
    void dialog.accept();
  });
  await page.reload();
  expect(asked).toEqual(['beforeunload']);
  await context.close();
});

it.each(viewports)(
  'E.3 row 6: shows a wrong preset at a glance, on a fixed scale ($width pixels)',
  async (viewport) => {
    const visit = await openPage(site, { viewport });
    const { page, context } = visit;
    await give(page, `${root}web/public/demo/model.onnx`, `${root}web/public/demo/samples.zip`);
    const samples = region(page, 'Samples');
    const tensor = samples.locator('.pictures canvas').nth(1);
    await tensor.waitFor();
    const brightness = () =>
      tensor.evaluate((canvas) => {
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
        copy.drawImage(canvas, 0, 0);
        const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
        let sum = 0;
        for (let k = 0; k < data.length; k += 4) sum += data[k] + data[k + 1] + data[k + 2];
        return sum / (0.75 * data.length);
      });
    const right = await brightness();
    await samples.getByLabel('Preset').selectOption('raw');
    await expect.poll(brightness).toBeGreaterThan(right + 50);
    await samples.getByLabel('Stretch the tensor to its own extremes').check();
    await expect.poll(brightness).toBeLessThan(right + 40);
    await expectQuiet(visit);
    await context.close();
  },
);

it.each(viewports)(
  'E.3 row 17: applies an advice with its button, and takes it back ($width pixels)',
  async (viewport) => {
    const visit = await openPage(site, { viewport });
    const { page, context } = visit;
    await give(page, `${root}web/public/demo/model.onnx`, `${root}web/public/demo/samples.zip`);
    const samples = region(page, 'Samples');
    await samples.getByLabel('Preset').selectOption('raw');
    await expect.poll(() => ready(page)).toBe('false');
    await button(page, 'Quantize').click();
    const stop = page.getByTestId('float-stop');
    await stop.waitFor();
    expect(await stop.innerText()).toMatch(/Float accuracy is \d+\.\d+.%/);
    await stop.getByRole('button', { name: 'Go on anyway' }).click();
    await untilDone(page);
    const first = page.getByTestId('advice').locator('li').first();
    expect(await first.getAttribute('data-advice')).toBe('wrong-preprocessing');
    expect(await first.innerText()).toMatch(/Float accuracy is \d+\.\d+.%/);
    await first.getByRole('button').click();
    await expect.poll(() => page.getByTestId('advice').locator('[data-advice="wrong-preprocessing"]').count()).toBe(0);
    await untilDone(page);
    const rows = await comparison(page);
    const [, [float]] = Object.entries(rows).find(([title]) => title.startsWith('Top-1'));
    expect(parseFloat(float)).toBeGreaterThan(90);
    await page.keyboard.press('Control+z');
    await expect
      .poll(() => page.locator('.toast').innerText())
      .toMatch(/Undone: Preprocessing that the labels confirm/);
    await expectQuiet(visit);
    await context.close();
  },
);

it('says before a layer is kept in float what goes with it, and so it is', async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  await runDemo(page);
  const inFloat = async () => {
    const report = JSON.parse((await downloaded(page, 'Download report')).bytes);
    return report.coverage.stays_float.length;
  };
  const before = await inFloat();
  await page.locator('.layer-name', { hasText: 'block1.pointwise' }).first().click();
  const panel = page.locator('.panel');
  const said = panel.locator('.along');
  await expect.poll(() => said.innerText()).toMatch(/takes \d+ other operators? into float: /);
  const along = Number(/takes (\d+) other/.exec(await said.innerText())[1]);
  const digest = () => page.locator('.sha').getAttribute('title');
  const first = await digest();
  await panel.getByLabel('Keep in float', { exact: true }).selectOption('on');
  await expect.poll(digest, { timeout: 60_000 }).not.toBe(first);
  await untilDone(page);
  expect(await inFloat()).toBe(before + 1 + along);
  // the reader is where the choice was made, and can take it back there
  expect(await page.locator('#panel-title').innerText()).toBe('block1.pointwise');
  await expect.poll(() => panel.innerText()).toMatch(/runs in float now/);
  await panel.getByLabel('Keep in float', { exact: true }).selectOption('auto');
  await expect.poll(digest, { timeout: 60_000 }).toBe(first);
  await expect.poll(() => panel.innerText(), { timeout: 60_000 }).toMatch(/Lost outside/);
  await expectQuiet(visit);
  await context.close();
}, 300_000);
