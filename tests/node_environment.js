// SPDX-License-Identifier: Apache-2.0
// Emscripten gives programs an environment of its own: the tests compiled to WebAssembly see the one variable they read.
Module['preRun'] = [
  () => {
    if (process.env.TERSOR_SHARED !== undefined) ENV.TERSOR_SHARED = process.env.TERSOR_SHARED;
  },
];
