// SPDX-License-Identifier: Apache-2.0

import type { Coverage, ModelInfo, Support, TensorInfo } from 'tersor';

import { dismiss } from '../job/load';
import { overridesIn } from '../job/overrides';
import { platformTitle } from '../job/platform';
import {
  coverageProblem,
  engine,
  expectedBytes,
  foreignRecipe,
  model,
  modelProblem,
  mostBytes,
  reading,
  result,
  resultIsOld,
  shownCoverage,
} from '../job/state';
import { count, counted, large, none, percent, shape, shortName, shortShape, size, sizeWords } from '../numbers';
import { BlockHead } from './BlockHead';
import { chooseFiles } from './files';
import { useFold } from './fold';
import { LinkButton } from './LinkButton';
import { Note, ProblemCard } from './Note';
import { ModelGraph } from './ModelGraph';
import { Figure, Region, type Cell } from './Region';
import { TableHead } from './TableHead';

/** What becomes of an operator; without a platform, all that is known is what the engine cannot run. */
type Fate = Support | 'unsupported';

const supportWords: Readonly<Record<Fate, string>> = {
  integer: 'integer kernel',
  fused: 'fused into the layer before',
  moves: 'moves bytes, keeps int8',
  float: 'stays float',
  folded: 'computed beforehand',
  unsupported: 'cannot run',
};

function SupportMark(props: { readonly support: Fate }) {
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
function shapes(info: ModelInfo, text: typeof shape): string {
  const one = (list: readonly TensorInfo[]) => {
    const more = list.length > 1 ? ` +${list.length - 1}` : '';
    return list[0] ? text(list[0].shape) + more : none;
  };
  return `${one(info.inputs)} → ${one(info.outputs)}`;
}

/** Core nodes of float arithmetic whose weights are integers in the file. */
function storedWeights({ stays_float }: Coverage): number {
  return stays_float.filter(({ reason }) => reason.includes('weight is stored in integers')).length;
}

/** What of the model becomes integers, as a figure of the line: the operators that do the work, or nothing that does not. */
function CoverageFigure({ known }: { readonly known: Coverage }) {
  const { stays_float, core_nodes: core, integer_core_nodes: integer } = known;
  if (stays_float.length === 0) return <Figure value="nothing" what="stays float" />;
  const stored = storedWeights(known);
  if (integer === 0 && stored > 0)
    return <Figure value={`${count(stored)} of ${count(core)}`} what="integer weights" />;
  if (core > integer) return <Figure value={`${count(core - integer)} of ${count(core)}`} what="core nodes float" />;
  if (core > 0) return <Figure value="no" what="core node stays float" />;
  const nodes = stays_float.length;
  return <Figure value={counted(nodes, 'node')} what={nodes === 1 ? 'stays float' : 'stay float'} />;
}

function intSize(info: ModelInfo): string {
  // the file before, of other settings, is not what these come to
  const made = resultIsOld.value ? undefined : result.value?.quantized.report.output.size_bytes;
  const after = made ?? expectedBytes.value;
  if (after === null) return size(info.size_bytes);
  if (made !== undefined) return `${size(info.size_bytes)} → ${size(made)}`;
  const most = mostBytes.value;
  return `${size(info.size_bytes)} → about ${size(after)}${most === null ? '' : ` to ${size(most)}`}`;
}

/** What kind of thing is in the way; the card below says which. */
function unfitWord(code: string | undefined): string {
  if (code === 'invalid_config' || code === 'invalid_platform') return 'settings do not fit';
  if (code === 'invalid_model') return 'faulty model';
  if (code === 'unsupported_model') return 'cannot be quantized';
  if (code === 'out_of_memory') return 'too large for this tab';
  return 'does not fit the platform';
}

function lineCells(name: string, info: ModelInfo, known: Coverage | null): Cell[] {
  const last: Cell = coverageProblem.value
    ? { key: 'coverage', kind: 'stop', content: `✕ ${unfitWord(coverageProblem.value.code)}` }
    : { key: 'coverage', content: known === null ? <span class="soft">–</span> : <CoverageFigure known={known} /> };
  return [
    { key: 'name', kind: 'name', content: name },
    { key: 'shapes', content: shapes(info, shortShape), title: shapes(info, shape) },
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
  const largest = mostBytes.value;
  const most = largest === null ? '' : `, ${size(largest)} where samples ask for float`;
  const smaller = bytes ? `about ${size(bytes)}, ${sizeWords(info.size_bytes / bytes)}${most}` : none;
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
        <LinkButton onClick={chooseFiles}>Replace</LinkButton>
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
      <BlockHead title="Inputs and outputs" />
      <table class="figures">
        <TableHead of={['Name', 'Type', ['Shape', 'right']]} />
        <tbody>
          {props.info.inputs.map((tensor) => row(tensor, 'in'))}
          {props.info.outputs.map((tensor) => row(tensor, 'out'))}
        </tbody>
      </table>
    </div>
  );
}

type OperatorRow = Omit<Coverage['rows'][number], 'support' | 'reason'> & { readonly support: Fate | null };

/** By type and fate: why they stay float is said below. */
function byFate(rows: readonly OperatorRow[]): OperatorRow[] {
  const found = new Map<string, OperatorRow>();
  for (const row of rows) {
    const key = `${row.domain}.${row.op}.${row.support}`;
    const before = found.get(key);
    const work =
      before?.mac_share == null && row.mac_share === null ? null : (before?.mac_share ?? 0) + (row.mac_share ?? 0);
    found.set(key, { ...row, nodes: row.nodes + (before?.nodes ?? 0), mac_share: work });
  }
  return [...found.values()].sort((a, b) => b.nodes - a.nodes);
}

/** Rows of the table of operators before "Show all". */
const operatorsShown = 14;

function Operators(props: { readonly info: ModelInfo; readonly known: Coverage | null }) {
  const { info, known } = props;
  const rows = byFate(
    known?.rows ??
      info.operators.map((operator) => ({
        ...operator,
        support: operator.runs ? null : ('unsupported' as const),
        mac_share: null,
      })),
  );
  const withWork = rows.some((row) => row.mac_share !== null);
  const [shown, more] = useFold(rows, operatorsShown, 'rows');
  return (
    <div class="block">
      <BlockHead title="Operators" note={`on ${platformTitle()}`} />
      <table class="figures operators">
        <TableHead of={['Operator', ['Nodes', 'right'], withWork && ['Work', 'right'], 'In int8']} />
        <tbody>
          {shown.map((row) => (
            <tr key={`${row.domain}.${row.op}.${row.support}`}>
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
      {more}
    </div>
  );
}

interface Reason {
  readonly text: string;
  readonly nodes: number;
  /** Operator types with their number of nodes. */
  readonly types: string;
  readonly names: readonly string[];
}

/** "Conv 12, Relu 3": most nodes first. */
function typesText(types: ReadonlyMap<string, number>): string {
  const all = [...types].sort((a, b) => b[1] - a[1]);
  const [only] = all;
  if (all.length === 1 && only) return only[0];
  const listed = all.slice(0, typesShown).map(([op, nodes]) => `${op} ${count(nodes)}`);
  return listed.join(', ') + (all.length > typesShown ? ` and ${counted(all.length - typesShown, 'other type')}` : '');
}

/** By reason, that of most nodes first; each of `nodes` counts as many as it says. */
function byReason(
  nodes: readonly { readonly reason: string; readonly op: string; readonly nodes: number; readonly name?: string }[],
): Reason[] {
  const groups = new Map<string, { nodes: number; types: Map<string, number>; names: string[] }>();
  for (const node of nodes) {
    const group = groups.get(node.reason) ?? { nodes: 0, types: new Map<string, number>(), names: [] };
    groups.set(node.reason, group);
    group.nodes += node.nodes;
    group.types.set(node.op, (group.types.get(node.op) ?? 0) + node.nodes);
    if (node.name && group.names.length <= namesShown) group.names.push(node.name);
  }
  return [...groups]
    .map(([text, group]) => ({ text, nodes: group.nodes, types: typesText(group.types), names: group.names }))
    .sort((a, b) => b.nodes - a.nodes);
}

/** Nodes in the bodies of If, Loop and Scan: no switch moves them, so that they are counted apart. */
function innerNodes(known: Coverage): number {
  const inFloat = known.rows.filter(({ support }) => support === 'float').reduce((sum, { nodes }) => sum + nodes, 0);
  return Math.max(0, inFloat - known.stays_float.length);
}

/** Operator types that are named for one reason. */
const typesShown = 6;
const namesShown = 4;
/** Reasons that stand open; the others are folded. */
const reasonsShown = 3;

function ReasonList(props: { readonly reasons: readonly Reason[] }) {
  return (
    <ul class="causes">
      {props.reasons.map(({ text, nodes, types, names }) => (
        <li key={text}>
          <b>
            {counted(nodes, 'node')}: {types}.
          </b>{' '}
          {text}
          {names.length > 0 && (
            <span class="soft">
              {' '}
              {names.slice(0, namesShown).map(shortName).join(', ')}
              {names.length > namesShown && ' …'}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

function ReasonNote(props: {
  readonly kind: 'note' | 'caution';
  readonly title: string;
  /** How much that is, as sentences. */
  readonly more?: string;
  readonly reasons: readonly Reason[];
}) {
  const { reasons } = props;
  return (
    <Note kind={props.kind}>
      <p>
        <b>{props.title}.</b> {props.more}
      </p>
      <ReasonList reasons={reasons.slice(0, reasonsShown)} />
      {reasons.length > reasonsShown && (
        <details>
          <summary>{counted(reasons.length - reasonsShown, 'more reason')}</summary>
          <ReasonList reasons={reasons.slice(reasonsShown)} />
        </details>
      )}
    </Note>
  );
}

/** Why nodes stay float, by reason, and how much of the work that is. */
function Reasons(props: { readonly known: Coverage }) {
  const { known } = props;
  const inFloat = known.stays_float;
  const inner = innerNodes(known);
  const isKnown = known.rows.some((row) => row.mac_share !== null);
  const share = known.rows
    .filter(({ support }) => support === 'float')
    .reduce((sum, row) => sum + (row.mac_share ?? 0), 0);
  const work = isKnown
    ? `${inFloat.length + inner === 1 ? 'It does' : 'They do'} ${percent(share, 1)} of the model’s multiply-adds.`
    : '';
  return (
    <>
      {inFloat.length > 0 && (
        <ReasonNote
          kind="note"
          title={
            counted(inFloat.length, 'node stays float', 'nodes stay float') +
            (inner > 0 ? `, and ${count(inner)} in the bodies of If, Loop or Scan` : '')
          }
          more={`${work} ${coreWords(known)}`.trim()}
          reasons={byReason(inFloat.map((node) => ({ ...node, nodes: 1 })))}
        />
      )}
    </>
  );
}

/** Warnings of reading the file: two stand open, the others are folded. */
function Warnings({ warnings }: { readonly warnings: ModelInfo['warnings'] }) {
  const open = 2;
  const list = (some: ModelInfo['warnings']) =>
    some.map((warning) => (
      <Note key={warning.place + warning.message} kind="note">
        <p>
          {warning.message} {warning.hint}
          {warning.place !== '' && <span class="soft"> {warning.place}</span>}
        </p>
      </Note>
    ));
  return (
    <>
      {list(warnings.slice(0, open))}
      {warnings.length > open && (
        <details class="more-notes">
          <summary>{counted(warnings.length - open, 'more remark')} about the file</summary>
          {list(warnings.slice(open))}
        </details>
      )}
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

/** Whether what stays float matters. */
function coreWords(known: Coverage): string {
  const { integer_core_nodes: integer, core_nodes: core } = known;
  const stored = storedWeights(known);
  if (core === 0) return 'It has no convolution and no matrix product.';
  if (core === 1) {
    const one = 'its one core node, the convolution or matrix product that does nearly all of the work,';
    if (integer === 1) return `I${one.slice(1)} runs as integer.`;
    return stored === 1
      ? `The weight of ${one} is integer; the arithmetic is float.`
      : `I${one.slice(1)} is among them.`;
  }
  const which = 'core nodes, the convolutions and matrix products that do nearly all of the work,';
  const some = (n: number) => (n === core ? `all ${count(core)}` : `${count(n)} of its ${count(core)}`);
  if (integer === 0 && stored > 0)
    return `The weights of ${some(stored)} ${which} are integers; the arithmetic is float.`;
  const all = some(integer);
  const more =
    stored > 0 ? `; ${count(stored)} more ${stored === 1 ? 'stores its' : 'store their'} weights in 8 bits` : '';
  return `${all.charAt(0).toUpperCase()}${all.slice(1)} ${which} run as integers${more}.`;
}

/** What only samples decide. */
function mayStay({
  may_stay_float: may,
  estimated_size_bytes: least,
  estimated_largest_bytes: largest,
}: Coverage): string {
  if (may === 0)
    return largest <= 1.05 * least
      ? ''
      : `Samples held aside may show that 8 bits cost too much of weights of recurrent layers, tables or other constants; the file then keeps them in float and has up to ${size(largest)}.`;
  const which = may === 1 ? 'one of them needs' : `up to ${count(may)} of them need`;
  return `Samples may show that ${which} float, since a logarithm, root or reciprocal that follows magnifies small errors; the file then keeps their weights in float, too, and has up to ${size(largest)}.`;
}

export function ModelRegion() {
  const open = model.value;
  const problem = modelProblem.value;
  const known = shownCoverage.value;
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
          : 'A float .onnx or .tflite file. Its operators and int8 size are shown before any work.';
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
      <Warnings warnings={info.warnings} />
      {known && (
        <p class="soft">
          {known.stays_float.length === 0 && coreWords(known)} {mayStay(known)}
        </p>
      )}
    </Region>
  );
}
