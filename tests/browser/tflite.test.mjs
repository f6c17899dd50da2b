// SPDX-License-Identifier: Apache-2.0
//
// A file for TensorFlow Lite on the page: chosen beside the downloads, with what a board needs for it.

import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

import { button, expectQuiet, openPage, runDemo, untilDone, useSite } from './site.mjs';

const site = useSite();

it('is chosen where the download is, and its arena and bytes are said', async () => {
  const visit = await openPage(site);
  const { page } = visit;
  await runDemo(page);
  expect(await page.getByLabel('File for').count()).toBe(0);
  await button(page, 'Change settings').click();
  await page.getByLabel('Where it will run').selectOption({ label: 'TensorFlow Lite Micro' });
  await untilDone(page);
  await page.getByLabel('File for').selectOption('tflite');
  await page.getByTestId('board').waitFor({ timeout: 120_000 });
  await untilDone(page);
  const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'Download model').first().click()]);
  expect(download.suggestedFilename()).toMatch(/\.int8\.tflite$/);
  const bytes = await readFile(await download.path());
  expect(bytes.subarray(4, 8).toString()).toBe('TFL3');
  expect(await page.getByTestId('board').innerText()).toMatch(/of flash; .* for activations, an arena of .* holds all/);
  expect(await page.locator('.command').innerText()).toMatch(/-o \S+\.int8\.tflite/);
  expect(await page.getByTestId('verify').count()).toBe(0);
  await page.getByLabel('File for').selectOption('onnx');
  await untilDone(page);
  expect(await page.getByTestId('board').count()).toBe(0);
  await expectQuiet(visit);
});
