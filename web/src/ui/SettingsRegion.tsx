// SPDX-License-Identifier: Apache-2.0

import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { FieldDescription } from 'tersor';

import { shareable } from '../job/address';
import { otherLetter } from '../job/configurations';
import { dismiss } from '../job/load';
import { chosenPlatform, platformChoices, platformTitle } from '../job/platform';
import {
  backToDefaults,
  choiceText,
  fieldValue,
  formRows,
  groupTitles,
  isDocument,
  namesOf,
  setField,
  setPlatform,
  toDocumentDefaults,
  valueText,
  type FormRow,
  type GroupId,
} from '../job/settings';
import {
  active,
  coverageProblem,
  engine,
  fields,
  foreignRecipe,
  frameworkInfo,
  overrides,
  parked,
  platformName,
  recipe,
  settingsProblem,
} from '../job/state';
import { count } from '../numbers';
import { Configurations } from './Configurations';
import { copy } from './copy';
import { FieldControl, nullText } from './FieldControl';
import { Select } from './fields';
import { chooseFiles } from './files';
import { FrameworkInfoForm } from './FrameworkInfoForm';
import { Chevron } from './Icons';
import { LinkButton } from './LinkButton';
import { ProblemCard } from './Note';
import { OverridesForm } from './OverridesForm';
import { Figure, Region, type Cell } from './Region';

function defaultText(field: FieldDescription): string {
  if (field.default === null) return nullText(field);
  return typeof field.default === 'boolean' ? (field.default ? 'on' : 'off') : String(field.default);
}

/** What the engine says of a field in force; it stands at the field, and not where the model is shown. */
function faultOf(name: string): string {
  const problem = coverageProblem.value;
  if (!problem || !(name in fields.value)) return '';
  const isOfField = new RegExp(`\\b${name}\\b`).test(`${problem.place} ${problem.message} ${problem.hint}`);
  return isOfField ? `${problem.message} ${problem.hint}`.trim() : '';
}

function SettingRow(props: { readonly row: FormRow }) {
  const { field, title } = props.row;
  const changed = field.name in fields.value;
  const fault = faultOf(field.name);
  const theirs = parked.value ? (parked.value.fields[field.name] ?? field.default) : null;
  const differs = parked.value !== null && JSON.stringify(theirs) !== JSON.stringify(fieldValue(field));
  return (
    <div class="setting">
      <div>
        <p class="setting-name">
          {title}
          {changed && <span class="chip">changed</span>}
          {differs && <span class="chip">A ≠ B</span>}
        </p>
        <p class="setting-meaning">{props.row.help ?? field.meaning}</p>
        <p class="setting-field">{namesOf(field)}</p>
      </div>
      <div class={fault ? 'setting-control wrong' : 'setting-control'}>
        {field.acts ? (
          <FieldControl
            field={field}
            title={title}
            value={fieldValue(field)}
            onChoose={(value) => setField(field, value)}
            hideLabel
          />
        ) : (
          <p class="soft">{defaultText(field)}, the only value this version takes</p>
        )}
        {fault && (
          <p class="field-wrong" role="alert">
            ✕ {fault}
          </p>
        )}
        {differs && (
          <p class="soft">
            {otherLetter(active.value)}: {valueText(field, theirs)}
          </p>
        )}
      </div>
    </div>
  );
}

function PlatformRow() {
  const chosen = chosenPlatform();
  return (
    <div class="setting">
      <div>
        <p class="setting-name">Where it will run</p>
        <p class="setting-meaning">
          {chosen?.description || 'The runtime decides which operators become integers and which rounding is used.'}
        </p>
        <p class="setting-field">platform · MCT target_platform_capabilities · ORT execution provider</p>
      </div>
      <div class="setting-control">
        <Select
          label="Where it will run"
          hideLabel
          value={platformName.value}
          choices={platformChoices().map(({ label, title }) => ({
            value: label,
            text: label.startsWith('file:') ? `${title}, ${label.slice(5)}` : title,
          }))}
          onChoose={setPlatform}
        />
        <LinkButton onClick={chooseFiles}>Open platform file</LinkButton>
      </div>
    </div>
  );
}

type Fold = Exclude<GroupId, 'main'> | 'operators';
const unfolded = signal<ReadonlySet<Fold>>(new Set());

/** A part of the settings beyond those that matter most, folded until it is wanted. */
function SettingGroup(props: {
  readonly id: Fold;
  readonly title: string;
  /** What is in it. */
  readonly list: string;
  readonly changed: number;
  readonly children: () => ComponentChildren;
}) {
  const { id, title, list, changed } = props;
  const body = useId();
  const open = unfolded.value.has(id);
  const toggle = () => {
    const next = new Set(unfolded.value);
    if (!next.delete(id)) next.add(id);
    unfolded.value = next;
  };
  return (
    <div class="setting-group">
      <button type="button" class="setting-group-head" aria-expanded={open} aria-controls={body} onClick={toggle}>
        <Chevron class={open ? '' : 'sideways'} />
        <b>{title}</b>
        <span class="soft setting-group-list">{list}</span>
        <span class="soft">{changed === 0 ? 'all at default' : `${count(changed)} changed`}</span>
      </button>
      <div id={body} hidden={!open}>
        {open && props.children()}
      </div>
    </div>
  );
}

/** Everything beyond the few that matter. */
function OtherSettings(props: { readonly rows: readonly FormRow[] }) {
  const groups = Object.keys(groupTitles) as Exclude<GroupId, 'main'>[];
  return (
    <>
      {groups.map((id) => {
        const rows = props.rows.filter((row) => row.group === id);
        return (
          <SettingGroup
            key={id}
            id={id}
            title={groupTitles[id]}
            list={rows.map((row) => row.title.toLowerCase()).join(', ')}
            changed={rows.filter((row) => row.field.name in fields.value).length}
          >
            {() => rows.map((row) => <SettingRow key={row.field.name} row={row} />)}
          </SettingGroup>
        );
      })}
      <SettingGroup
        id="operators"
        title="Single operators"
        list="bits, grids, cuts and float of some operators only, what is known of operators"
        changed={overrides.value.length + (frameworkInfo.value ? 1 : 0)}
      >
        {() => (
          <>
            <OverridesForm />
            <FrameworkInfoForm />
          </>
        )}
      </SettingGroup>
    </>
  );
}

/** What will happen: where the file runs, what is preferred, with how many bits, and how much of it the reader chose. */
function lineCells(rows: readonly FormRow[]): Cell[] {
  const config = engine.value?.quantizationConfig(fields.value) ?? {};
  const prefer = rows.find((row) => row.field.name === 'prefer')?.field;
  const [weights, activations] = [config['weights_n_bits'], config['activation_n_bits']];
  const changed = Object.keys(fields.value).length + overrides.value.length + (frameworkInfo.value ? 1 : 0);
  const cells: Cell[] = [{ key: 'platform', kind: 'name', content: platformTitle() }];
  if (prefer)
    cells.push({ key: 'prefer', content: <Figure value={choiceText(String(fieldValue(prefer)))} what="preferred" /> });
  if (typeof weights === 'number')
    cells.push({ key: 'weights', content: <Figure value={`${weights}-bit`} what="weights" /> });
  if (typeof activations === 'number')
    cells.push({ key: 'activations', content: <Figure value={`${activations}-bit`} what="activations" /> });
  cells.push({
    key: 'changed',
    content:
      changed === 0 ? <span class="soft">nothing changed</span> : <Figure value={count(changed)} what="changed" />,
  });
  return cells;
}

/** Whose defaults the fields are, where all are one's. */
function DefaultsNote() {
  if (Object.keys(fields.value).length === 0) return <span class="soft">All fields are at Tersor’s defaults.</span>;
  if (!isDocument()) return null;
  return (
    <span class="soft">
      All fields are at the defaults of MCT’s QuantizationConfig: MSE, power of two, 8 bits, no equalization.
    </span>
  );
}

export function SettingsRegion() {
  const problem = settingsProblem.value;
  const always = problem ? <ProblemCard problem={problem} onDismiss={() => dismiss('settings')} /> : undefined;
  if (!engine.value) {
    return (
      <Region
        id="settings"
        number={3}
        title="Settings"
        sentence="Defaults that hold; few that matter."
        always={always}
      />
    );
  }
  const rows = formRows();
  const opened = recipe.value;
  return (
    <Region id="settings" number={3} title="Settings" cells={lineCells(rows)} canOpen openWord="Change" always={always}>
      <div class="settings">
        <Configurations />
        <PlatformRow />
        {rows
          .filter((row) => row.group === 'main')
          .map((row) => (
            <SettingRow key={row.field.name} row={row} />
          ))}
        <OtherSettings rows={rows.filter((row) => row.group !== 'main')} />
        <div class="actions">
          <LinkButton onClick={chooseFiles}>Open recipe</LinkButton>
          <LinkButton onClick={() => void copy(shareable(), 'Address copied: it holds the settings, and no data.')}>
            Copy link to these settings
          </LinkButton>
          <LinkButton onClick={toDocumentDefaults}>MCT’s defaults</LinkButton>
          <LinkButton onClick={backToDefaults}>Back to Tersor’s defaults</LinkButton>
          {opened ? (
            <span class="soft">
              Filled from {opened.name}
              {foreignRecipe.value && ', a recipe of another model'}.
            </span>
          ) : (
            <DefaultsNote />
          )}
        </div>
      </div>
    </Region>
  );
}
