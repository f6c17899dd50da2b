// SPDX-License-Identifier: Apache-2.0
// What scripts/build says while it works, with a ninja of this test in the place of the real one.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

import { inWholeSuite } from '../suite.mjs';
import { withFolder } from '../zoo/runtime.mjs';

const scripts = path.resolve(import.meta.dirname, '../../scripts');

/** Runs scripts/build native in a folder where ninja and the installation are these lines of shell. */
function build(folder, ninja, terminal) {
  const file = (name, content) => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), content);
    chmodSync(path.join(folder, name), 0o755);
  };
  for (const name of ['build', 'environment.sh']) cpSync(path.join(scripts, name), path.join(folder, 'scripts', name));
  file('scripts/install', '#!/bin/sh\n');
  file('build/native/build.ninja', '');
  file('bin/ninja', `#!/bin/bash\n${ninja}\n`);
  const env = { ...process.env, PATH: `${path.join(folder, 'bin')}:${process.env.PATH}` };
  const command = `${path.join(folder, 'scripts/build')} native`;
  return terminal
    ? spawnSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8', env })
    : spawnSync('bash', ['-c', command], { encoding: 'utf8', env });
}

const steps = (count, pause = 0) =>
  `for k in $(seq ${count}); do s=\${NINJA_STATUS//%f/$k}; echo "\${s//%t/${count}}Building $k of many"; sleep ${pause}; done`;

test('on a terminal one line counts', () =>
  withFolder((folder) => {
    const { stdout, status } = build(folder, steps(3), true);
    assert.equal(status, 0);
    assert.match(stdout, /^\r\x1b\[Knative 1 of 3\r\x1b\[Knative 2 of 3\r\x1b\[Knative 3 of 3\r?\n$/);
  }));

inWholeSuite('elsewhere a line tells it every ten seconds, and what a compiler says is all there', () =>
  withFolder((folder) => {
    const quick = build(folder, `${steps(200)}; echo "a.cpp:1: error: 2 of 3"; exit 1`, false);
    assert.equal(quick.stdout, 'a.cpp:1: error: 2 of 3\n');
    assert.notEqual(quick.status, 0);
    const slow = build(folder, steps(12, 1), false);
    assert.equal(slow.status, 0);
    assert.match(slow.stdout, /^native 1[0-2] of 12\n$/);
  }),
);
