// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';

import { browserPath } from '../browser/browser_path.mjs';

/** Name and number of the browser, without what its package adds. */
export function browserVersion() {
  const text = execFileSync(browserPath(), ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return /^\s*(\S+ [\d.]+)/.exec(text)?.[1] ?? text.trim();
}
