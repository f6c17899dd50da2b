// SPDX-License-Identifier: Apache-2.0

import { settingsInForce } from '../job/address';
import { count, counted, size } from '../numbers';
import { demoFacts, tryBrokenDemo, tryDemo } from '../engine/demo';
import { LinkButton } from './LinkButton';
import { Note } from './Note';
import { Plate } from './Plate';

/** Measured when the site was built. */
function toolSize(): string {
  const bytes = Number(document.querySelector<HTMLMetaElement>('meta[name="tersor-size"]')?.content);
  return Number.isFinite(bytes) && bytes > 0 ? size(bytes) : '';
}

export const builtSize = toolSize();

/** A shared address holds settings and no model. */
function FromAddress() {
  const held = settingsInForce();
  if (held === 0) return null;
  return (
    <Note kind="note">
      <p data-testid="from-address">
        This address holds {counted(held, 'setting')} and no data. They are in force: open the model and the samples
        that they are for.
      </p>
    </Note>
  );
}

export function Landing() {
  return (
    <div class="landing">
      <div class="landing-words">
        <h1>Quantize a neural network in your browser</h1>
        <p class="landing-lead">
          Drop a float ONNX model and a folder of your own samples. See what int8 costs, layer by layer, and leave with
          a file that ONNX Runtime runs in integers.
        </p>
        <FromAddress />
        <div class="landing-demo">
          <button type="button" class="button filled large" onClick={() => void tryDemo()}>
            Try the demo
          </button>
          <p class="soft">
            {size(demoFacts.modelBytes)} model, {count(demoFacts.samples)} labelled photographs,
            <br />
            {size(demoFacts.bytes)} to fetch
          </p>
        </div>
        <p class="landing-more soft">
          There are <LinkButton onClick={() => void tryBrokenDemo()}>a broken demo</LinkButton> too, for the page to
          repair, and <LinkButton onClick={() => void tryDemo('letters')}>a smaller demo</LinkButton>, which is already
          here.
        </p>
        <dl class="landing-facts">
          <div>
            <dt>of your data sent anywhere</dt>
            <dd>0 bytes</dd>
          </div>
          {builtSize !== '' && (
            <div>
              <dt>the whole tool, compressed</dt>
              <dd>{builtSize}</dd>
            </div>
          )}
          <div>
            <dt>as the command line, same recipe</dt>
            <dd>same bytes</dd>
          </div>
        </dl>
      </div>
      <Plate />
    </div>
  );
}
