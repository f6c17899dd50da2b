// SPDX-License-Identifier: Apache-2.0
//
// The bar above the settings: which configuration they are of, what goes across, and in what A and B differ.

import { copyAcross, differences, lookAt, openConfiguration, removeOther, swap } from '../job/compare';
import { letters, otherLetter } from '../job/configurations';
import { active, looksAt, parked, type Letter } from '../job/state';
import { Badge } from './Icons';
import { LinkButton } from './LinkButton';

interface SwitchProps<T extends string> {
  readonly name: string;
  readonly legend: string;
  readonly value: T;
  readonly choices: readonly (readonly [T, string])[];
  readonly onChoose: (value: T) => void;
}

export function RadioSwitch<T extends string>(props: SwitchProps<T>) {
  return (
    <fieldset class="switch">
      <legend class="visually-hidden">{props.legend}</legend>
      {props.choices.map(([value, text]) => (
        <label key={value} class={props.value === value ? 'chosen' : ''}>
          <input
            type="radio"
            name={props.name}
            checked={props.value === value}
            onChange={() => props.onChoose(value)}
          />
          {text}
        </label>
      ))}
    </fieldset>
  );
}

/** "All, Float, A, B": what the reader looks at. */
export function LookSwitch() {
  if (!parked.value) return null;
  return (
    <RadioSwitch
      name="looks-at"
      legend="Show"
      value={looksAt.value}
      choices={[
        ['all', 'All'],
        ['F', 'Float'],
        ['A', 'A'],
        ['B', 'B'],
      ]}
      onChoose={lookAt}
    />
  );
}

function Differing() {
  const rows = differences();
  if (rows.length === 0) return <p class="soft">A and B are the same. Change a setting: it is {active.value}’s.</p>;
  return (
    <table class="figures differences">
      <caption>What differs</caption>
      <thead>
        <tr>
          <th scope="col">Setting</th>
          {letters.map((letter) => (
            <th scope="col" key={letter}>
              <Badge letter={letter} title={`Configuration ${letter}`} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <th scope="row">{row.title}</th>
            <td class={active.value === 'A' ? 'strong' : ''}>{row.A}</td>
            <td class={active.value === 'B' ? 'strong' : ''}>{row.B}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Configurations() {
  const mine = active.value;
  const other = otherLetter(mine);
  if (!parked.value) {
    return (
      <div class="configurations">
        <div class="actions">
          <button type="button" class="button" onClick={copyAcross}>
            Copy to B
          </button>
          <span class="soft">Compare a second configuration with this one, side by side.</span>
        </div>
      </div>
    );
  }
  return (
    <div class="configurations">
      <div class="actions">
        <RadioSwitch<Letter>
          name="configuration"
          legend="Configuration whose settings these are"
          value={mine}
          choices={letters.map((letter) => [letter, letter] as const)}
          onChoose={openConfiguration}
        />
        <span class="soft">These are the settings of {mine}.</span>
        <LinkButton onClick={copyAcross}>Copy to {other}</LinkButton>
        <LinkButton onClick={swap}>Swap</LinkButton>
        <LinkButton onClick={removeOther}>Remove {other}</LinkButton>
      </div>
      <Differing />
    </div>
  );
}
