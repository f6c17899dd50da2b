// SPDX-License-Identifier: Apache-2.0
//
// The first sixty seconds with a model and pictures of one's own, by keyboard alone: ResNet20 of the zoo and 200 pictures of CIFAR-10 in class
// folders, nothing chosen by hand. How long the machine works is printed, not asserted (30 s is the aim on two cores).

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { zipSync } from 'fflate';
import { expect, it } from 'vitest';

import { png } from './files.mjs';
import { button, comparison, expectQuiet, openPage, plain, region, shared, untilDone, useSite } from './site.mjs';

const zoo = path.join(shared, 'zoo');
const model = path.join(zoo, 'cifar10-resnet20/model.onnx');
const classes = ['airplane', 'automobile', 'bird', 'cat', 'deer', 'dog', 'frog', 'horse', 'ship', 'truck'];

/** The pictures, 32 x 32 RGB, as a zip archive of class folders. */
function pictures(count) {
  const pixels = new Uint8Array(readFileSync(path.join(zoo, 'data/dev/cifar10_x.u8')));
  const labels = readFileSync(path.join(zoo, 'data/dev/cifar10_y.u8'));
  const files = Array.from({ length: count }, (_, k) => [
    `${classes[labels[k]]}/${String(k).padStart(4, '0')}.png`,
    png(pixels.slice(k * 3072, (k + 1) * 3072), 32, 32),
  ]);
  return Buffer.from(zipSync(Object.fromEntries(files), { level: 0 }));
}

const site = useSite();

/** Presses Tab until what has the focus fits. */
async function tabTo(page, fits, what) {
  for (let k = 0; k < 120; ++k) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(fits)) return;
  }
  throw new Error(`Tab does not reach ${what}`);
}

const isChooser = () => document.activeElement?.getAttribute('type') === 'file';

it.skipIf(!existsSync(model))(
  'a model and pictures in class folders become a file, by keyboard alone',
  async () => {
    const visit = await openPage(site);
    const { page, context, requests } = visit;
    const loaded = requests.length;
    const choose = async (file) => {
      await tabTo(page, isChooser, 'the files');
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Enter')]);
      await chooser.setFiles(file);
    };
    await choose(model);
    await region(page, 'Model').getByText('Conv', { exact: true }).first().waitFor();
    await choose({ name: 'pictures.zip', mimeType: 'application/zip', buffer: pictures(200) });
    await expect.poll(() => button(page, 'Quantize').getAttribute('aria-disabled'), { timeout: 60_000 }).toBe('false');
    // BGR is right for one sample more of 128, which is no reason to take it
    expect(plain(await region(page, 'Samples').innerText())).toMatch(/ImageNet preset .*imagenet, BGR: \d+/);
    await tabTo(page, () => document.activeElement?.textContent.trim() === 'Quantize', 'Quantize');
    const begin = Date.now();
    await page.keyboard.press('Enter');
    await untilDone(page);
    console.info(`the machine worked for ${((Date.now() - begin) / 1000).toFixed(1)} s`);
    const table = await comparison(page);
    const accuracy = Object.values(table)[0].map((cell) => parseFloat(cell));
    expect(accuracy[0]).toBeGreaterThanOrEqual(88);
    expect(accuracy[1]).toBeGreaterThanOrEqual(accuracy[0] - 3);
    await tabTo(page, () => /^Download/.test(document.activeElement?.textContent.trim() ?? ''), 'the download');
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
    expect(download.suggestedFilename()).toMatch(/\.onnx$/);
    const foreign = requests.slice(loaded).filter((url) => !url.startsWith('blob:') && !url.startsWith('data:'));
    expect(foreign).toEqual([]);
    await expectQuiet(visit);
    await context.close();
  },
  240_000,
);
