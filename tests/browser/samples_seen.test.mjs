// SPDX-License-Identifier: Apache-2.0
//
// The reader's own samples, seen and heard: the likeliest classes of both models, the worst sample first; recordings in a player;
// pictures of formats that the browser alone decodes.

import { expect, it } from 'vitest';

import { npy, png, wav } from './files.mjs';
import { softened, words } from './networks.mjs';
import {
  axeFindings,
  button,
  expectQuiet,
  openPage,
  openWith,
  pixelsTooWide,
  plain,
  region,
  transfer,
  untilCanQuantize,
  untilMeasured,
  useSite,
  viewports,
} from './site.mjs';

const site = useSite();
const answer = (page) => page.getByTestId('answer');
const compare = (page) => button(page, 'Compare the likeliest classes');

it.each([
  { viewport: viewports[0], colorScheme: 'light' },
  { viewport: viewports[1], colorScheme: 'dark' },
])(
  'lists the five likeliest classes of both models, $viewport.width pixels, $colorScheme',
  async (options) => {
    const visit = await openPage(site, { ...options, view: null });
    const { page, context } = visit;
    await button(page, 'a smaller demo').click();
    await answer(page).waitFor({ timeout: 120_000 });
    const asked = site.server.requests.length;
    await compare(page).click();
    const closer = answer(page).getByTestId('closer');
    await closer.waitFor();
    // the code comes from the site's own folder when it is first used
    for (const path of site.server.requests.slice(asked)) expect(path).toMatch(/^\/assets\/[\w.-]+\.js$/);
    const tables = closer.locator('table');
    expect(await closer.locator('caption').allInnerTexts()).toEqual(['Float', 'int8']);
    const shares = (await tables.first().locator('td').allInnerTexts()).map((text) => parseFloat(text));
    expect(shares.length).toBe(5);
    expect(shares).toEqual([...shares].sort((a, b) => b - a));
    expect(shares.reduce((sum, one) => sum + one, 0)).toBeLessThan(100.5);

    const slider = closer.getByRole('slider', { name: /^Sample 1 of 24, worst first$/ });
    const before = await closer.innerText();
    await slider.focus();
    await page.keyboard.press('End');
    await expect.poll(() => closer.innerText()).not.toBe(before);
    // float alone, the int8 file alone, both; the answer stays where it is
    for (const [key, captions] of [
      ['1', ['Float']],
      ['2', ['int8']],
      ['0', ['Float', 'int8']],
    ]) {
      await closer.locator('caption').first().click();
      await page.locator('body').press(key);
      await expect.poll(() => closer.locator('caption').allInnerTexts()).toEqual(captions);
    }
    expect(await page.locator('.comparison').count()).toBe(0);

    // and of the sample in the preview
    await button(page, 'Details samples').click();
    const preview = region(page, 'Samples').getByTestId('closer');
    await preview.waitFor();
    const first = await preview.innerText();
    await button(page, 'Next sample').first().click();
    await expect.poll(() => preview.innerText()).not.toBe(first);
    expect(await pixelsTooWide(page)).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
    await expectQuiet(visit);
    await context.close();
  },
  180_000,
);

it('lists the likeliest classes of samples that one file holds', async () => {
  const values = Float32Array.from({ length: 12 * 4000 }, (_, at) => Math.sin(at * (1 + Math.floor(at / 4000))));
  const visit = await openWith(site, {}, ['words.onnx', words()], [['heard.npy', npy(values, [12, 1, 4000])]]);
  const { page, context } = visit;
  await page.keyboard.press('Control+Enter');
  await untilMeasured(page);
  await compare(page).first().click();
  const closer = page.getByTestId('pictures').getByTestId('closer');
  await closer.waitFor();
  const named = () => closer.locator('p').innerText();
  const before = await named();
  expect(before).toMatch(/^sample \d+$/);
  await closer.getByRole('slider').focus();
  await page.keyboard.press('End');
  await expect.poll(named).not.toBe(before);
  const shares = await closer.locator('table').first().locator('td').allInnerTexts();
  expect(shares.reduce((sum, text) => sum + parseFloat(text), 0)).toBeCloseTo(100, 0);
  // the first of the file and the next one, in the preview
  await button(page, 'Details samples').click();
  const preview = region(page, 'Samples').getByTestId('closer');
  await preview.locator('table').first().waitFor();
  const first = await preview.innerText();
  await button(page, 'Next sample').first().click();
  await expect.poll(() => preview.innerText()).not.toBe(first);
  await expectQuiet(visit);
  await context.close();
}, 120_000);

it('plays recordings, by keys too', async () => {
  const recordings = Array.from({ length: 8 }, (_, k) => [`${k}.wav`, wav(4000 + 40 * k)]);
  const visit = await openWith(site, {}, ['words.onnx', words()], recordings);
  const { page, context } = visit;
  const player = region(page, 'Samples').getByLabel('The recording 0.wav');
  await player.focus();
  await page.keyboard.press('Space');
  await expect.poll(() => player.evaluate((one) => one.played.length)).toBe(1);
  expect(await player.evaluate((one) => one.duration)).toBeGreaterThan(0);
  await button(page, 'Next sample').click();
  await region(page, 'Samples').getByLabel('The recording 1.wav').waitFor();
  await page.keyboard.press('Control+Enter');
  const heard = page.getByTestId('pictures').getByLabel(/^The recording \d\.wav$/);
  await expect.poll(() => heard.count(), { timeout: 60_000 }).toBeGreaterThan(2);
  expect(await axeFindings(page)).toEqual([]);
  await expectQuiet(visit);
  await context.close();
}, 120_000);

/** A picture as the browser itself writes it, of which a quarter is seen through. */
function drawnByBrowser(page, type, tint) {
  return page.evaluate(
    async ([mime, hue]) => {
      const canvas = new OffscreenCanvas(40, 40);
      const context = canvas.getContext('2d');
      context.fillStyle = `hsl(${hue} 80% 50%)`;
      context.fillRect(0, 0, 40, 20);
      context.fillRect(0, 20, 20, 20);
      const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: mime, quality: 1 })).arrayBuffer());
      return [...bytes];
    },
    [type, tint],
  );
}

it('takes pictures that the browser decodes, says so, names what it skips, and divides outputs that are pictures', async () => {
  const visit = await openWith(site, { view: null }, ['softened.onnx', softened()]);
  const { page, context } = visit;
  const hues = [0, 60, 120, 180, 240];
  const pictures = await Promise.all(hues.map((hue) => drawnByBrowser(page, 'image/webp', hue)));
  expect(Buffer.from(pictures[0]).subarray(8, 12).toString()).toBe('WEBP');
  const grey = png(new Uint8Array(3 * 1600).fill(90), 40, 40);
  await transfer(page, 'drop', [
    ...pictures.map((bytes, k) => [`${k}.webp`, bytes]),
    ['grey.png', grey],
    ['broken.webp', Buffer.from('RIFF0000WEBPnothing')],
    ['photo.heic', Buffer.from('\0\0\0\x18ftypheic')],
  ]);
  await untilCanQuantize(page);
  const samples = region(page, 'Samples');
  const text = plain(await samples.innerText());
  expect(text).toMatch(/6 samples \(PNG\)/);
  expect(text).toMatch(/5 pictures \(WEBP\) were decoded by this browser\./);
  expect(plain(await samples.getByTestId('skipped').innerText())).toMatch(
    /^2 files skipped: broken\.webp \(.*\) photo\.heic \(.*\)$/,
  );
  // red where it was drawn, and white below what is seen through
  const pixels = await samples
    .getByLabel('The file 0.webp.png')
    .evaluate((canvas) => [...canvas.getContext('2d').getImageData(0, 0, 40, 40).data]);
  const pixel = (x, y) => pixels.slice(4 * (40 * y + x), 4 * (40 * y + x) + 4);
  const [red, green, blue] = pixel(5, 5);
  expect([red > 200, green < 60, blue < 60]).toEqual([true, true, true]);
  expect(pixel(35, 35)).toEqual([255, 255, 255, 255]);

  await page.keyboard.press('Control+Enter');
  const compared = page.getByTestId('drawn-first');
  await compared.waitFor({ timeout: 60_000 });
  expect(plain(await compared.innerText())).toMatch(
    /^Float 32×32 int8 differs by \d\.\d % of black to white on average/,
  );
  await compared.getByRole('slider', { name: /^Divider/ }).focus();
  await page.keyboard.press('End');
  await expect.poll(() => compared.getByRole('slider', { name: /^Divider/ }).getAttribute('aria-valuenow')).toBe('100');
  expect(await axeFindings(page)).toEqual([]);
  await expectQuiet(visit);
  await context.close();
}, 120_000);
