// SPDX-License-Identifier: Apache-2.0
//
// Whether the model can be used, said before anybody takes it away: the figures that decided, what is likely to be wrong, and the
// layers that make most of the error, each with a switch that keeps it in float.

import { openLayer, result } from '../job/state';
import { counted, percent } from '../numbers';
import { KeepFloat } from './KeepFloat';
import { revealPanel } from './layer';
import { Note } from './Note';

/** Layers shown with their switch. */
const worstShown = 3;

const words = {
  usable: { title: 'Usable', kind: 'fine' },
  'usable with care': { title: 'Usable with care', kind: 'caution' },
  'not usable': { title: 'Not usable', kind: 'stop' },
} as const;

/** What is said of CPUs concerns platforms that run on them. */
function concerns(caution: string, platform: string): boolean {
  return !caution.includes('VNNI') || /^(ort-cpu|any$)/.test(platform);
}

export function Verdict() {
  const done = result.value;
  const verdict = done?.quantized.report.verdict ?? null;
  if (!done) return null;
  if (!verdict) {
    return (
      <div class="verdict">
        <Note kind="note">
          <p>Whether the new file can be used is said when it has been measured.</p>
        </Note>
      </div>
    );
  }
  const { title, kind } = words[verdict.usability];
  const cautions = verdict.cautions.filter((one) => concerns(one, done.quantized.report.platform.name));
  return (
    <div class="verdict" role="group" aria-labelledby="verdict-title">
      <Note kind={kind}>
        <h3 id="verdict-title">{title}</h3>
        <p>{verdict.reason}</p>
        {verdict.causes.length > 0 && <Remarks list={verdict.causes} />}
        {cautions.length > 0 && (
          <details>
            <summary>{counted(cautions.length, 'caution')}</summary>
            <Remarks list={cautions} />
          </details>
        )}
      </Note>
    </div>
  );
}

function Remarks(props: { readonly list: readonly string[] }) {
  return (
    <ul class="causes">
      {props.list.map((remark) => (
        <li key={remark}>{remark}</li>
      ))}
    </ul>
  );
}

/** The layers that make most of the error, each with its switch. */
export function WorstLayers() {
  const done = result.value;
  const verdict = done?.quantized.report.verdict;
  if (!done || !verdict) return null;
  const worst = verdict.worst_layers.slice(0, worstShown).flatMap((name) => {
    const layer = done.comparison.layers.find((row) => row.name === name);
    return layer ? [layer] : [];
  });
  return (
    <div class="worst-layers">
      {worst.length > 0 && (
        <table class="figures worst">
          <caption class="visually-hidden">Layers that make most of the error</caption>
          <thead>
            <tr>
              <th scope="col">Most of the error comes from</th>
              <th scope="col" class="right">
                Share
              </th>
              <th scope="col">Keep in float</th>
            </tr>
          </thead>
          <tbody>
            {worst.map((layer) => (
              <tr key={layer.output}>
                <th scope="row">
                  <button
                    type="button"
                    class="link"
                    onClick={() => {
                      openLayer.value = layer.output;
                      requestAnimationFrame(revealPanel);
                    }}
                  >
                    {layer.name}
                  </button>
                  <span class="sub">{layer.op}</span>
                </th>
                <td class="right">{percent(layer.error_share, 1)}</td>
                <td>
                  <KeepFloat name={layer.name} isFloat={layer.range === null} hideLabel />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
