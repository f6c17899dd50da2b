// SPDX-License-Identifier: Apache-2.0
//
// What arrives on the page, and what leaves it: rows 1, 2 and 4 of the 25 behaviours.

import { readFile } from 'node:fs/promises';
import { zipSync } from 'fflate';
import { expect, it } from 'vitest';

import { contentSecurityPolicy } from '../../../web/csp.mjs';
import { tensorProto } from '../../zoo/protobuf.mjs';
import { npy, png } from '../files.mjs';
import { colours, residual } from '../networks.mjs';
import {
  button,
  demoFiles,
  downloaded,
  expectQuiet,
  give,
  openPage,
  region,
  transfer,
  untilCanQuantize,
  untilDone,
  untilMeasured,
  useSite,
  viewports,
} from '../site.mjs';

const site = useSite();

const values = (n, k) => Float32Array.from({ length: n }, (_, at) => Math.sin(at + 17 * k));

/** The same eight samples of 1x4x4x4 in every form, and pictures for a model that takes some. */
function sampleForms() {
  const eight = Array.from({ length: 8 }, (_, k) => values(64, k));
  const stacked = Float32Array.from(eight.flatMap((one) => [...one]));
  const array = npy(stacked, [8, 4, 4, 4]);
  const pictures = Array.from({ length: 8 }, (_, k) => [
    `${k}.png`,
    png(
      new Uint8Array(192).map((_v, at) => (at * (k + 3)) % 251),
      8,
      8,
    ),
  ]);
  return {
    '.npy': [residual(1), [['x.npy', array]]],
    '.npz': [residual(1), [['x.npz', zipSync({ 'x.npy': array }, { level: 0 })]]],
    '.csv': [residual(1), [['x.csv', eight.map((one) => [...one].join(',')).join('\n')]]],
    '.zip': [
      residual(1),
      [['x.zip', zipSync(Object.fromEntries(eight.map((one, k) => [`${k}.npy`, npy(one, [4, 4, 4])])))]],
    ],
    '.pb test sets': [
      residual(1),
      [
        [
          'sets.zip',
          zipSync(
            Object.fromEntries(
              eight.map((one, k) => [
                `test_data_set_${k}/input_0.pb`,
                tensorProto('x', { dims: [1, 4, 4, 4], data: one }),
              ]),
            ),
          ),
        ],
      ],
    ],
    pictures: [colours(), pictures],
    'pictures in a folder': [
      colours(),
      [['some.zip', zipSync(Object.fromEntries(pictures.map(([name, bytes]) => [`some/${name}`, bytes])))]],
    ],
  };
}

it.each(viewports)(
  'E.3 row 1: takes every kind of file, several at once, in any order ($width pixels)',
  async (viewport) => {
    const visit = await openPage(site, { viewport });
    const { page, context } = visit;
    const samples = region(page, 'Samples');
    let recipe;
    for (const [kind, [model, files]] of Object.entries(sampleForms())) {
      for (const isModelFirst of [true, false]) {
        await page.reload();
        await page.waitForFunction(() => performance.getEntriesByName('tersor:ready').length > 0);
        const all = isModelFirst ? [['net.onnx', model], ...files] : [...files, ['net.onnx', model]];
        await transfer(page, 'drop', recipe ? [...all, ['saved.json', recipe]] : all);
        await untilCanQuantize(page);
        await samples.getByText('4 calibrate', { exact: true }).first().waitFor();
        expect([kind, await samples.getByRole('alert').count()]).toEqual([kind, 0]);
        if (recipe)
          await region(page, 'Settings')
            .getByText(/^[1-9]\d* changed$/)
            .first()
            .waitFor();
      }
      if (!recipe) {
        await button(page, 'Change settings').click();
        await page.getByLabel('Where to cut activations').selectOption('MSE');
        await button(page, 'Quantize').click();
        await untilMeasured(page);
        recipe = (await downloaded(page, 'Download recipe')).bytes;
        page.on('dialog', (dialog) => void dialog.accept());
      }
    }
    await expectQuiet(visit);
    await context.close();
  },
  240_000,
);

it.each(viewports)(
  'E.3 row 2: the drop zone is a button: Tab reaches it, Enter opens it, and files may be pasted ($width pixels)',
  async (viewport) => {
    const visit = await openPage(site, { viewport });
    const { page, context } = visit;
    for (let k = 0; k < 12; ++k) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(() => document.activeElement?.getAttribute('type') === 'file')) break;
    }
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Enter')]);
    expect(chooser.isMultiple()).toBe(true);
    await chooser.setFiles(demoFiles[0]);
    await region(page, 'Model').getByText('model.onnx', { exact: true }).first().waitFor();
    await transfer(page, 'paste', [['samples.zip', await readFile(demoFiles[1])]]);
    await untilCanQuantize(page);
    await page.keyboard.press('Control+Enter');
    await untilDone(page);
    await expectQuiet(visit);
    await context.close();
  },
);

it('E.3 row 4: says in every state that nothing leaves the tab, and asks for nothing after the load', async () => {
  const response = await fetch(site.url);
  expect(response.headers.get('content-security-policy')).toMatch(/connect-src 'self'/);
  expect(contentSecurityPolicy).toMatch(/default-src 'none'/);
  for (const viewport of viewports) {
    const visit = await openPage(site, { viewport });
    const { page, context, requests } = visit;
    const privacy = () =>
      page
        .getByText(/^Nothing leaves/)
        .first()
        .isVisible();
    expect(await privacy()).toBe(true);
    // what the browser itself asks about the offline worker comes about a second after a load
    await page.waitForTimeout(2500);
    const before = [site.server.requests.length, requests.filter((url) => url.startsWith('http')).length];
    const pictures = Array.from({ length: 8 }, (_, k) => [`${k}.png`, png(new Uint8Array(192).fill(20 * k), 8, 8)]);
    await give(page, ['mine.onnx', colours()], ...pictures);
    await untilCanQuantize(page);
    expect(await privacy()).toBe(true);
    await button(page, 'Quantize').click();
    await untilMeasured(page);
    expect(await privacy()).toBe(true);
    await downloaded(page, 'Download report');
    const after = [site.server.requests.length, requests.filter((url) => url.startsWith('http')).length];
    expect(after).toEqual(before);
    // a layer's panel comes from the page's own folder when one is opened
    await page.locator('.layer-name').first().click();
    await page.locator('.panel').waitFor();
    const fetched = requests.filter((url) => url.startsWith('http')).slice(before[1]);
    expect(fetched.filter((url) => !url.startsWith(`${site.url}assets/`))).toEqual([]);
    await expectQuiet(visit);
    await context.close();
  }
});
