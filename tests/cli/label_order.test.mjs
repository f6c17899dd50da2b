// SPDX-License-Identifier: Apache-2.0
// Class folders whose names sort otherwise than the model's outputs: it is said with the accuracy to win, the right preset is found all
// the same, and the labels.txt that is proposed puts it right.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { unzipSync } from 'fflate';
import { test } from 'vitest';

import { writeFiles } from '../browser/files.mjs';
import { withFolder } from '../zoo/runtime.mjs';
import { run } from './job.mjs';

const demo = path.resolve(import.meta.dirname, '../../web/public/demo');
/** Folders in the order of the outputs, by names that sort otherwise. */
const names =
  'october november april may february june august july december january march zulu sierra oscar lima kilo'.split(' ');

const classOf = (name) => name.split('/').at(-2);
function demoFiles(place) {
  const files = unzipSync(readFileSync(path.join(demo, place, 'samples.zip')));
  const pictures = Object.entries(files).filter(([name]) => /\.\w+$/.test(name) && name.includes('/'));
  return { pictures, classes: [...new Set(pictures.map(([name]) => classOf(name)))].sort() };
}

test.each(['.', 'fruit'])(
  'folders in another order than the outputs of %s are found, and labels.txt puts them right',
  (place) =>
    withFolder(async (folder) => {
      const samples = path.join(folder, 'samples');
      const { pictures, classes } = demoFiles(place);
      const renamed = pictures.map(([name, bytes]) => [
        `${names[classes.indexOf(classOf(name))]}/${path.basename(name)}`,
        bytes,
      ]);
      await writeFiles(samples, Object.fromEntries(renamed));
      const model = path.join(demo, place, 'model.onnx');
      const given = [model, '--data', samples];
      const before = run('evaluate', ...given);
      const found =
        /note: labels: Your folders look like a reordering of the model's outputs: (\d+\.\d) % -> (\d+\.\d) % of \d+ samples are right\..* one in a line: (.*)\.\n/;
      assert.match(before.stderr, /with the classes in another order \d+/);
      assert.match(before.stderr, found);
      const [, low, high, quoted] = found.exec(before.stderr);
      const lines = quoted.replaceAll('"', '');
      assert.equal(lines, names.slice(0, classes.length).join(', '));
      assert(low < 20 && high > 85, `${low} -> ${high}`);
      const presetOf = ({ stderr }) => /preprocessing "([^"]*)"/.exec(stderr)[1];
      assert.equal(presetOf(before), presetOf(run('evaluate', model, '--data', path.join(demo, place, 'samples.zip'))));
      const made = ['-o', path.join(folder, 'made.onnx'), '--report', path.join(folder, 'report.json')];
      const quantized = run('quantize', ...given, ...made);
      assert.match(quantized.stdout, /^usable with care: /);
      assert.match(quantized.stderr, /Your folders look like a reordering/);
      const report = JSON.parse(readFileSync(path.join(folder, 'report.json'), 'utf8'));
      assert.equal(report.diagnostics.filter(({ code }) => code === 'labels_reordered').length, 1);
      assert.equal(report.evaluation.float.label_order.outputs.length, classes.length);
      assert.match(report.verdict.causes.join('\n'), /The labels look like a reordering/);

      writeFileSync(path.join(samples, 'labels.txt'), lines.replaceAll(', ', '\n'));
      const after = run('evaluate', ...given, '--json');
      assert.equal(after.stderr, '');
      assert.equal((100 * JSON.parse(after.stdout).value).toFixed(1), high);
    }),
);

test('labels that are numbers are said as numbers', () =>
  withFolder(async (folder) => {
    const { pictures, classes } = demoFiles('.');
    const labels = pictures.map(([name]) => `${name},${classes.indexOf(classOf(name)) ^ 1}`);
    await writeFiles(path.join(folder, 'samples'), Object.fromEntries(pictures));
    const list = path.join(folder, 'labels.csv');
    writeFileSync(list, labels.join('\n'));
    const { stderr } = run(
      ...['evaluate', path.join(demo, 'model.onnx'), '--data', path.join(folder, 'samples'), '--labels', list],
    );
    assert.match(
      stderr,
      /Your labels look like a reordering .* number the labels as the outputs are: 0 -> 1, 1 -> 0, 2 -> 3, /,
    );
  }));
