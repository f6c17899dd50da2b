// SPDX-License-Identifier: Apache-2.0
//
// The package's worker, which ends itself when it is given samples while the file TERSOR_TEST_MARKER exists (and takes that away).
import { existsSync, rmSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';

import '../../wasm/dist/worker.js';

const marker = process.env.TERSOR_TEST_MARKER;
parentPort.on('message', ({ method }) => {
  if (method !== 'addSamples' || !existsSync(marker)) return;
  rmSync(marker);
  process.exit(7);
});
