// SPDX-License-Identifier: Apache-2.0
//
// Settings after a result: the file is made anew from what was kept, operators are kept in float by a switch, a platform comes
// as a file.

import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

import { asInput } from './files.mjs';
import { button, expectQuiet, openPage, region, root, runDemo, unfold, untilDone, useSite } from './site.mjs';

const site = useSite();

const digest = (page) => page.locator('.sha').getAttribute('title');

/** Makes a change; milliseconds until another file is there to be downloaded. */
async function untilRemade(page, change) {
  const before = await digest(page);
  const started = Date.now();
  await change();
  await expect.poll(() => digest(page), { timeout: 100_000 }).not.toBe(before);
  return Date.now() - started;
}

it('says whether the model can be used, makes it anew after a change, and keeps operators in float', async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  await runDemo(page);
  const verdict = page.locator('.verdict');
  expect(await verdict.getByRole('heading').innerText()).toMatch(
    /^(Worth it|Usable with care|Not worth it|Not usable)$/,
  );
  expect(await verdict.innerText()).toMatch(/\d/);

  await button(page, 'Change settings').click();
  const cut = page.getByLabel('Where to cut activations');
  const took = await untilRemade(page, () => cut.selectOption('NOCLIPPING'));
  console.info(`file made anew in ${took} ms`);
  await untilDone(page);
  expect(await page.locator('.cost').innerText()).toMatch(/Calibrate\s+kept from before/);
  await page.locator('.layer-name').first().click();
  const keeps = page.getByLabel('Keep in float', { exact: true });
  await keeps.waitFor();
  const name = await page.locator('#panel-title').innerText();
  await untilRemade(page, () => keeps.selectOption('on'));
  await untilDone(page);
  expect(await page.locator('.stays-float').innerText()).toContain(name);
  await expectQuiet(visit);
  await context.close();
}, 400_000);

it('shows every setting with its names, and takes a platform file or says what is wrong with it', async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  const model = await readFile(`${root}web/public/demo/model.onnx`);
  const platform = JSON.parse(await readFile(`${root}platforms/ort-cpu/v1.json`, 'utf8'));
  const give = (name, content) =>
    page.getByLabel('Model and samples').setInputFiles([asInput(name, Buffer.from(content))]);
  await give('letters.onnx', model);
  await give('mine.json', JSON.stringify({ ...platform, name: 'mine', title: 'My device' }));
  const settings = region(page, 'Settings');
  await settings.getByText('My device').first().waitFor();
  expect(await settings.getByLabel('Where it will run').inputValue()).toBe('file:mine.json');
  await unfold(page, 'Weights');
  expect(await settings.locator('.setting').count()).toBeGreaterThan(19);
  expect(await settings.innerText()).toContain('activation_threshold_method · MCT activation_error_method');

  await give('broken.json', JSON.stringify({ ...platform, version: 'one', title: 7 }));
  const alert = settings.getByRole('alert');
  await alert.waitFor();
  expect(await alert.locator('.faults li').count()).toBeGreaterThan(1);
  expect(await settings.getByLabel('Where it will run').inputValue()).toBe('file:mine.json');
  await expectQuiet(visit);
  await context.close();
});

it('takes the operators of operator sets as JSON, and says which set is not there', async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  await runDemo(page);
  await button(page, 'Change settings').click();
  await unfold(page, 'Activations');
  const settings = region(page, 'Settings');
  const field = settings.getByLabel('Operators of each set of the platform, as JSON');
  const enter = async (text) => {
    await field.fill(text);
    await field.blur();
  };
  await enter('{ "Conv": ');
  await settings.getByText(/^This is not JSON/).waitFor();
  await enter('["Conv"]');
  await settings.getByText(/an object is expected/).waitFor();
  await enter('{ "Convs": ["Conv"] }');
  await settings.getByText('The platform has no operator set "Convs".').waitFor();
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  await untilRemade(page, () => enter('{ "Conv": [], "DepthwiseConv2D": [] }'));
  await untilDone(page);
  expect(JSON.parse(await field.inputValue())).toEqual({ Conv: [], DepthwiseConv2D: [] });
  expect(await page.locator('.stays-float').innerText()).toMatch(/computes Conv in float/);
  await expectQuiet(visit);
  await context.close();
}, 200_000);
