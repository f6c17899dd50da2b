// SPDX-License-Identifier: Apache-2.0
//
// Settings of single operators and FrameworkInfo, entered in the form: they act, stand in the recipe, come back with it, make the
// same bytes elsewhere; what the engine refuses is said and nothing is lost.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

import { Tersor } from '../../wasm/dist/index.js';
import { demo, demoFiles } from '../wasm/jobs.mjs';
import { asInput } from './files.mjs';
import { button, downloaded, expectQuiet, openPage, region, root, runDemo, untilDone, useSite } from './site.mjs';

const site = useSite();

const digest = (page) => page.locator('.sha').getAttribute('title');

async function openForm(page) {
  const part = page.getByRole('button', { name: /^Single operators/ });
  if (!(await part.isVisible())) await button(page, 'Change settings').click(); // they are open after a recipe arrived
  await part.click();
  await page.locator('.override-form').waitFor();
}

/** Until another file is there, with all that is measured of it. */
async function untilRemade(page, change) {
  const before = await digest(page);
  await change();
  await expect.poll(() => digest(page), { timeout: 100_000 }).not.toBe(before);
  await untilDone(page);
}

const listed = (page) => page.locator('.overrides li').allInnerTexts();
const choose = (page, label, value) => region(page, 'Settings').getByLabel(label, { exact: true }).selectOption(value);

it('takes settings of operators, which make the same bytes by the recipe elsewhere and here', async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  await runDemo(page);
  await openForm(page);
  await page.locator('.override-form datalist option[value="block1.pointwise"]').waitFor({ state: 'attached' });

  await page.getByLabel(/^Name,/).fill('block1.pointwise');
  await choose(page, 'Setting', 'weights_per_channel_threshold');
  await untilRemade(page, () => page.getByLabel(/^Name,/).press('Enter'));
  expect(await page.locator('.cost').innerText()).toMatch(/Calibrate\s+kept from before/);
  await choose(page, 'Which operators', 'type');
  await choose(page, 'Type', 'GlobalAveragePool');
  await choose(page, 'Setting', 'float');
  await untilRemade(page, () => button(page, 'Add').click());
  expect(await page.locator('.stays-float').innerText()).toContain('pool');
  await untilRemade(page, async () => {
    const info = page.getByLabel(/^FrameworkInfo/);
    await info.fill('{ "no_quantization_ops": ["Gemm"] }');
    await info.blur();
  });
  expect((await listed(page)).map((text) => text.replace(/\s+/g, ' ').trim())).toEqual([
    'block1.pointwise One scale per channel: off Remove block1.pointwise',
    'every GlobalAveragePool in float Remove every GlobalAveragePool',
  ]);

  const model = await downloaded(page, 'Download model');
  const recipe = await downloaded(page, 'Download recipe');
  const written = JSON.parse(recipe.bytes);
  expect(written.overrides).toEqual([
    { name: 'block1.pointwise', config: { weights_per_channel_threshold: false } },
    {
      type: 'GlobalAveragePool',
      config: { enable_weights_quantization: false, enable_activation_quantization: false },
    },
  ]);
  expect(written.framework_info).toEqual({ no_quantization_ops: ['Gemm'] });
  await expectQuiet(visit);

  const tersor = await Tersor.create({ workers: 2 });
  const float = await tersor.open(readFileSync(demo.model));
  const elsewhere = await float.quantize({ recipe: written, samples: demoFiles() });
  expect(Buffer.from(elsewhere.model).equals(model.bytes)).toBe(true);
  tersor.close();

  // a page that knows nothing of it
  const second = await openPage(site);
  await second.page
    .getByLabel('Model and samples')
    .setInputFiles([
      ...['model.onnx', 'samples.zip'].map((name) => asInput(name, readFileSync(`${root}web/public/demo/${name}`))),
      asInput(recipe.name, recipe.bytes),
    ]);
  await expect
    .poll(() => button(second.page, 'Quantize').getAttribute('aria-disabled'), { timeout: 20_000 })
    .toBe('false');
  await button(second.page, 'Quantize').click();
  await untilDone(second.page);
  expect(await digest(second.page)).toBe(await digest(page));
  await openForm(second.page);
  expect(await listed(second.page)).toEqual(await listed(page));
  await untilRemade(second.page, () =>
    second.page.getByRole('button', { name: 'Remove block1.pointwise' }).press('Enter'),
  );
  expect(await listed(second.page)).toHaveLength(1);
  await expectQuiet(second);
  await context.close();
  await second.context.close();
}, 400_000);

it("says in the engine's words what cannot be, and loses nothing", async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  await runDemo(page);
  await openForm(page);
  const before = await digest(page);
  const refused = async (text) => {
    await region(page, 'Settings').getByRole('alert').getByText(text).first().waitFor();
    await button(page, 'Dismiss').click();
  };
  await page.getByLabel(/^Name,/).fill('block1.pointwize');
  await button(page, 'Add').click();
  await refused('Did you mean "block1.pointwise"?');
  expect(await page.getByLabel(/^Name,/).inputValue()).toBe('block1.pointwize');

  await choose(page, 'Which operators', 'type');
  await choose(page, 'Type', 'Conv');
  await choose(page, 'Setting', 'weights_n_bits');
  await page.getByLabel('Bits of weights').last().fill('5');
  await button(page, 'Add').click();
  await refused(/The platform offers nothing .* weights_n_bits = 5/);

  await choose(page, 'Which operators', 'json');
  const given = '{ "type": "Conv", "config": { "effort": 2 } }';
  await page.getByLabel('Override as JSON').fill(given);
  await button(page, 'Add').click();
  await refused('effort concerns the whole model');
  expect(await page.getByLabel('Override as JSON').inputValue()).toBe(given);

  const info = page.getByLabel(/^FrameworkInfo/);
  for (const [text, words] of [
    ['{ "kernel_op": ["Conv"] }', 'Did you mean "kernel_ops"?'],
    ['{ "kernel_ops": [', /^This is not JSON/],
  ]) {
    await info.fill(text);
    await info.blur();
    await refused(words);
    expect(await info.inputValue()).toBe(text);
  }
  expect(await listed(page)).toEqual([]);
  expect(await digest(page)).toBe(before);
  await expectQuiet(visit);
  await context.close();
}, 200_000);
