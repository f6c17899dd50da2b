#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
//
// The command `tersor`: the program itself (core/doors/cli) as WebAssembly, with Node's files and in one thread.

import fs from 'node:fs';
import { createRequire } from 'node:module';
import { brotliDecompressSync } from 'node:zlib';

/**
 * Reads or writes as a program of the system does. Emscripten names a position always, which pipes do not have; a pipe that is
 * empty or full is waited for, and one that nobody reads ends the program.
 */
const asTheSystem =
  (call) =>
  (descriptor, buffer, offset, length, position = null) => {
    for (;;) {
      try {
        return call(descriptor, buffer, offset, length, position);
      } catch (error) {
        if (error.code === 'EPIPE') process.exit(141); // what a shell makes of SIGPIPE
        if (error.code === 'EAGAIN') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
        else if (error.code === 'ESPIPE' && position !== null) position = null;
        else throw error;
      }
    }
  };
fs.readSync = asTheSystem(fs.readSync);
fs.writeSync = asTheSystem(fs.writeSync);

const start = createRequire(import.meta.url)('./dist/cli.cjs');
await start({
  wasmBinary: brotliDecompressSync(fs.readFileSync(new URL('./dist/cli.wasm.br', import.meta.url))),
  thisProgram: 'tersor',
  arguments: process.argv.slice(2),
});
