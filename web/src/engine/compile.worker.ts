// SPDX-License-Identifier: Apache-2.0
//
// Compiles the engine away from the page: the thread that starts a compilation also takes in what arrives, piece by piece.

import url from 'tersor/tersor-light.wasm?url';

WebAssembly.compileStreaming(fetch(url)).then(
  (module) => postMessage(module),
  () => postMessage(null), // the package tries again and tells what is wrong
);
