// SPDX-License-Identifier: Apache-2.0
// tersor check: the file of a recipe judged against limits, with an exit status and JUnit XML for CI.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

import { npy } from '../browser/files.mjs';
import { perceptron, waves } from '../zoo/protobuf.mjs';
import { withFolder } from '../zoo/runtime.mjs';
import { run } from './job.mjs';

const rows = 40;

/** A model of three classes with samples, labels of them, and a recipe. */
function job(folder, recipe = []) {
  const at = (name) => path.join(folder, name);
  writeFileSync(at('model.onnx'), perceptron(1));
  writeFileSync(at('rows.npy'), npy(waves(3, 6 * rows), [rows, 6]));
  writeFileSync(at('labels.txt'), Array.from({ length: rows }, (_, k) => k % 3).join('\n'));
  const made = ['quantize', at('model.onnx'), '--data', at('rows.npy'), '-o', at('made.onnx'), '--quiet'];
  const { status, stderr } = run(...made, '--save-recipe', at('recipe.json'), ...recipe);
  assert.equal(status, 0, stderr);
  return {
    at,
    check: (...more) =>
      run('check', at('model.onnx'), '--recipe', at('recipe.json'), '--data', at('rows.npy'), ...more),
  };
}

test('a file within its limits passes: exit status 0, a table, and the bytes of the recipe', () =>
  withFolder((folder) => {
    const { at, check } = job(folder);
    const limits = ['--max-loss', '100', '--min-sqnr', '5'];
    const { status, stdout, stderr } = check(...limits, '--labels', at('labels.txt'), '-o', at('again.onnx'));
    assert.equal(status, 0, stderr);
    assert.equal(stderr, '');
    assert.match(stdout, /right answers +\d+\.\d\d % +\d+\.\d\d % +-?\d+\.\d\d points +at most 100\.00/);
    assert.match(stdout, /SQNR of ".+" +- +\d+\.\d\d dB +- +at least 5\.00 dB/);
    assert.match(stdout, /on 40 samples that calibration has seen too/);
    assert.doesNotMatch(stdout, /FAILED/);
    assert.deepEqual(readFileSync(at('again.onnx')), readFileSync(at('made.onnx')));
  }));

test('one beyond them fails: exit status 1, the rows that fail, and JUnit XML that says so', () =>
  withFolder((folder) => {
    const { at, check } = job(folder);
    const limits = ['--min-sqnr', '150', '--max-loss', '100'];
    const none = check('--max-loss', '100');
    assert.match(none.stderr, /no answers to lose/);
    const [, name] = /"([^"]+)"/.exec(check('--min-sqnr', '5').stdout);
    const roles = ['--set', `output_roles={"${name}": "classes"}`];
    const { status, stdout, stderr } = check(...limits, ...roles, '--junit', at('check.xml'));
    assert.equal(status, 1);
    assert.match(stdout, /FAILED/);
    assert.match(stderr, /error: .*model\.onnx: SQNR of ".+": \d+\.\d\d dB, at least 150 dB is asked for\./);
    const xml = readFileSync(at('check.xml'), 'utf8');
    assert.match(xml, /<testsuite name="model\.onnx" tests="2" failures="1">/);
    assert.match(xml, /<testcase classname="tersor\.check" name="same answers of &quot;.+&quot;"\/>/);
    assert.match(xml, /<failure message="SQNR of /);
  }));

test('samples that the recipe did not calibrate on judge', () =>
  withFolder((folder) => {
    const { check } = job(folder, ['--limit', '24']);
    const { status, stdout, stderr } = check('--min-sqnr', '5', '--json');
    assert.equal(status, 0, stderr);
    const said = JSON.parse(stdout);
    assert.deepEqual([said.samples, said.held_aside, said.passed], [16, true, true]);
    assert.deepEqual(
      said.rows.map((row) => [row.unit, row.limit]),
      [['dB', 5]],
    );
  }));

test('a model that has changed is what is checked: that is a note', () =>
  withFolder((folder) => {
    const { at, check } = job(folder);
    writeFileSync(at('model.onnx'), perceptron(2));
    const { status, stderr } = check('--min-sqnr', '5');
    assert.equal(status, 0, stderr);
    assert.match(stderr, /^note: .*recipe.*model/m);
  }));

test('without a limit, or a recipe, there is nothing to check', () =>
  withFolder((folder) => {
    const { at, check } = job(folder);
    const without = check();
    assert.equal(without.status, 2);
    assert.match(without.stderr, /--max-loss or --min-sqnr/);
    assert.equal(run('check', at('model.onnx'), '--data', at('rows.npy'), '--max-loss', '1').status, 2);
    assert(!existsSync(at('check.xml')));
  }));
