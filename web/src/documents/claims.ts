// SPDX-License-Identifier: Apache-2.0
//
// The requirement documents' sentences, each with what shows it.

import { claims as framework } from './framework_info';
import { claims as configuration } from './quantization_config';
import { claims as layers } from './quantize_config';
import type { Claim } from './shown';
import { claims as platforms } from './target_platform';
import { claims as trainable } from './trainable_infrastructure';

export const claims: readonly Claim[] = [...configuration, ...framework, ...platforms, ...layers, ...trainable];
