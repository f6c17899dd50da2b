// SPDX-License-Identifier: Apache-2.0
//
// The reader's own samples: recordings in a player.

import { expect, it } from 'vitest';

import { wav } from './files.mjs';
import { words } from './networks.mjs';
import { axeFindings, button, expectQuiet, give, openPage, region, untilCanQuantize, useSite } from './site.mjs';

const site = useSite();

it('plays recordings, by keys too', async () => {
  const visit = await openPage(site, { view: 'everything' });
  const { page, context } = visit;
  await give(page, ['words.onnx', words()]);
  await region(page, 'Model').getByText('parameters').first().waitFor();
  await give(page, ...Array.from({ length: 8 }, (_, k) => [`${k}.wav`, wav(4000 + 40 * k)]));
  await untilCanQuantize(page);
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
