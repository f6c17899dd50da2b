// SPDX-License-Identifier: Apache-2.0
//
// What every package says of the project comes from project.json.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { filledFiles, project } from '../../scripts/project.mjs';
import { run } from '../cli/job.mjs';

const root = path.resolve(import.meta.dirname, '../..');

test.each(filledFiles())('%s says what project.json says', (file, text) => {
  expect(readFileSync(path.join(root, file), 'utf8')).toBe(text);
});

test('the program and the changelog have its version', () => {
  expect(project.version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(run('--version').stdout).toBe(`tersor ${project.version}\n`);
  const changelog = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8');
  const [, newest] = /^## \[Unreleased\]\n(?:(?!## ).*\n)*## \[(.*)\] - \d{4}-\d\d-\d\d$/m.exec(changelog);
  expect(newest).toBe(project.version);
  expect(run('help', '--manual').stdout).toContain(`"tersor ${project.version}"`);
});
