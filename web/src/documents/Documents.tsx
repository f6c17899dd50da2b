// SPDX-License-Identifier: Apache-2.0
//
// "The documents": the requirement documents' sentences, each with a button that runs it on the demo network in this tab.

import { signal, useSignal } from '@preact/signals';
import * as tersor from 'tersor';

import { demoParts } from '../engine/demo';
import { light } from '../engine/site';
import { unzip } from '../job/aside';
import { comparePaths } from '../job/intake';
import { problemOf } from '../job/problem';
import { engine, type Engine } from '../job/state';
import { claims } from './claims';
import { calibrated, trainedOn, withCelu, type Bench, type Claim } from './shown';

async function benchOf(core: Engine): Promise<Bench> {
  const { about, model, samples } = await demoParts();
  const files = (await unzip({ path: about.samples, data: samples }))
    .map(({ path, data }) => ({ path, data }))
    .sort((a, b) => comparePaths(a.path, b.path));
  const open = await core.open(model);
  let whole: Promise<Engine> | null = null;
  const answers = new Map<string, ReturnType<Bench['quantize']>>();
  const trainer = () => (whole ??= light ? tersor.Tersor.create({ workers: 0 }) : Promise.resolve(core));
  const opened = async (trains: boolean, celu: boolean) => {
    if (!trains && !celu) return open;
    const taken = trains ? await trainer() : core;
    return taken.open(celu ? withCelu(new Uint8Array(await model.arrayBuffer())) : model);
  };
  return {
    tersor,
    whole: trainer,
    quantize(options, { celu = false, key = JSON.stringify([options, celu]) } = {}) {
      const known = answers.get(key);
      if (known) return known;
      const trains = (options.config?.gradient_ptq_config ?? null) !== null;
      const given = {
        samples: files,
        preprocessing: about.preprocessing,
        selection: { part: 'calibration', count: trains ? trainedOn : calibrated },
        ...options,
      } as Parameters<typeof open.quantize>[0];
      const made = opened(trains, celu).then((network) => network.quantize(given));
      answers.set(key, made);
      made.catch(() => answers.delete(key));
      return made;
    },
  };
}

let bench: Promise<Bench> | null = null;

interface Shown {
  readonly text: string;
  readonly holds: boolean;
}

/** What was seen, by place in the table; kept while the page is open. */
const seen = claims.map(() => signal<Shown | 'running' | null>(null));

async function run(claim: Claim, k: number): Promise<void> {
  const place = seen[k];
  const core = engine.value;
  if (!place || !core || place.value === 'running') return;
  place.value = 'running';
  try {
    bench ??= benchOf(core);
    place.value = { text: await claim.show(await bench), holds: true };
  } catch (error) {
    if (!(await bench?.catch(() => null))) bench = null;
    place.value = { text: problemOf(error).message, holds: false };
  }
}

function Row({ claim, k }: { readonly claim: Claim; readonly k: number }) {
  const now = seen[k]?.value ?? null;
  return (
    <tr>
      <td>{claim.sentence}</td>
      <td>
        <button
          type="button"
          class="button"
          aria-label={`Run: ${claim.sentence}`}
          disabled={now === 'running' || engine.value === null}
          onClick={() => void run(claim, k)}
        >
          Run
        </button>
      </td>
      <td data-testid="seen">
        {now === 'running' ? 'Running …' : now && (now.holds ? now.text : <strong>{now.text}</strong>)}
      </td>
    </tr>
  );
}

export function Documents() {
  const all = useSignal(false);
  const runAll = async () => {
    all.value = true;
    for (const [k, claim] of claims.entries()) await run(claim, k);
    all.value = false;
  };
  const names = [...new Set(claims.map(({ document }) => document))];
  const shown = seen.map((one) => one.value);
  const holding = shown.filter((one) => one !== null && one !== 'running' && one.holds).length;
  return (
    <>
      <p>
        What the five requirement documents say, shown on the demo network with {calibrated} of its pictures: each
        button makes a file without and one with what its sentence is about, in this tab, and says how the two differ.
      </p>
      <div class="actions">
        <button
          type="button"
          class="button"
          disabled={all.value || engine.value === null}
          onClick={() => void runAll()}
        >
          Run all
        </button>
        <p role="status">
          {holding} of {claims.length} shown to hold
        </p>
      </div>
      {names.map((name) => (
        <table class="figures" key={name}>
          <caption>{name}</caption>
          <thead>
            <tr>
              <th scope="col">The document’s sentence</th>
              <th scope="col">Run</th>
              <th scope="col">What was seen</th>
            </tr>
          </thead>
          <tbody>{claims.map((claim, k) => claim.document === name && <Row key={k} claim={claim} k={k} />)}</tbody>
        </table>
      ))}
    </>
  );
}
