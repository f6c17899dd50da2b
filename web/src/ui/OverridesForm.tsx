// SPDX-License-Identifier: Apache-2.0
//
// Settings of single operators: those in force, each with its button to remove it, and a form for one more.

import { useEffect, useId, useState } from 'preact/hooks';

import {
  addOverride,
  emptyDraft,
  findNodes,
  firstValue,
  listOverrides,
  nodes,
  operatorRows,
  types,
  type Draft,
} from '../job/overrides';
import type { Problem } from '../job/problem';
import { model } from '../job/state';
import { count, counted } from '../numbers';
import { FieldControl } from './FieldControl';
import { Select, TextArea, TextField } from './fields';
import { LinkButton } from './LinkButton';
import { ProblemCard } from './Note';

const example =
  '{ "filter": { "layer": "Conv", "all": [{ "attr": "group", "op": "Greater", "value": 1 }] }, "config": {} }';

/** Rows that are laid out at most; a list of thousands, out of a file, would hold the page up. */
const mostRows = 100;

function List(props: { readonly onRemove: () => void }) {
  const rows = listOverrides();
  if (rows.length === 0) return null;
  return (
    <ul class="overrides" aria-label="Settings of single operators">
      {rows.slice(0, mostRows).map(({ chosen, effect, remove }) => (
        <li key={`${chosen}: ${effect}`}>
          <code>{chosen}</code>
          <span>{effect}</span>
          <LinkButton
            onClick={() => {
              remove();
              props.onRemove();
            }}
          >
            Remove<span class="visually-hidden"> {chosen}</span>
          </LinkButton>
        </li>
      ))}
      {rows.length > mostRows && <li>and {count(rows.length - mostRows)} more</li>}
    </ul>
  );
}

interface DraftProps {
  readonly draft: Draft;
  readonly change: (part: Partial<Draft>) => void;
}

function Which({ draft, change }: DraftProps) {
  const list = useId();
  if (draft.by === 'json') {
    return (
      <TextArea label="Override as JSON" value={draft.json} placeholder={example} onType={(json) => change({ json })} />
    );
  }
  if (draft.by === 'type') {
    return (
      <Select
        label="Type"
        value={draft.type}
        choices={types().map(({ type, count }) => ({ value: type, text: `${type}, ${counted(count, 'operator')}` }))}
        onChoose={(type) => change({ type })}
      />
    );
  }
  return (
    <>
      <TextField
        label="Name, * and ? stand for anything"
        value={draft.name}
        list={list}
        onType={(name) => change({ name })}
      />
      <datalist id={list}>
        {nodes.value.map(({ name, type }) => (
          <option key={name} value={name}>
            {type}
          </option>
        ))}
      </datalist>
    </>
  );
}

function What({ draft, change }: DraftProps) {
  const rows = operatorRows();
  const row = rows.find(({ field }) => field.name === draft.what);
  const choose = (what: string) => {
    const chosen = rows.find(({ field }) => field.name === what);
    change({ what, value: chosen ? firstValue(chosen) : null });
  };
  return (
    <>
      <Select
        label="Setting"
        value={draft.what}
        choices={[
          { value: 'float', text: 'Keep in float' },
          ...rows.map(({ field, title }) => ({ value: field.name, text: title })),
          { value: 'annotate', text: 'Annotate: all others stay float' },
        ]}
        onChoose={choose}
      />
      {row && (
        <FieldControl
          key={row.field.name}
          field={row.field}
          title={row.title}
          value={draft.value}
          onChoose={(value) => change({ value })}
        />
      )}
    </>
  );
}

export function OverridesForm() {
  const first = useId();
  const [draft, setDraft] = useState(emptyDraft);
  const [problem, setProblem] = useState<Problem | null>(null);
  const open = model.value;
  useEffect(() => void findNodes(), [open]);
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));
  const add = async () => {
    const refused = await addOverride(draft);
    setProblem(refused);
    if (!refused) change({ name: '', json: '' });
  };
  return (
    <div class="setting-more">
      <h4 class="setting-group-title">Settings of their own</h4>
      <p class="setting-meaning">
        What holds for some operators only, where the platform offers it. A name is stronger than a pattern, a pattern
        than a filter, a filter than a type; of equals the later one wins.
      </p>
      <p class="setting-field">overrides · MCT network editor, QuantizeConfig, annotation · ORT nodes_to_exclude</p>
      <List onRemove={() => document.getElementById(first)?.focus()} />
      {open ? (
        <form
          class="override-form"
          onSubmit={(event) => {
            event.preventDefault();
            void add();
          }}
        >
          <Select
            id={first}
            label="Which operators"
            value={draft.by}
            choices={[
              { value: 'name', text: 'by name or pattern' },
              { value: 'type', text: 'by type' },
              { value: 'json', text: 'as JSON: filters, QuantizeConfigs' },
            ]}
            onChoose={(by) => change({ by, type: draft.type || (types()[0]?.type ?? '') })}
          />
          <Which draft={draft} change={change} />
          {draft.by !== 'json' && <What draft={draft} change={change} />}
          <button type="submit" class="button">
            Add
          </button>
        </form>
      ) : (
        <p class="soft">Open a model: its operators are offered here.</p>
      )}
      {problem && <ProblemCard problem={problem} onDismiss={() => setProblem(null)} />}
    </div>
  );
}
