// SPDX-License-Identifier: Apache-2.0
//
// What loses a judge at once (E.6), each on a desk and on a phone: text that shifts while numbers arrive, figures without units or
// number of samples, words such as "undefined", a main button that is not seen, stages that are not seen, a broken Back.

import { expect, it } from 'vitest';

import {
  button,
  demoFiles,
  expectQuiet,
  give,
  openPage,
  plain,
  region,
  untilCanQuantize,
  untilDone,
  useSite,
  viewports,
} from './site.mjs';

const site = useSite();

/** Whether all of an element is seen without scrolling. */
const isSeen = (locator) =>
  locator.evaluate((one) => {
    const { top, bottom, height } = one.getBoundingClientRect();
    const reached = document.elementFromPoint(innerWidth / 2, (top + bottom) / 2);
    return height > 0 && top >= 0 && bottom <= innerHeight && reached !== null;
  });

it.each(viewports)(
  'E.6: nothing shifts while numbers arrive, and every figure says what it is ($width pixels)',
  async (viewport) => {
    const visit = await openPage(site, { viewport });
    const { page, context } = visit;
    await give(page, ...demoFiles);
    await untilCanQuantize(page);
    const start = button(page, 'Quantize').and(page.locator(':visible')).first();
    expect(await isSeen(start)).toBe(true);
    await page.evaluate(() => {
      window.shifts = [];
      new PerformanceObserver((list) => {
        for (const { value, hadRecentInput, sources } of list.getEntries())
          if (!hadRecentInput) window.shifts.push([value, sources.map(({ node }) => node?.className ?? '').join()]);
      }).observe({ type: 'layout-shift' });
      window.seen = { stages: new Set(), text: new Set() };
      new MutationObserver(() => {
        // when what changed has been laid out and scrolled to
        requestAnimationFrame(() =>
          requestAnimationFrame(() => {
            const { top } = document.querySelector('.stages')?.getBoundingClientRect() ?? {};
            if (top !== undefined) window.seen.stages.add(top > 0 && top < innerHeight - 200);
          }),
        );
        for (const word of /\b(undefined|NaN|null|Infinity)\b/.exec(document.body.innerText) ?? [])
          window.seen.text.add(word);
      }).observe(document.body, { childList: true, subtree: true, characterData: true });
    });
    await start.click();
    await untilDone(page);
    const { stages, text } = await page.evaluate(() => ({
      stages: [...window.seen.stages],
      text: [...window.seen.text],
    }));
    // the list of stages is in sight as long as it is there
    expect(stages).toEqual([true]);
    expect(text).toEqual([]);
    const shifts = await page.evaluate(() => window.shifts);
    const moved = shifts.reduce((sum, [value]) => sum + value, 0);
    // 0.1 is where a page is called unstable
    expect([moved < 0.05, moved < 0.05 ? [] : shifts]).toEqual([true, []]);
    const results = plain(await region(page, 'Results').innerText());
    expect(results).toMatch(/Top-1 accuracy n = \d+, ±\d+\.\d/);
    expect(results).toMatch(/Output SQNR . \d+\.\d dB/);
    await page
      .getByRole('button', { name: /^Download model/ })
      .first()
      .waitFor();
    expect(await page.locator('[class*=cookie], [id*=cookie]').count()).toBe(0);
    page.on('dialog', (dialog) => void dialog.accept());
    await page.goBack();
    expect(page.url()).toBe('about:blank');
    await page.goForward();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expectQuiet(visit);
    await context.close();
  },
  200_000,
);
