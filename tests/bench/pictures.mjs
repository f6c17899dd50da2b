// SPDX-License-Identifier: Apache-2.0
// Calibrating a model that hardly does more than read its samples, JPEG files that are decoded, scaled and cut out, in the
// tab with one worker, against the browser's own decoder and canvas, which are native code and count nothing.
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { poolingAlone } from './nets.mjs';
import { withPages } from './pages.mjs';
import { row } from './rows.mjs';

const sizes = [
  { title: 'photographs of 500x375', width: 500, height: 375, count: 40 },
  { title: 'photographs of 4000x3000', width: 4000, height: 3000, count: 2 },
];

export async function benchPictures({ root, nets, rounds, report }) {
  writeFileSync(path.join(nets, 'pooling.onnx'), poolingAlone());
  return withPages({ root, nets }, async (pages) => {
    const rows = [];
    for (const { title, ...size } of sizes) {
      const milliseconds = await pages.with('package_page.mjs', (page) =>
        page.evaluate((options) => window.readPictures(options), { ...size, model: '/nets/pooling.onnx', rounds }),
      );
      const each = (values) => values.map((value) => value / size.count);
      const name = `calibrating a pooling on ${title}, Chromium, against its own decoder`;
      rows.push(row(name, each(milliseconds.ours), each(milliseconds.theirs), 0, { note: 'of one picture' }));
      report(rows.at(-1));
    }
    return rows;
  });
}
