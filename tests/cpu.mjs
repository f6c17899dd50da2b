// SPDX-License-Identifier: Apache-2.0
//
// What of this machine's processor decides the sums of ONNX Runtime: without VNNI it adds pairs of products in 16 bits, which saturate.
import { existsSync, readFileSync } from 'node:fs';

const processor = existsSync('/proc/cpuinfo') ? readFileSync('/proc/cpuinfo', 'latin1') : '';
export const hasVnni = /avx512_vnni|avx_vnni/.test(processor);

/** Options of a session of onnxruntime-node that adds as with VNNI; it opens no file in which two operators share a weight. */
export const exactSums = hasVnni ? {} : { extra: { session: { x64quantprecision: '1' } } };
