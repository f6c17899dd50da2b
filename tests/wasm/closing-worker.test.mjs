// SPDX-License-Identifier: Apache-2.0
//
// A worker of a browser that closes itself says nothing to anybody; the package hears of it all the same.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

import { demo, demoFiles } from './jobs.mjs';
import { openPage } from './page/open.mjs';

test('a worker that closes itself rejects what it was asked and is replaced', async () => {
  const opened = await openPage();
  try {
    const told = await opened.page.evaluate(
      async ({ bytes, picture, preprocessing }) => {
        const tersor = await window.Tersor.create({
          workers: 1,
          locateFile: (name) => (name === 'worker.js' ? '/page/closing-worker.mjs' : `/dist/${name}`),
        });
        const model = await tersor.open(new Uint8Array(bytes));
        const samples = [{ path: picture.path, data: new Uint8Array(picture.data) }];
        const error = await model.calibrate(samples, { preprocessing }).then(
          () => null,
          (thrown) => ({ name: thrown.name, code: thrown.code, message: thrown.message }),
        );
        const { stays_float } = await model.coverage();
        tersor.close();
        return { error, after: stays_float.length };
      },
      {
        bytes: Array.from(readFileSync(demo.model)),
        picture: demoFiles()
          .filter(({ path }) => path.endsWith('.png'))
          .map(({ path, data }) => ({ path, data: Array.from(data) }))[0],
        preprocessing: demo.preprocessing,
      },
    );
    expect(told.error).toEqual({
      name: 'TersorError',
      code: 'worker_died',
      message: 'A worker stopped: It closed itself.',
    });
    expect(told.after).toBeGreaterThanOrEqual(0);
    expect(opened.complaints).toEqual([]);
  } finally {
    await opened.close();
  }
}, 60_000);
