// SPDX-License-Identifier: Apache-2.0
//
// The loader that Emscripten writes beside tersor-light.wasm.

export { default, type ModuleOptions } from './tersor.js';
