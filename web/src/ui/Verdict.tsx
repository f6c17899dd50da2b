// SPDX-License-Identifier: Apache-2.0
//
// Whether the model can be used, said before anybody takes it away: the figures that decided, what is likely to be wrong, and the
// layers that make most of the error, each with a switch that keeps it in float.

import { openLayer, result } from '../job/state';
import { percent } from '../numbers';
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
  const remarks = [...verdict.causes, ...verdict.cautions];
  const worst = verdict.worst_layers.slice(0, worstShown).flatMap((name) => {
    const layer = done.comparison.layers.find((row) => row.name === name);
    return layer ? [layer] : [];
  });
  return (
    <div class="verdict" role="group" aria-labelledby="verdict-title">
      <Note kind={kind}>
        <h3 id="verdict-title">{title}</h3>
        <p>{verdict.reason}</p>
        {remarks.length > 0 && (
          <ul class="causes">
            {remarks.map((remark) => (
              <li key={remark}>{remark}</li>
            ))}
          </ul>
        )}
      </Note>
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
