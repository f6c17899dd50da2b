// SPDX-License-Identifier: Apache-2.0

/** A text, or a text and the class of its cell; where it is false there is no such column. */
type Column = string | readonly [text: string, className: string] | false;

export function TableHead(props: { readonly of: readonly Column[] }) {
  const columns = props.of.flatMap((one) => (one === false ? [] : [typeof one === 'string' ? ([one] as const) : one]));
  return (
    <thead>
      <tr>
        {columns.map(([text, className]) => (
          <th key={text} scope="col" class={className}>
            {text}
          </th>
        ))}
      </tr>
    </thead>
  );
}
