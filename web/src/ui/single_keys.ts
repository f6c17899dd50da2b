// SPDX-License-Identifier: Apache-2.0

import { storedChoice } from './stored';

export const [singleKeys, chooseSingleKeys] = storedChoice('tersor-keys', 'on');
