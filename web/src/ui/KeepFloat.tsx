// SPDX-License-Identifier: Apache-2.0
//
// One operator in float or in integers, whatever the platform says; the model is made anew at once. What goes with it is said before.

import { useEffect } from 'preact/hooks';

import { setKeepFloat } from '../job/settings';
import { coverage, keepFloat, result, resultIsOld } from '../job/state';
import { askWhatGoesAlong, takenAlong } from '../job/what_if';
import { counted, shortName } from '../numbers';
import { Select } from './fields';

type Choice = 'auto' | 'on' | 'off';

/** Names that are said; the others are counted. */
const namesShown = 3;

function Along({ name }: { readonly name: string }) {
  const known = coverage.value;
  const isOld = resultIsOld.value;
  useEffect(() => {
    if (!isOld) void askWhatGoesAlong(name);
  }, [name, known, isOld, result.value?.pending]);
  const names = takenAlong(name);
  if (!names || names.length === 0) return null;
  const more = names.length > namesShown ? ', …' : '';
  return (
    <p class="soft along" title={names.join(', ')}>
      takes {counted(names.length, 'other operator')} into float: {names.slice(0, namesShown).map(shortName).join(', ')}
      {more}
    </p>
  );
}

/** `isFloat`: what the platform makes of it. */
export function KeepFloat(props: { readonly name: string; readonly isFloat: boolean; readonly hideLabel?: boolean }) {
  const { name } = props;
  const set = keepFloat.value[name];
  const choose = (choice: Choice) => setKeepFloat(name, choice === 'auto' ? null : choice === 'on');
  return (
    <div class="keep-float">
      <Select<Choice>
        label={props.hideLabel ? `Keep ${name} in float` : 'Keep in float'}
        hideLabel={props.hideLabel === true}
        value={set === undefined ? 'auto' : set ? 'on' : 'off'}
        choices={[
          {
            value: 'auto',
            text: set === undefined ? `as chosen: ${props.isFloat ? 'float' : 'integers'}` : 'as chosen',
          },
          { value: 'on', text: 'float' },
          { value: 'off', text: 'integers' },
        ]}
        onChoose={choose}
      />
      {!props.isFloat && set === undefined && <Along name={name} />}
    </div>
  );
}
