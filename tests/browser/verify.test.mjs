// SPDX-License-Identifier: Apache-2.0
//
// "Verify" and "Time it here": the file that was made and the float file in the site's own onnxruntime-web, with and without a
// network, and where the runtime is not there.

import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

import { asInput, png } from './files.mjs';
import {
  button,
  expectQuiet,
  openPage,
  openSite,
  runDemo,
  shared,
  siteFolder,
  untilDone,
  untilMeasured,
  untilReady,
  useSite,
} from './site.mjs';

const zoo = `${shared}/zoo`;

const site = useSite();

const block = (page) => page.getByTestId('verify');

async function verified(page) {
  await button(page, 'Verify again').waitFor({ timeout: 120_000 });
  return (await block(page).innerText()).replaceAll('\u202f', ' ');
}

describe('verifying', () => {
  it('runs both files of the demo, loads nothing before, and does so again without a network', async () => {
    const visit = await openPage(site);
    const { page, context } = visit;
    await runDemo(page);
    const asked = () => site.server.requests.filter((path) => path.includes('/verify/'));
    expect(asked()).toEqual([]);
    await button(page, 'Verify in this browser').click();
    const text = await verified(page);
    expect(text).toMatch(/all 3840 values to the last bit/);
    expect(text).toMatch(/Float answers as above\s+240 of 240 samples/);
    expect(text).toMatch(/Int8 answers as above\s+2[34]\d of 240 samples/);
    expect(text).toMatch(
      /float \d+(\.\d+)? ms, int8 \d+(\.\d+)? ms, (about as fast|\d+\.\d× as fast|which is \d+\.\d× slower)/,
    );
    expect(text).toMatch(/onnxruntime-web \d+\.\d+\.\d+, 240 samples; times are medians of \d+ rounds/);
    expect(new Set(asked()).size).toBe(2);
    await expectQuiet(visit);

    await context.setOffline(true);
    await page.reload();
    await untilReady(page);
    await runDemo(page);
    await button(page, 'Verify in this browser').click();
    expect(await verified(page)).toMatch(/all 3840 values to the last bit/);
    await context.close();
  });

  it('times the files that may be meant, and shows what was measured in place of the forecast', async () => {
    const visit = await openPage(site);
    const { page, context } = visit;
    await runDemo(page);
    const time = page.getByTestId('time');
    expect(await time.innerText()).not.toMatch(/measured/);
    await button(page, 'Time it here').click();
    await time
      .getByText(/^It runs \d+\.\d\d times as fast .* in onnxruntime-web \d+\.\d+\.\d+ \(measured, one thread\): /)
      .waitFor({ timeout: 240_000 });
    await untilDone(page);
    expect(await time.innerText()).not.toMatch(/expected to run/);
    await button(page, 'Time it again').waitFor();
    await expectQuiet(visit);
    await context.close();
  }, 300_000);

  it('is cancelled at once, keeps what it has found, and gives way to another job', async () => {
    const visit = await openPage(site);
    const { page, context } = visit;
    await runDemo(page);
    await button(page, 'Verify in this browser').click();
    await block(page)
      .getByText(/^\d+ of 240 samples/)
      .waitFor();
    await button(page, 'Cancel verifying').click();
    expect(await verified(page)).toMatch(/, \d+ of 240 samples/);
    await button(page, 'Verify again').click();
    await button(page, 'Cancel verifying').waitFor();
    await button(page, 'Quantize').click();
    await untilDone(page);
    expect(await button(page, 'Cancel verifying').count()).toBe(0);
    await expectQuiet(visit);
    await context.close();
  });

  it.skipIf(!existsSync(zoo))('agrees with the preview on a zoo model', async () => {
    const visit = await openPage(site);
    const { page, context } = visit;
    const pixels = await readFile(`${zoo}/data/dev/cifar10_x.u8`);
    const side = 32;
    const size = side * side * 3;
    const pictures = Array.from({ length: 40 }, (_, k) =>
      asInput(`${String(k).padStart(3, '0')}.png`, png(pixels.subarray(k * size, (k + 1) * size), side, side)),
    );
    const model = asInput('resnet20.onnx', await readFile(`${zoo}/cifar10-resnet20/model.onnx`));
    await page.getByLabel('Model and samples').setInputFiles([model, ...pictures]);
    await expect.poll(() => button(page, 'Quantize').getAttribute('aria-disabled'), { timeout: 30_000 }).toBe('false');
    await button(page, 'Quantize').click();
    await untilMeasured(page);
    await button(page, 'Verify in this browser').click();
    const text = await verified(page);
    // its last layer stays in float
    expect(text).toMatch(/\d+ of 200 values to the last bit, the others but for the last digits of float sums/);
    expect(text).toMatch(/Float answers as above\s+20 of 20 samples/);
    await expectQuiet(visit);
    await context.close();
  });
});

describe('a site without the runtime', () => {
  let folder;
  afterAll(() => folder && rm(folder, { recursive: true }));

  it('says that the folder is not there, or has no button where it never was', async () => {
    folder = await mkdtemp(join(tmpdir(), 'tersor-site-'));
    await cp(siteFolder, folder, { recursive: true });
    await rm(join(folder, 'verify'), { recursive: true });
    const other = await openSite({ root: folder });
    try {
      const { page, context } = await openPage(other);
      await runDemo(page);
      await button(page, 'Verify in this browser').click();
      const card = block(page).getByRole('alert');
      await card.getByText(/^onnxruntime-web \S+ could not be loaded or started: /).waitFor();
      await card.getByText(/^It lies in the folder verify\/ of this site, which is optional/).waitFor();
      await card.getByRole('button', { name: 'Dismiss' }).click();
      expect(await button(page, 'Verify in this browser').count()).toBe(1);
      await context.close();

      const index = await readFile(join(folder, 'index.html'), 'utf8');
      await writeFile(join(folder, 'index.html'), index.replace(/(tersor-verify" content=")[^"]*/, '$1'));
      const without = await openPage(other);
      await runDemo(without.page);
      expect(await block(without.page).count()).toBe(0);
      await expectQuiet(without);
      await without.context.close();
    } finally {
      await other.close();
    }
  });
});
