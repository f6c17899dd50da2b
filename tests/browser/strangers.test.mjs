// SPDX-License-Identifier: Apache-2.0
//
// Models as they are found: names that exporters joined, inputs that recordings do not hold, class folders that nothing says the
// outputs of.

import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';

import { plainPicture, wav } from './files.mjs';
import { colours, listener } from './networks.mjs';
import {
  button,
  comparison,
  expectQuiet,
  give,
  openPage,
  pixelsTooWide,
  region,
  untilCanQuantize,
  untilMeasured,
  useSite,
  viewports,
} from './site.mjs';

const site = useSite();

const recordings = Array.from({ length: 6 }, (_, k) => [`${k}.wav`, wav(4000 + 500 * k)]);

describe.each(viewports)('$width pixels', (viewport) => {
  it('asks for what recordings do not hold, one question at a time, and says nothing of classes where there are none', async () => {
    const visit = await openPage(site, { viewport });
    const { page, context } = visit;
    const [model, samples] = [region(page, 'Model'), region(page, 'Samples')];
    await give(page, ['listener.onnx', listener()]);
    await model.getByText('1×1×N').first().waitFor();
    await give(page, ...recordings);
    await samples.getByText('The model also takes “rate”, a number that the samples do not hold.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await region(page, 'Results').getByText('Waiting for an answer above: rate.').waitFor();
    await button(page, 'Enter rate').click();
    await page.keyboard.type('2');
    await page.keyboard.press('Enter');
    await samples.getByText('the model does not say how long one is').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await button(page, 'Enter the length').click();
    await page.keyboard.type('512');
    await page.keyboard.press('Enter');
    await untilCanQuantize(page);
    await samples
      .getByRole('cell', { name: /^−?0\.\d/ })
      .first()
      .waitFor();
    expect(await samples.innerText()).not.toMatch(/\bgray\b/);
    await button(page, 'Quantize').click();
    await untilMeasured(page);
    const rows = await comparison(page);
    expect(Object.keys(rows)[0]).toBe('Output SQNR');
    expect(rows['Output SQNR'][1]).toMatch(/ dB$|^exact$/);
    expect(await page.locator('.verdict-lead').innerText()).not.toMatch(/the same answer/);
    // names of hundreds of letters stay within the page
    expect(await pixelsTooWide(page)).toBe(0);
    await page.locator('.layer-name').first().click();
    await page.locator('.panel').waitFor();
    expect(await pixelsTooWide(page)).toBe(0);
    await button(page, 'Details model').click();
    expect(await pixelsTooWide(page)).toBe(0);
    await expectQuiet(visit);
    await context.close();
  });
});

it('stops where class folders are fewer than outputs and none is right, and shows where to say what they are', async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  // pictures of outputs 2 and 0 in folders that are taken for 0 and 1
  const files = ['green', 'tan'].flatMap((name, k) =>
    Array.from({ length: 4 }, (_, n) => [
      `${name}/${n}.png`,
      plainPicture(k === 0 ? [20, 30, 200] : [200, 30, 20], 8, 7 * n + k),
    ]),
  );
  await give(page, ['colours.onnx', colours()], ['two.zip', zipSync(Object.fromEntries(files))]);
  await region(page, 'Samples').getByText('Nothing says which of them the folders are').waitFor();
  await untilCanQuantize(page);
  await button(page, 'Quantize').click();
  const stop = page.getByTestId('float-stop');
  await stop.getByText('the 2 class folders were taken for outputs 0 to 1 of 3, by their order').waitFor();
  await button(page, 'Say what the folders are').click();
  const by = region(page, 'Samples').getByLabel('A folder’s output is given by');
  await expect.poll(() => by.evaluate((field) => field === document.activeElement)).toBe(true);
  await by.selectOption('hand');
  const output = region(page, 'Samples').getByLabel('Output of tan');
  await output.fill('0');
  await output.blur();
  const first = region(page, 'Samples').getByLabel('Output of green');
  await first.fill('2');
  await first.blur();
  await button(page, 'Quantize').click();
  await untilMeasured(page);
  expect(Object.values(await comparison(page))[0][0]).toBe('100.00 %');
  await expectQuiet(visit);
  await context.close();
});
