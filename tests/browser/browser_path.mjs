// SPDX-License-Identifier: Apache-2.0
import { existsSync } from 'node:fs';

/** Where Chromium lies; TERSOR_CHROMIUM names another one. */
export function browserPath() {
  const paths = [
    process.env.TERSOR_CHROMIUM,
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ];
  const found = paths.find((path) => path && existsSync(path));
  if (!found) throw new Error(`no Chromium at ${paths.filter(Boolean).join(', ')}; set TERSOR_CHROMIUM`);
  return found;
}
