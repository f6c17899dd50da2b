// SPDX-License-Identifier: Apache-2.0
//
// Which suite runs: TERSOR_SUITE, which scripts/test sets, is "short" or "all".
import { test } from 'vitest';

/** What tries a product of settings tries a part of it in the short suite. */
export const wholeSuite = process.env.TERSOR_SUITE === 'all';

/** A test that `./scripts/test` leaves to `./scripts/test all`, and that is not skipped when its file is run by itself. */
export const inWholeSuite = test.skipIf(process.env.TERSOR_SUITE === 'short');
