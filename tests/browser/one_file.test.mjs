// SPDX-License-Identifier: Apache-2.0
//
// tersor.html, opened from the disk with the network off: the same bytes as the site.

import { readFile, stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';

import {
  downloaded,
  expectQuiet,
  openPage,
  root,
  runDemo,
  siteFolder,
  untilDone,
  untilReady,
  useSite,
} from './site.mjs';

const file = `${siteFolder}/tersor.html`;

const site = useSite();

async function fromDisk() {
  const visit = await openPage(site, { url: null });
  await visit.context.setOffline(true);
  await visit.page.goto(pathToFileURL(file).href);
  await untilReady(visit.page);
  return visit;
}

it('row 23: opens from the disk and makes the bytes that the site makes', async () => {
  const served = await openPage(site);
  await runDemo(served.page);
  const wanted = await downloaded(served.page, 'Download model');
  await served.context.close();

  const visit = await fromDisk();
  const { page, requests } = visit;
  await runDemo(page);
  const model = await downloaded(page, 'Download model');
  expect(model.name).toBe('model.int8.onnx');
  expect(model.bytes.equals(wanted.bytes)).toBe(true);
  await page.getByRole('tab', { name: 'Graph' }).click();
  await page.locator('.graph-canvas').waitFor();
  expect(requests.filter((url) => !/^(blob|data):/.test(url))).toEqual([pathToFileURL(file).href]);
  expect(await page.getByTestId('verify').count()).toBe(0);
  await expectQuiet(visit);
  await visit.context.close();
});

it('takes a model and samples of one’s own', async () => {
  const visit = await fromDisk();
  const { page } = visit;
  await page
    .getByLabel('Model and samples')
    .setInputFiles([`${root}web/public/demo/model.onnx`, `${root}web/public/demo/samples.zip`]);
  const quantize = page.getByRole('button', { name: 'Quantize', exact: true });
  await expect.poll(() => quantize.getAttribute('aria-disabled'), { timeout: 30_000 }).toBe('false');
  await quantize.click();
  await untilDone(page);
  await expectQuiet(visit);
  await visit.context.close();
});

it('allows by its policy what it holds, and nothing else', async () => {
  const page = await readFile(file, 'utf8');
  const [, policy] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page);
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'sha256-[\w+/=]+' 'wasm-unsafe-eval'; worker-src blob:; style-src 'sha256-[\w+/=]+'; img-src blob: data:; media-src blob:; font-src data:; base-uri 'none'; form-action 'none'$/,
  );
  expect((await stat(file)).size).toBeLessThan(4e6);
});
