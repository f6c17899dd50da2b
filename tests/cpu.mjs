// SPDX-License-Identifier: Apache-2.0
//
// What of this machine's processor decides the sums of ONNX Runtime: without VNNI it adds pairs of products in 16 bits, which saturate.
import { existsSync, readFileSync } from 'node:fs';

export const hasVnni =
  existsSync('/proc/cpuinfo') && /avx512_vnni|avx_vnni/.test(readFileSync('/proc/cpuinfo', 'latin1'));
