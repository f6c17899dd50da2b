// SPDX-License-Identifier: Apache-2.0

import type { ButtonHTMLAttributes } from 'preact';

/** A button that looks like a link. */
export function LinkButton(props: ButtonHTMLAttributes) {
  return <button type="button" class="link" {...props} />;
}
