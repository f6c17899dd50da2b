// SPDX-License-Identifier: Apache-2.0
//
// The layers of the quantized model, worst first: a table that is searched with "/", walked with the arrow keys, and opens a
// panel beside itself. More than two hundred rows are drawn only where they are seen.

import { signal } from '@preact/signals';
import type { LayerRow } from 'tersor';

import { goneLayer, openLayer, result } from '../job/state';
import { decibels, percent, range } from '../numbers';
import { useFold } from './fold';
import { Search } from './Icons';
import { layerSearchId, rowId } from './layer';
import { layerTab, LayerTabs } from './LayerTabs';
import { LazyGraph } from './LazyGraph';
import { LazyLayer } from './LazyLayer';
import { focusRow, useRowWindow } from './rows';
import { singleKeys } from './single_keys';
import { TableHead } from './TableHead';

const search = signal('');
const byError = signal(true);
/** Rows shown before "Show all". */
const firstRows = 18;

export function layersShown(layers: readonly LayerRow[], text: string, worstFirst: boolean): LayerRow[] {
  const wanted = text.trim().toLowerCase();
  const found = layers.filter(
    (row) => wanted === '' || [row.name, row.op, row.output].some((t) => t.toLowerCase().includes(wanted)),
  );
  return worstFirst ? found.sort((a, b) => b.error_share - a.error_share) : found;
}

function Bar(props: { readonly share: number; readonly most: number }) {
  return (
    <svg class="error-bar" width="100%" height="8" aria-hidden="true">
      <rect width={`${props.most > 0 ? (100 * props.share) / props.most : 0}%`} height="8" />
    </svg>
  );
}

interface ListRowProps {
  readonly row: LayerRow;
  readonly most: number;
  readonly worst: boolean;
  readonly narrow: boolean;
  readonly onMove: (event: KeyboardEvent) => void;
}

function ListRow({ row, most, worst, narrow, onMove }: ListRowProps) {
  const selected = openLayer.value === row.output;
  return (
    <tr class={selected ? 'selected' : ''} onClick={() => (openLayer.value = row.output)}>
      <th scope="row">
        <button
          type="button"
          id={rowId(row.output)}
          class="layer-name"
          title={row.name}
          aria-pressed={selected}
          onKeyDown={onMove}
          onClick={(event) => {
            event.stopPropagation();
            openLayer.value = selected ? null : row.output;
          }}
        >
          {row.name}
        </button>
      </th>
      {!narrow && (
        <td class="layer-op soft">
          {row.op} {row.detail}
        </td>
      )}
      <td class="layer-bar">
        <Bar share={row.error_share} most={most} />
      </td>
      <td class={worst ? 'right strong' : 'right'}>{percent(row.error_share, 1)}</td>
      {!narrow && (
        <>
          <td class="right layer-alone">{row.range === null ? 'float' : figureOf(row.isolated_sqnr_db)}</td>
          <td class="right layer-sofar">{figureOf(row.accumulated_sqnr_db)}</td>
          <td class="right soft layer-range">{row.range ? range(row.range[0], row.range[1]) : '–'}</td>
        </>
      )}
    </tr>
  );
}

/** The column head has the unit. */
function figureOf(db: number | null): string {
  return db === null ? 'exact' : decibels(db).replace(/\s*dB$/, '');
}

function moveBy(rows: readonly LayerRow[], body: HTMLTableSectionElement | null, event: KeyboardEvent): void {
  const id = (event.currentTarget as HTMLElement).id;
  const at = rows.findIndex((row) => rowId(row.output) === id);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const index = Math.max(0, Math.min(rows.length - 1, to));
  const next = rows[index];
  if (!next) return;
  if (openLayer.value !== null) openLayer.value = next.output;
  focusRow(body, index, rowId(next.output));
}

function List(props: { readonly rows: readonly LayerRow[]; readonly most: number; readonly narrow: boolean }) {
  const { rows, most, narrow } = props;
  const shown = useRowWindow(rows.length);
  const columns = narrow ? 3 : 7;
  const spacer = (height: number, key: string) =>
    height > 0 && (
      <tr key={key} aria-hidden="true">
        <td colSpan={columns} class="spacer" style={{ height: `${height}px` }} />
      </tr>
    );
  return (
    <table class={narrow ? 'layers narrow' : 'layers'} aria-rowcount={rows.length}>
      <caption class="visually-hidden">Layers with their share of the output error</caption>
      <TableHead
        of={[
          'Layer',
          !narrow && ['Operator', 'layer-op'],
          ['Share of output error', 'layer-bar'],
          ['Share', 'right'],
          !narrow && ['Alone, dB', 'right layer-alone'],
          !narrow && ['So far, dB', 'right layer-sofar'],
          !narrow && ['Range', 'right layer-range'],
        ]}
      />
      <tbody ref={shown.body}>
        {spacer(shown.from * shown.height, 'above')}
        {rows.slice(shown.from, shown.to).map((row, k) => (
          <ListRow
            key={row.output}
            row={row}
            most={most}
            worst={byError.value && shown.from + k === 0}
            narrow={narrow}
            onMove={(event) => moveBy(rows, shown.body.current, event)}
          />
        ))}
        {spacer((rows.length - shown.to) * shown.height, 'below')}
      </tbody>
    </table>
  );
}

function Tools() {
  return (
    <div class="layer-tools">
      <div class="search">
        <Search />
        <input
          id={layerSearchId}
          type="search"
          placeholder="Find a layer"
          aria-label="Find a layer"
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape' || search.value === '') return;
            event.preventDefault();
            search.value = '';
          }}
        />
        {singleKeys.value === 'on' && <kbd aria-hidden="true">/</kbd>}
      </div>
      <fieldset class="switch">
        <legend class="visually-hidden">Order of the layers</legend>
        {([true, false] as const).map((error) => (
          <label key={String(error)} class={byError.value === error ? 'chosen' : ''}>
            <input
              type="radio"
              name="layer-order"
              checked={byError.value === error}
              onChange={() => (byError.value = error)}
            />
            {error ? 'By error' : 'In order'}
          </label>
        ))}
      </fieldset>
    </div>
  );
}

export function Layers() {
  const done = result.value;
  const layers = done?.comparison.layers ?? [];
  const rows = layersShown(layers, search.value, byError.value);
  const [shown, more] = useFold(rows, search.value === '' ? firstRows : Infinity, 'layers');
  if (!done) return null;
  const selected = layers.find((row) => row.output === openLayer.value) ?? null;
  const gone = selected === null && goneLayer.value?.output === openLayer.value ? goneLayer.value : null;
  const open = selected ?? gone;
  const panel = open && <LazyLayer row={open} rows={rows} isGone={selected === null} />;
  const most = Math.max(0, ...layers.map((row) => row.error_share));
  const tabs = <LayerTabs>{done.pending && done.pending !== 'elsewhere' && <span class="chip">old</span>}</LayerTabs>;
  if (layerTab.value === 'graph') {
    return (
      <div class="layers-block">
        <LazyGraph searchId={layerSearchId} head={tabs} panel={panel} />
      </div>
    );
  }
  return (
    <div class={panel ? 'layers-block with-panel' : 'layers-block'}>
      <div class="tab-bar">
        {tabs}
        <Tools />
      </div>
      <div class="layers-area">
        <div class="layers-list">
          {shown.length > 0 ? (
            <List rows={shown} most={most} narrow={panel !== null} />
          ) : (
            <p class="soft-2">
              {layers.length === 0 ? 'No layer was quantized.' : `No layer is called “${search.value}”.`}
            </p>
          )}
          {more}
        </div>
        {panel}
      </div>
    </div>
  );
}
