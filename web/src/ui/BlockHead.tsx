// SPDX-License-Identifier: Apache-2.0

import type { ComponentChildren } from 'preact';

/** The title of a block, and a note beside it. */
export function BlockHead(props: { readonly title: string; readonly note?: ComponentChildren }) {
  return (
    <div class="block-head">
      <h3>{props.title}</h3>
      {props.note !== undefined && <span class="soft">{props.note}</span>}
    </div>
  );
}
