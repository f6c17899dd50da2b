// SPDX-License-Identifier: Apache-2.0
//
// "Variants": the whole engine is loaded when somebody makes them; each row's download has the bytes of the native program.

import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { axeFindings, button, expectQuiet, openPage, pixelsTooWide, root, runDemo, useSite } from './site.mjs';

const site = useSite();
const program = join(root, 'build/native/bin/tersor');
const demo = join(root, 'web/public/demo');
const words = ['fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4_int8', 'q4f16'];

/** The program's files of the demo, by name. */
async function natively() {
  const folder = await mkdtemp(join(tmpdir(), 'tersor-variants-'));
  const { preprocessing, calibration_samples } = JSON.parse(await readFile(join(demo, 'demo.json'), 'utf8'));
  const [data, output] = [join(folder, 'samples.zip'), join(folder, 'onnx')];
  await writeFile(data, await readFile(join(demo, 'samples.zip')));
  await writeFile(join(folder, 'preprocessing.json'), JSON.stringify(preprocessing));
  const options = ['--data', data, '--limit', String(calibration_samples)];
  options.push('--preprocessing', join(folder, 'preprocessing.json'));
  execFileSync(program, ['variants', join(demo, 'model.onnx'), ...options, '-o', output], { stdio: 'ignore' });
  const { variants } = JSON.parse(await readFile(join(output, 'variants.json'), 'utf8'));
  const files = new Map();
  for (const { file } of variants) files.set(file, await readFile(join(output, file)));
  await rm(folder, { recursive: true });
  return files;
}

describe('variants', () => {
  it('come row by row with their verdicts, and are the files of the program', async () => {
    expect(existsSync(program), `${program} is not there: run scripts/build native`).toBe(true);
    const visit = await openPage(site);
    const { page, context } = visit;
    await runDemo(page);
    const asked = () => site.server.requests.filter((path) => /\/tersor-(?!light-|sans-)/.test(path));
    expect(asked()).toEqual([]);
    const block = page.getByTestId('variants');
    await block.locator('summary').first().click();
    await button(page, 'Make all variants').click();
    await button(page, 'Make them again').waitFor({ timeout: 240_000 });
    expect(asked().length).toBeGreaterThan(0);
    const rows = block.locator('tbody tr');
    expect(await rows.count()).toBe(words.length);
    const wanted = await natively();
    for (const [k, word] of words.entries()) {
      const text = (await rows.nth(k).innerText()).replaceAll('\u202f', ' ');
      expect(text).toContain(word);
      if (word !== 'fp32') expect(text).toMatch(/\d dB\s+\d+ of 64[\s\S]*(usable|worth it)/);
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        rows.nth(k).getByRole('button', { name: /^Save/ }).click(),
      ]);
      const bytes = await readFile(await download.path());
      expect(bytes.equals(wanted.get(download.suggestedFilename())), word).toBe(true);
    }
    expect(await block.locator('svg circle').count()).toBe(words.length - 1);
    expect(await block.getByText('the one to take', { exact: true }).count()).toBe(1);
    await block.getByText(/^Judged on 64 samples.* is the one to take: usable, then fast, then small\./).waitFor();
    for (const word of ['uint8', 'q4']) {
      const row = rows.nth(words.indexOf(word));
      await row.getByRole('button', { name: /^Verify/ }).click();
      const said =
        /In onnxruntime-web [\d.]+: \d+ of 128 values to the last bit.* float sums; \d.*× float’s speed, on 8 samples\./;
      await row.getByText(said).waitFor({ timeout: 60_000 });
    }
    expect(await button(page, 'Verify model.onnx in this browser').count()).toBe(0);
    if (process.env.TERSOR_PICTURES) await block.screenshot({ path: `${process.env.TERSOR_PICTURES}/variants.png` });
    for (const width of [1440, 768, 360]) {
      await page.setViewportSize({ width, height: 900 });
      await expect.poll(() => pixelsTooWide(page), { message: `${width} pixels` }).toBe(0);
      expect([width, await axeFindings(page)]).toEqual([width, []]);
    }
    await expectQuiet(visit);
    await context.close();
  });
});
