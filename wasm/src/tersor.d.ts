// SPDX-License-Identifier: Apache-2.0
//
// The loader that Emscripten writes beside tersor.wasm.

export interface ModuleOptions {
  instantiateWasm(
    imports: WebAssembly.Imports,
    done: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ): object;
  print?(text: string): void;
  printErr?(text: string): void;
}

export default function makeModule(options: ModuleOptions): Promise<object>;
