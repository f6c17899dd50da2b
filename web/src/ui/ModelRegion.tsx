// SPDX-License-Identifier: Apache-2.0

import type { Coverage, ModelInfo, Support, TensorInfo } from 'tersor';

import { dismiss } from '../job/load';
import { overridesIn } from '../job/overrides';
import { platformTitle } from '../job/platform';
import {
  coverage,
  coverageProblem,
  engine,
  expectedBytes,
  foreignRecipe,
  model,
  modelProblem,
  reading,
  result,
} from '../job/state';
import { count, counted, large, none, percent, shape, size, sizeWords, thin } from '../numbers';
import { chooseFiles } from './files';
import { Note, ProblemCard } from './Note';
import { ModelGraph } from './ModelGraph';
import { Figure, Region, type Cell } from './Region';

const supportWords: Readonly<Record<Support, string>> = {
  integer: 'integer kernel',
  fused: 'fused into the layer before',
  moves: 'moves bytes, keeps int8',
  float: 'stays float',
  folded: 'computed beforehand',
  unsupported: 'cannot run',
};

function SupportMark(props: { readonly support: Support }) {
  return (
    <svg class={`mark mark-${props.support}`} width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
      {props.support === 'folded' && <path d="M0 5h10" />}
      {props.support === 'unsupported' && <path d="M1 1l8 8M9 1L1 9" />}
      {!['folded', 'unsupported'].includes(props.support) && <rect x="0.75" y="0.75" width="8.5" height="8.5" />}
      {props.support === 'integer' && <path class="mark-solid" d="M0 0h10v10H0z" />}
      {['fused', 'moves'].includes(props.support) && <path class="mark-solid" d="M0 0h10L0 10z" />}
    </svg>
  );
}

/** "1×3×32×32 → 1×10", the first of each. */
function shapes(info: ModelInfo): string {
  const one = (list: readonly TensorInfo[]) => {
    const more = list.length > 1 ? ` +${list.length - 1}` : '';
    return list[0] ? shape(list[0].shape) + more : none;
  };
  return `${one(info.inputs)} → ${one(info.outputs)}`;
}

function intSize(info: ModelInfo): string {
  const made = result.value?.quantized.report.output.size_bytes;
  const after = made ?? expectedBytes.value;
  if (after === null) return size(info.size_bytes);
  return `${size(info.size_bytes)} → ${made === undefined ? 'about ' : ''}${size(after)}`;
}

function lineCells(name: string, info: ModelInfo, known: Coverage | null): Cell[] {
  const unsupported =
    known?.rows.filter((row) => row.support === 'unsupported').reduce((sum, row) => sum + row.nodes, 0) ?? 0;
  const floating = known?.stays_float.length ?? 0;
  const last: Cell =
    unsupported > 0 || coverageProblem.value
      ? {
          key: 'coverage',
          kind: 'stop',
          content: `✕ ${unsupported > 0 ? `${counted(unsupported, 'node')} cannot run` : 'does not fit the platform'}`,
        }
      : {
          key: 'coverage',
          content:
            known === null ? (
              <span class="soft">–</span>
            ) : floating === 0 ? (
              <Figure value="nothing" what="stays float" />
            ) : (
              <Figure value={counted(floating, 'node')} what={floating === 1 ? 'stays float' : 'stay float'} />
            ),
        };
  return [
    { key: 'name', kind: 'name', content: name },
    { key: 'shapes', content: shapes(info) },
    { key: 'parameters', content: <Figure value={count(info.parameters)} what="parameters" /> },
    { key: 'size', content: intSize(info) },
    last,
  ];
}

/** A worker's memory grows to 4 GB; the model's file and the engine itself take part of it. */
const mostInTab = 3.5e9;

function memory(bytes: number): string {
  const workers = engine.value?.workers ?? 1;
  return workers === 1 ? `about ${size(bytes)}` : `about ${size(bytes)} in each of ${workers} workers`;
}

/** Said before any sample is run. */
function TooLarge(props: { readonly bytes: number }) {
  return (
    <Note kind="caution">
      <p>
        <b>This model is too large for a tab.</b> Calibration takes about {size(props.bytes)} and a tab gives a worker
        at most 4 GB. The program does the same on your machine with all its memory: <code>tersor quantize</code>, with
        the same recipe and the same bytes.
      </p>
    </Note>
  );
}

function FileFacts(props: { readonly name: string; readonly info: ModelInfo; readonly known: Coverage | null }) {
  const { name, info, known } = props;
  const written = [info.producer, `opset ${info.opset}`].filter(Boolean).join(', ');
  const domains = Object.entries(info.domains);
  const bytes = expectedBytes.value;
  const smaller = bytes ? `about ${size(bytes)}, ${sizeWords(info.size_bytes / bytes)}` : none;
  const rows: readonly (readonly [string, string])[] = [
    ['Name', name],
    ['Written by', written],
    ...domains.map(([domain, version]) => ['Other domain', `${domain} ${version}`] as const),
    ['Nodes', count(info.nodes)],
    ['Parameters', count(info.parameters)],
    ...(info.macs === null ? [] : [['Multiply-adds', `${large(info.macs)} a sample`] as const]),
    ...(known?.calibration_bytes ? [['Memory to calibrate', memory(known.calibration_bytes)] as const] : []),
    ['Float size', size(info.size_bytes)],
    ['Int8 size', smaller],
  ];
  return (
    <div class="block">
      <div class="block-head">
        <h3>File</h3>
        <button type="button" class="link" onClick={chooseFiles}>
          Replace
        </button>
      </div>
      <dl class="facts">
        {rows.map(([term, value]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

function Tensors(props: { readonly info: ModelInfo }) {
  const row = (tensor: TensorInfo, way: 'in' | 'out') => (
    <tr key={way + tensor.name}>
      <th scope="row">
        <b>{tensor.name}</b>
        <span class="sub">{way}</span>
      </th>
      <td>{tensor.type}</td>
      <td class="right">{shape(tensor.shape)}</td>
    </tr>
  );
  return (
    <div class="block">
      <div class="block-head">
        <h3>Inputs and outputs</h3>
      </div>
      <table class="figures">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Type</th>
            <th scope="col" class="right">
              Shape
            </th>
          </tr>
        </thead>
        <tbody>
          {props.info.inputs.map((tensor) => row(tensor, 'in'))}
          {props.info.outputs.map((tensor) => row(tensor, 'out'))}
        </tbody>
      </table>
    </div>
  );
}

function Operators(props: { readonly info: ModelInfo; readonly known: Coverage | null }) {
  const { info, known } = props;
  const rows =
    known?.rows ??
    info.operators.map((operator) => ({
      ...operator,
      support: operator.runs ? null : ('unsupported' as const),
      reason: '',
      mac_share: null,
    }));
  const withWork = rows.some((row) => row.mac_share !== null);
  return (
    <div class="block">
      <div class="block-head">
        <h3>Operators</h3>
        <span class="soft">on {platformTitle()}</span>
      </div>
      <table class="figures operators">
        <thead>
          <tr>
            <th scope="col">Operator</th>
            <th scope="col" class="right">
              Nodes
            </th>
            {withWork && (
              <th scope="col" class="right">
                Work
              </th>
            )}
            <th scope="col">In int8</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.domain}.${row.op}.${row.support}.${row.reason}`}>
              <th scope="row">{row.domain === '' ? row.op : `${row.domain}.${row.op}`}</th>
              <td class="right">{count(row.nodes)}</td>
              {withWork && <td class="right soft">{row.mac_share === null ? '' : percent(row.mac_share, 1)}</td>}
              <td>
                {row.support && (
                  <span class="support">
                    <SupportMark support={row.support} />
                    <span>{supportWords[row.support]}</span>
                  </span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Why nodes stay float or cannot run, one note per reason. */
function Reasons(props: { readonly known: Coverage }) {
  const rows = props.known.rows.filter((row) => row.reason !== '' && ['float', 'unsupported'].includes(row.support));
  return (
    <>
      {rows.map((row) => {
        const names = props.known.stays_float.filter((node) => node.op === row.op).map((node) => node.name);
        const shown = names.filter((name) => name !== '').slice(0, 4);
        const words = row.support === 'float' ? (row.nodes === 1 ? 'stays float' : 'stay float') : 'cannot run';
        return (
          <Note key={`${row.op}.${row.reason}`} kind={row.support === 'float' ? 'note' : 'caution'}>
            <p>
              <b>
                {count(row.nodes)} {row.op} {row.nodes === 1 ? 'node' : 'nodes'} {words}.
              </b>{' '}
              {row.reason}
              {shown.length > 0 && (
                <span class="soft"> {shown.join(', ') + (names.length > shown.length ? ' …' : '')}</span>
              )}
            </p>
          </Note>
        );
      })}
    </>
  );
}

/** The platform or the settings do not fit the model. */
function Unfit() {
  const problem = coverageProblem.value;
  if (!problem) return null;
  const listed = overridesIn(problem);
  const foreign = foreignRecipe.value;
  return (
    <ProblemCard problem={foreign ? { ...problem, hint: `${foreign} is a recipe of another model.` } : problem}>
      {listed.length > 0 && (
        <button type="button" class="button filled" onClick={() => listed.forEach(({ remove }) => remove())}>
          Leave out {counted(listed.length, 'setting')} of single operators
        </button>
      )}
    </ProblemCard>
  );
}

export function ModelRegion() {
  const open = model.value;
  const problem = modelProblem.value;
  const known = coverage.value;
  const cards = (
    <>
      {problem && (
        <ProblemCard problem={problem} onDismiss={() => dismiss('model')}>
          <button type="button" class="button filled" onClick={chooseFiles}>
            Choose another file
          </button>
        </ProblemCard>
      )}
      <Unfit />
    </>
  );
  if (!open) {
    const sentence =
      reading.value > 0
        ? 'Reading …'
        : problem
          ? '✕ no model yet'
          : 'A float .onnx file. Its operators and int8 size are shown before any work.';
    return <Region id="model" number={1} title="Model" sentence={sentence} always={problem ? cards : undefined} />;
  }
  const info = open.handle.info;
  return (
    <Region
      id="model"
      number={1}
      title="Model"
      cells={lineCells(open.name, info, known)}
      canOpen
      always={problem || coverageProblem.value ? cards : undefined}
    >
      <div class="columns model-columns">
        <FileFacts name={open.name} info={info} known={known} />
        <Tensors info={info} />
        <Operators info={info} known={known} />
      </div>
      <ModelGraph />
      {(known?.calibration_bytes ?? 0) > mostInTab && <TooLarge bytes={known?.calibration_bytes ?? 0} />}
      {known && <Reasons known={known} />}
      {info.warnings.map((warning) => (
        <Note key={warning.place + warning.message} kind="note">
          <p>
            {warning.message} {warning.hint}
            {warning.place !== '' && <span class="soft"> {warning.place}</span>}
          </p>
        </Note>
      ))}
      {known && (
        <p class="soft">
          {known.integer_core_nodes === known.core_nodes
            ? known.core_nodes === 1
              ? 'Its one core node runs as integer.'
              : `All ${count(known.core_nodes)} core nodes run as integers.`
            : `${count(known.integer_core_nodes)} of ${count(known.core_nodes)} core nodes run as integers.`}
          {thin}
        </p>
      )}
    </Region>
  );
}
