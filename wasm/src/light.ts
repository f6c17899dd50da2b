// SPDX-License-Identifier: Apache-2.0
//
// `tersor/light`: where the light engine lies, for create({ light }). Apart from all else, so that bundlers put that file into
// apps that import this and into no others.

import type { HostURL } from './types/host.js';

const light: HostURL = new URL('./tersor-light.wasm', import.meta.url);
export default light;
