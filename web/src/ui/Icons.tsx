// SPDX-License-Identifier: Apache-2.0

interface IconProps {
  readonly class?: string;
}

function icon(path: string, size = 16) {
  return function Icon(props: IconProps) {
    return (
      <svg class={`icon ${props.class ?? ''}`} width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
        <path d={path} />
      </svg>
    );
  };
}

export const Chevron = icon('M4 6l4 4 4-4');
export const Previous = icon('M10 4L6 8l4 4');
export const Next = icon('M6 4l4 4-4 4');
export const Close = icon('M4 4l8 8M12 4l-8 8');
export const Check = icon('M3 8.5l3.2 3.2L13 5');
export const Search = icon('M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.4 10.4L14 14');
export const Undo = icon('M6 3L3 6l3 3M3 6h6.5a3.5 3.5 0 0 1 0 7H6');
export const Redo = icon('M10 3l3 3-3 3M13 6H6.5a3.5 3.5 0 0 0 0 7H10');
export const OpenFiles = icon('M2 12.5v-9h4l1.5 2H14v7zM8 7.5v3.4M6.3 9.2h3.4');

export function Logo() {
  return (
    <svg class="logo" width="28" height="28" viewBox="0 0 28 28" aria-hidden="true">
      <path class="logo-line" d="M3 24L25 4" />
      <path class="logo-steps" d="M3 24h4.5v-4H12v-4h4.5v-4H21V8h4V4" />
    </svg>
  );
}

export function Theme() {
  return (
    <svg class="icon" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" />
      <path class="icon-solid" d="M8 2a6 6 0 0 1 0 12z" />
    </svg>
  );
}

/** F is open and round, a configuration solid and square. */
export function Badge(props: { readonly letter: 'F' | 'A' | 'B'; readonly title: string }) {
  return (
    <span class={`badge badge-${props.letter.toLowerCase()}`} role="img" aria-label={props.title} title={props.title}>
      {props.letter}
    </span>
  );
}

const noteSigns = {
  fine: <path d="M3 8.5l3.2 3.2L13 5" />,
  note: (
    <>
      <circle cx="8" cy="8" r="6" />
      <path d="M8 7.2v4M8 4.6v.9" />
    </>
  ),
  caution: <path d="M8 2L14.5 13.5h-13zM8 6.4v3.4M8 11.3v.7" />,
  stop: (
    <>
      <rect class="icon-solid" x="1" y="1" width="14" height="14" rx="2" />
      <path class="icon-on" d="M5.2 5.2l5.6 5.6M10.8 5.2l-5.6 5.6" />
    </>
  ),
} as const;

export type NoteKind = keyof typeof noteSigns;

export function NoteSign(props: { readonly kind: NoteKind }) {
  return (
    <svg class={`icon sign sign-${props.kind}`} width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
      {noteSigns[props.kind]}
    </svg>
  );
}
