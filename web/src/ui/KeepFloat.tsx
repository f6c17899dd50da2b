// SPDX-License-Identifier: Apache-2.0
//
// One operator in float or in integers, whatever the platform says; the model is made anew at once.

import { setKeepFloat } from '../job/settings';
import { keepFloat } from '../job/state';
import { Select } from './fields';

type Choice = 'auto' | 'on' | 'off';

/** `isFloat`: what the platform makes of it. */
export function KeepFloat(props: { readonly name: string; readonly isFloat: boolean; readonly hideLabel?: boolean }) {
  const { name } = props;
  const set = keepFloat.value[name];
  const choose = (choice: Choice) => setKeepFloat(name, choice === 'auto' ? null : choice === 'on');
  return (
    <Select<Choice>
      label={props.hideLabel ? `Keep ${name} in float` : 'Keep in float'}
      hideLabel={props.hideLabel === true}
      value={set === undefined ? 'auto' : set ? 'on' : 'off'}
      choices={[
        { value: 'auto', text: set === undefined ? `auto: ${props.isFloat ? 'float' : 'integers'}` : 'auto' },
        { value: 'on', text: 'on: float' },
        { value: 'off', text: 'off: integers' },
      ]}
      onChoose={choose}
    />
  );
}
