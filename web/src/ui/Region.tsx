// SPDX-License-Identifier: Apache-2.0
//
// One numbered entry of the page: a line of figures, and below it the details while it is open.

import type { ComponentChildren } from 'preact';

import { openRegions, showsAnswer, type RegionId } from '../job/state';
import { Chevron } from './Icons';

export interface Cell {
  readonly key: string;
  readonly content: ComponentChildren;
  readonly kind?: 'name' | 'stop' | undefined;
  /** What the pointer is told, where the content says less. */
  readonly title?: string;
}

interface RegionProps {
  readonly id: RegionId;
  readonly number: number;
  readonly title: string;
  /** Shown while there are no cells. */
  readonly sentence?: ComponentChildren;
  readonly cells?: readonly Cell[];
  /** Ends the line; without it a region with a body gets its Details button. */
  readonly action?: ComponentChildren;
  readonly openWord?: string;
  readonly canOpen?: boolean;
  readonly children?: ComponentChildren;
  /** Stands open whatever the reader folds. */
  readonly always?: ComponentChildren;
}

function toggleRegion(id: RegionId): void {
  const next = new Set(openRegions.value);
  if (!next.delete(id)) next.add(id);
  openRegions.value = next;
}

export function Region(props: RegionProps) {
  const open = props.canOpen === true && openRegions.value.has(props.id);
  const heading = `${props.id}-heading`;
  const body = `${props.id}-body`;
  // beside the answer a line says what it is about, and what is wrong with it
  const isBrief = showsAnswer.value && !open;
  const cells = isBrief ? props.cells?.filter(({ kind }, k) => k === 0 || kind === 'stop') : props.cells;
  return (
    <section class={`region region-${props.id}`} aria-labelledby={heading}>
      <div class="line">
        <span class="line-number" aria-hidden="true">
          {props.number}
        </span>
        <h2 class="line-title" id={heading}>
          {props.title}
        </h2>
        {cells ? (
          <div class="line-cells">
            {cells.map((cell) => (
              <span
                key={cell.key}
                class={`cell ${cell.kind ? `cell-${cell.kind}` : ''}`}
                title={cell.title ?? (typeof cell.content === 'string' ? cell.content : undefined)}
              >
                {cell.content}
              </span>
            ))}
          </div>
        ) : (
          <div class="line-sentence">{props.sentence}</div>
        )}
        <div class="line-action">
          {props.action}
          {props.canOpen === true && (
            <button
              type="button"
              class="ghost"
              aria-expanded={open}
              aria-controls={body}
              onClick={() => toggleRegion(props.id)}
            >
              {open ? 'Close' : (props.openWord ?? 'Details')}
              <span class="visually-hidden"> {props.title.toLowerCase()}</span>
              <Chevron class={open ? 'turned' : ''} />
            </button>
          )}
        </div>
      </div>
      {props.always && <div class="region-always">{props.always}</div>}
      {props.canOpen === true && (
        <div class="region-body" id={body} hidden={!open}>
          {open && props.children}
        </div>
      )}
    </section>
  );
}

/** A figure with its unit or what it counts in a softer ink. */
export function Figure(props: { readonly value: ComponentChildren; readonly what?: ComponentChildren }) {
  return (
    <>
      {props.value}
      {props.what !== undefined && <span class="soft"> {props.what}</span>}
    </>
  );
}
