// SPDX-License-Identifier: Apache-2.0
//
// The README's example runs as it stands, in a folder that holds what it names.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { demo, demoFiles, emptyFolder, root } from './jobs.mjs';

test('the example of the README runs', () => {
  const readme = readFileSync(path.join(root, 'wasm/README.md'), 'utf8');
  const [, example] = /```js\n([\s\S]*?)```/.exec(readme);
  const folder = emptyFolder('readme');
  copyFileSync(demo.model, path.join(folder, 'model.onnx'));
  const pictures = demoFiles().filter((file) => file.path.endsWith('.png'));
  const classes = [...new Set(pictures.map((file) => path.dirname(file.path)))].slice(0, 2);
  classes.forEach((name, k) => {
    const target = path.join(folder, 'pictures', 'ab'[k]);
    mkdirSync(target, { recursive: true });
    const own = pictures.filter((file) => path.dirname(file.path) === name);
    [0, 1].forEach((i) => writeFileSync(path.join(target, `${i}.png`), own[i].data));
  });
  writeFileSync(path.join(folder, 'example.mjs'), example);
  const printed = execFileSync(process.execPath, ['example.mjs'], { cwd: folder, encoding: 'utf8' }).trim().split('\n');
  expect(printed).toHaveLength(2);
  expect(Number(printed[0].split(' ')[0])).toBeGreaterThan(10_000);
  expect(printed[1]).toMatch(/^[0-4] 4 \{/);
});
