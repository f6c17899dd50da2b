// SPDX-License-Identifier: Apache-2.0
//
// What the page says before any work, and its settings: rows 5, 18 and 19 of the 25 behaviours.

import { expect, it } from 'vitest';

import { colours, withOddOperator } from '../networks.mjs';
import {
  button,
  expectQuiet,
  give,
  openPage,
  openWith,
  pixelsTooWide,
  plain,
  region,
  unfold,
  useSite,
  viewports,
} from '../site.mjs';

const site = useSite();

it('E.3 row 5: shows the model’s card before any work, with an operator that cannot run and what will happen', async () => {
  for (const viewport of viewports) {
    const visit = await openWith(site, { viewport }, ['odd.onnx', withOddOperator()]);
    const { page, context } = visit;
    const model = region(page, 'Model');
    await model.getByText('odd_one').waitFor();
    const facts = plain(await model.locator('dl.facts').innerText());
    expect(facts).toMatch(/opset 13/);
    expect(facts).toMatch(/Nodes 2/);
    expect(facts).toMatch(/Parameters 12/);
    const rows = (await model.locator('tbody tr').allInnerTexts()).map(plain);
    expect(rows).toContain('x in float32 1×3×8×8');
    expect(rows).toContain('y out float32 1×4×8×8');
    expect(rows).toContain('Frobnicate 1 stays float');
    expect(rows).toContain('Conv 1 integer kernel');
    // how much that is, which, why, and what will happen
    expect(plain(await model.locator('.line-cells').textContent())).toMatch(/no core node stays float/);
    expect(plain(await model.innerText())).toMatch(/1 node stays float\. Its one core node, .* runs as integer\./);
    const said = plain(await model.innerText());
    expect(said).toMatch(
      /1 node: Frobnicate\. It, or a node before it, cannot be run here; it stays as it is\. odd_one/,
    );
    expect(said).toMatch(
      /no operators of these names: Frobnicate\. They are kept as they are, and cannot be run here\./,
    );
    expect(await pixelsTooWide(page)).toBe(0);
    // another model in its place: nothing of the first stays
    await give(page, ['colours.onnx', colours()]);
    await model.getByText('colours.onnx').first().waitFor();
    // the expected size arrives after the other facts
    await expect.poll(async () => plain(await model.innerText())).toMatch(/Int8 size about/);
    const next = plain(await model.innerText());
    expect(next).not.toMatch(/Frobnicate|odd_one/);
    expect(next).toMatch(/Multiply-adds \d+ a sample/);
    await expectQuiet(visit);
    await context.close();
  }
}, 240_000);

it('E.3 row 18: a platform changes defaults, is checked, and names the nodes that do not fit it', async () => {
  for (const viewport of viewports) {
    const visit = await openPage(site, { viewport });
    const { page, context } = visit;
    const settings = region(page, 'Settings');
    const model = region(page, 'Model');
    await give(page, ['odd.onnx', withOddOperator()]);
    await model.getByText('odd_one').waitFor();
    await button(page, 'Change settings').click();
    const platform = settings.getByLabel('Where it will run');
    const offered = await platform.locator('option').allInnerTexts();
    for (const name of [/TensorRT/, /TensorFlow Lite/, /QNN/, /IMX500/])
      expect(offered.some((one) => name.test(one))).toBe(true);
    const meanings = new Set();
    const chosen = viewport.width > 1000 ? ['tensorrt', 'tflite', 'qnn', 'imx500'] : ['imx500'];
    for (const value of chosen) {
      await platform.selectOption(value);
      await expect.poll(() => platform.inputValue()).toBe(value);
      meanings.add(await settings.locator('.setting-meaning').first().innerText());
      const title = await platform.locator('option:checked').innerText();
      await model.getByText(`on ${title}`).waitFor();
      // the node that no runtime knows is named with its reason wherever it is to run
      await expect.poll(async () => plain(await model.innerText())).toMatch(/odd_one/);
    }
    expect(meanings.size).toBe(chosen.length);
    // what a platform has no kernels for is said at the field
    await platform.selectOption('ort-cpu');
    await settings.getByLabel('Bits of weights').fill('3');
    await settings.getByLabel('Bits of weights').blur();
    await settings.locator('.field-wrong').waitFor();
    await expect.poll(async () => plain(await settings.locator('.field-wrong').innerText())).toMatch(/3/);
    expect(await pixelsTooWide(page)).toBe(0);
    await expectQuiet(visit);
    await context.close();
  }
}, 240_000);

it('E.3 row 19: every setting has a sentence of help and its names', async () => {
  for (const viewport of viewports) {
    const visit = await openPage(site, { viewport });
    const { page, context } = visit;
    const settings = region(page, 'Settings');
    await give(page, ['colours.onnx', colours()]);
    // a model that arrives closes what is open beside its own card
    await region(page, 'Model').getByText('colours.onnx').first().waitFor();
    await button(page, 'Change settings').click();
    for (const part of ['Ranges', 'Weights', 'Activations', 'Single operators']) await unfold(page, part);
    await page.locator('.override-form').waitFor();
    let rows = [];
    const read = async () =>
      (rows = await settings.locator('.setting').evaluateAll((all) =>
        all.map((one) => ({
          name: one.querySelector('.setting-name')?.textContent ?? '',
          help: one.querySelector('.setting-meaning')?.textContent ?? '',
          names: one.querySelector('.setting-field')?.textContent ?? '',
          seen: [...one.querySelectorAll('p')].every((line) => line.getBoundingClientRect().height > 0),
        })),
      ));
    await expect.poll(async () => (await read()).every(({ seen }) => seen) && rows.length > 20).toBe(true);
    for (const { name, help, names, seen } of rows) {
      expect([name, help]).toEqual([name, expect.stringMatching(/^[A-Za-z].{10,}\.$/s)]);
      expect([name, names]).toEqual([name, expect.stringMatching(/^[a-z_0-9]+/)]);
      // help that is always there needs neither hover nor focus
      expect([name, seen]).toEqual([name, true]);
    }
    expect(rows.filter(({ names }) => /MCT/.test(names)).length).toBeGreaterThan(15);
    expect(rows.filter(({ names }) => /ORT/.test(names)).length).toBeGreaterThan(3);
    // every control is named by its setting
    const unnamed = await settings
      .locator('.setting-control')
      .locator('input, select, textarea')
      .evaluateAll((all) => all.filter((one) => !one.labels?.length && !one.ariaLabel).map((one) => one.outerHTML));
    expect(unnamed).toEqual([]);
    expect(await pixelsTooWide(page)).toBe(0);
    await expectQuiet(visit);
    await context.close();
  }
}, 240_000);
