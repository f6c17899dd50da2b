// SPDX-License-Identifier: Apache-2.0
//
// The package's worker, which closes itself when it is given samples.
import '/dist/worker.js';

addEventListener('message', ({ data }) => {
  if (data.method === 'addSamples') self.close();
});
