// SPDX-License-Identifier: Apache-2.0
//
// The layer panel: E.3 row 15 (cuts that are dragged, with what they do), and the settings of one operator.

import { expect, it } from 'vitest';

import { button, downloaded, expectQuiet, openPage, runDemo, untilDone, useSite } from './site.mjs';

const site = useSite();

async function openLayer(page, name) {
  await page.locator('.layer-name', { hasText: name }).first().click();
  await page.locator('.methods').waitFor();
}

const fact = (page, term) => page.locator('.panel-facts div', { hasText: term }).locator('dd').innerText();
const upper = (page) => page.getByRole('slider', { name: 'Upper cut' });
const recipe = async (page) => JSON.parse((await downloaded(page, 'Download recipe')).bytes);

it('E.3 row 15: a cut that is dragged says at once what it does, and the model is made anew with it', async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  await runDemo(page);
  await openLayer(page, 'block1.pointwise');

  // every selector of the documents and of ONNX Runtime, with the range it would choose
  const methods = await page.locator('.method').allInnerTexts();
  for (const method of [
    'No clipping (MinMax) ORT',
    'MSE',
    'MAE',
    'KL divergence',
    'Lp',
    'Entropy ORT',
    'Percentile ORT',
    'Moving average ORT',
  ])
    expect(
      methods.filter((text) => text.replace(/\s+/g, ' ').trim().startsWith(method)),
      method,
    ).not.toEqual([]);
  for (const text of methods) expect(text.replace(/\s+/g, ' ')).toMatch(/… .*\d/);
  // the graph's view and the channels are asked for when the panel opens, each for itself
  await expect
    .poll(() => page.locator('.runs-as').innerText())
    .toMatch(/Runs as QLinearConv in about [\d.]+\s[µm]s, in float [\d.]+\s[µm]s/);
  await expect.poll(() => page.locator('.worst-channels').innerText()).toMatch(/^Worst channels \d+ \([\d.]+\sdB/);

  const before = await fact(page, 'Error alone');
  const cut = await fact(page, 'Cut');
  await upper(page).scrollIntoViewIfNeeded();
  const handle = await upper(page).boundingBox();
  await page.mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2);
  await page.mouse.down();
  await page.mouse.move(handle.x - 120, handle.y + 10, { steps: 6 });
  // while it is held: forecast figures, and values lost
  await expect.poll(() => fact(page, 'Error alone')).toMatch(/^about \d/);
  await expect.poll(() => fact(page, 'Accumulated')).toMatch(/^about \d/);
  expect(await fact(page, 'Cut')).not.toBe(cut);
  await expect.poll(() => fact(page, 'Lost outside')).not.toMatch(/^0 /);
  const forecast = parseFloat((await fact(page, 'Error alone')).replace('about ', ''));
  expect(forecast).toBeLessThan(parseFloat(before));
  await page.mouse.up();
  await untilDone(page);
  await expect.poll(() => fact(page, 'Error alone'), { timeout: 60_000 }).not.toMatch(/about/);
  expect(Math.abs(parseFloat(await fact(page, 'Error alone')) - forecast)).toBeLessThan(3);
  const { overrides } = await recipe(page);
  expect(overrides).toHaveLength(1);
  expect(overrides[0].name).toBe('block1.pointwise');
  expect(overrides[0].quantize_config.config.outputs[0].class_name).toBe('FixedQuantizer');
  await expect.poll(() => page.locator('.method.chosen').innerText()).toMatch(/By hand/);

  // by keys: one step of the grid, ten with Shift, all values with Home
  await upper(page).focus();
  const now = parseFloat(await upper(page).getAttribute('aria-valuenow'));
  await page.keyboard.press('ArrowRight');
  await expect.poll(async () => parseFloat(await upper(page).getAttribute('aria-valuenow'))).toBeGreaterThan(now);
  const next = parseFloat(await upper(page).getAttribute('aria-valuenow'));
  await page.keyboard.press('Shift+ArrowLeft');
  await expect
    .poll(async () => parseFloat(await upper(page).getAttribute('aria-valuenow')))
    .toBeCloseTo(next - 10 * (next - now), 3);
  await page.keyboard.press('Home');
  await expect.poll(() => fact(page, 'Lost outside')).toMatch(/^0 /);
  await untilDone(page);

  await button(page, 'Let the settings choose').click();
  await expect.poll(async () => (await recipe(page)).overrides, { timeout: 60_000 }).toEqual([]);
  await expectQuiet(visit);
  await context.close();
}, 400_000);

it('E.3 row 15, phone: a finger drags it on a phone, and a method is chosen for one layer', async () => {
  const visit = await openPage(site, { viewport: { width: 360, height: 780 }, hasTouch: true, isMobile: true });
  const { page, context } = visit;
  await runDemo(page);
  await openLayer(page, 'block1.pointwise');
  await upper(page).scrollIntoViewIfNeeded();
  const box = await upper(page).boundingBox();
  const session = await context.newCDPSession(page);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const touch = (type, dx) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x: x + dx, y }] });
  await touch('touchStart', 0);
  for (const dx of [-10, -40, -80]) await touch('touchMove', dx);
  await expect.poll(() => fact(page, 'Error alone')).toMatch(/^about \d/);
  await touch('touchEnd', 0);
  await untilDone(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);

  await page.locator('.method', { hasText: 'MAE' }).click();
  await expect
    .poll(async () => (await recipe(page)).overrides[0]?.quantize_config?.config.outputs[0].config.init_max, {
      timeout: 60_000,
    })
    .toBeLessThan(10);
  await expectQuiet(visit);
  await context.close();
}, 400_000);

it('bits of one operator are chosen in its panel, and what the platform has not is refused there', async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  await runDemo(page);
  await openLayer(page, 'block1.pointwise');
  const bits = page.locator('.operator-settings').getByLabel('Bits of weights', { exact: true });
  await bits.selectOption('5');
  await page.locator('.panel').getByRole('alert').waitFor();
  expect(await page.locator('.panel').getByRole('alert').innerText()).toMatch(/weights_n_bits/);
  expect((await recipe(page)).overrides).toEqual([]);
  await page.locator('.operator-settings').getByLabel('Grid of activations', { exact: true }).selectOption('SYMMETRIC');
  await expect
    .poll(async () => (await recipe(page)).overrides, { timeout: 60_000 })
    .toEqual([{ name: 'block1.pointwise', config: { activation_quantization_method: 'SYMMETRIC' } }]);
  await untilDone(page);
  // the panel stays where it was
  expect(await page.locator('#panel-title').innerText()).toBe('block1.pointwise');
  await context.close();
}, 400_000);
