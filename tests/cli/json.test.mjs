// SPDX-License-Identifier: Apache-2.0
// JSON that a person hands in, of every kind, too deep, too long or none: told with its place, in few words and little time.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

import { inWholeSuite } from '../suite.mjs';
import { withFolder } from '../zoo/runtime.mjs';
import { run, writeJob } from './job.mjs';

const many = Array.from({ length: 80_000 }, (_, k) => k);
const keys = Object.fromEntries(many.map((k) => [`key${k}`, k]));
const long = 'x'.repeat(2_000_000);

/** Option to what stands around a value in its file. */
const kinds = {
  '--config': [
    (value) => value,
    (value) => ({ z_threshold: value }),
    (value) => ({ custom_tpc_opset_to_layer: value }),
  ],
  '--recipe': [
    (value) => value,
    ...['platform', 'quantization_config', 'overrides', 'framework_info', 'preprocessing', 'data_set', 'seeds'].map(
      (member) => (value) => ({ format: 'tersor-recipe', format_version: 1, [member]: value }),
    ),
  ],
  '--override': [
    (value) => [value],
    ...['name', 'filter', 'config', 'quantize_config'].map((member) => (value) => ({
      type: 'MatMul',
      [member]: value,
    })),
    (value) => ({ filter: { layer: 'MatMul', all: value } }),
  ],
  '--framework-info': [
    (value) => value,
    (value) => ({ kernel_ops: value }),
    (value) => ({ kernel_ops: value, no_quantization_ops: value }),
    (value) => ({ layer_min_max_mapping: value }),
  ],
  '--platform': [
    (value) => value,
    (value) => ({ schema_version: 1, name: 'mine', version: 1, tp_model: value }),
    (value) => ({
      schema_version: 1,
      name: 'mine',
      version: 1,
      tp_model: { operator_set: value, fusing_patterns: value },
    }),
  ],
};

const values = {
  'many keys': keys,
  'a list of many objects': many.map(() => ({ key: 1 })),
  'a list of many names': many.map((k) => `name${k}`),
  'a long key': { [long]: 1 },
  'a long text': long,
};

/** Exit status 1 with an error of bounded length that has a place. */
function expectTold({ status, signal, stderr }, what) {
  assert.equal(signal, null, what);
  // what has no effect may be taken
  if (status === 0) return;
  assert.equal(status, 1, `${what}: ${stderr.slice(0, 500)}`);
  assert(stderr.length < 60_000, `${what}: ${stderr.length} characters`);
  const error = JSON.parse(stderr.slice(stderr.indexOf('{\n')));
  assert.notEqual(error.code, 'internal', `${what}: ${error.message.slice(0, 500)}`);
  assert.notEqual(error.place, '', `${what}: ${error.message.slice(0, 500)}`);
}

for (const [option, wraps] of Object.entries(kinds)) {
  inWholeSuite(
    `${option}: long lists and objects`,
    () =>
      withFolder((folder) => {
        const { model, samples } = writeJob(folder);
        const file = path.join(folder, 'given.json');
        const common = ['quantize', model, '--data', samples, '-o', path.join(folder, 'out.onnx'), '--json'];
        for (const [k, wrap] of wraps.entries()) {
          for (const [what, value] of Object.entries(values)) {
            writeFileSync(file, JSON.stringify(wrap(value)));
            expectTold(run(...common, option, file), `${option} ${k}: ${what}`);
          }
        }
      }),
    300_000,
  );

  test(`${option}: nesting without end`, () =>
    withFolder((folder) => {
      const { model, samples } = writeJob(folder);
      const file = path.join(folder, 'given.json');
      for (const text of [
        '['.repeat(100_000),
        '{"a":'.repeat(1_000_000),
        `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
      ]) {
        writeFileSync(file, text);
        const out = ['-o', path.join(folder, 'out.onnx'), '--json'];
        const done = run('quantize', model, '--data', samples, option, file, ...out);
        assert.equal(done.status, 1);
        assert.match(JSON.parse(done.stderr).message, /more than 64 deep/);
        assert.equal(JSON.parse(done.stderr).place, file);
      }
    }));
}

test('the faults of a recipe are placed in its file, whatever part of it they are in', () =>
  withFolder((folder) => {
    const { model, samples } = writeJob(folder);
    const file = path.join(folder, 'mine.json');
    for (const [part, place] of [
      [{ preprocessing: { mean: 0.5 } }, '.preprocessing.mean'],
      [{ framework_info: { kernel_ops: 7 } }, '.framework_info.kernel_ops'],
      [{ overrides: { name: 'a' } }, '.overrides'],
    ]) {
      const recipe = { format: 'tersor-recipe', format_version: 1, platform: { name: 'ort-cpu', version: 1 }, ...part };
      writeFileSync(file, JSON.stringify(recipe));
      const out = ['-o', path.join(folder, 'out.onnx'), '--json'];
      const done = run('quantize', model, '--data', samples, '--recipe', file, ...out);
      assert.equal(done.status, 1);
      assert.equal(JSON.parse(done.stderr).place, file + place);
    }
  }));

test('a setting on the command line that is nested without end is refused too', () =>
  withFolder((folder) => {
    const { model, samples } = writeJob(folder);
    const set = ['--set', `z_threshold=${'['.repeat(50_000)}`, '--json'];
    const done = run('quantize', model, '--data', samples, '-o', path.join(folder, 'out.onnx'), ...set);
    assert.equal(done.status, 1);
    assert.match(JSON.parse(done.stderr).message, /^Found "\[\[\[.{0,80}where a number is expected\.$/);
  }));

test('a file of labels with a line without end, or with thousands of names, is told in few words', () =>
  withFolder((folder) => {
    const { model, samples } = writeJob(folder);
    const labels = path.join(folder, 'labels.csv');
    for (const text of [
      `${long}${long}`,
      `a,${long}\nb,1`,
      `${long},1\n${long},1`,
      many.map((k) => `class${k}`).join('\n'),
    ]) {
      writeFileSync(labels, text);
      const done = run('evaluate', model, '--data', samples, '--labels', labels, '--json');
      assert.equal(done.status, 1);
      const error = JSON.parse(done.stderr);
      assert.match(error.place, /labels\.csv/);
      assert(done.stderr.length < 2000, String(done.stderr.length));
    }
  }));
