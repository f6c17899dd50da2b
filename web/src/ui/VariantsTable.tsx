// SPDX-License-Identifier: Apache-2.0
//
// The files that the model may be shipped as: a row for each, with what it costs, and its download. Loaded when it is opened.

import type { Comparison, Variant } from 'tersor';

import type { Inputs } from '../job/inputs';
import { say } from '../job/say';
import { runtime } from '../job/runtime';
import { canQuantize, running } from '../job/state';
import { cancelCheck, checking, verifyVariant, type Checked } from '../job/verify';
import { cancelVariants, checks, makeVariants, making, variants, variantsProblem } from '../job/variants';
import { count, counted, fixed, kilobytes, none, outputDecibels, size, times } from '../numbers';
import { download } from './copy';
import { LinkButton } from './LinkButton';
import { ProblemCard } from './Note';
import { outputs } from './Verification';
import { useMedia, useWidth } from './width';

/** Same answers, or how far outputs that are none point the same way. */
function answers({ agreement, outputs }: Comparison): string {
  if (agreement) return `${count(agreement.same)} of ${count(agreement.count)}`;
  const [first] = outputs;
  const cosine = first?.kind === 'embedding' ? first.median_cosine : first?.cosine_similarity;
  return cosine == null ? none : `cosine ${fixed(cosine, 4)}`;
}

/** Small files in kilobytes, so that they are told apart. */
function bytesText(bytes: number | null): string {
  return bytes !== null && bytes < 1e6 ? kilobytes(bytes) : size(bytes);
}

function save({ model, file }: Variant): void {
  if (!model) return;
  download(model as Uint8Array<ArrayBuffer>, file, 'application/octet-stream');
  say(`${file} saved, ${size(model.length)}.`);
}

/** Beyond what float sums in another order give, as a share of the largest value. */
const computedOtherwise = 1e-2;

/** What the runtime of this browser made of the file. */
function InRuntime({ found }: { readonly found: Checked }) {
  const { runtime: called, samples, of, times: both, apart } = found;
  const fast = both?.float != null ? `; ${times(both.float / both.int8)} float’s speed` : '';
  return (
    <p class="soft">
      In {called}: {outputs(found)}
      {fast}
      {samples < of ? ` (${count(samples)} of ${count(of)} samples).` : `, on ${counted(samples, 'sample')}.`}
      {apart > computedOtherwise &&
        ' It computes this file otherwise than the file says: look at its answers before you ship it there.'}
    </p>
  );
}

function Verify({ row, inputs }: { readonly row: Variant; readonly inputs: Inputs | null }) {
  const now = checking.value;
  if (!runtime || !row.model || row.dtype === 'fp32') return null;
  if (now?.row === row)
    return (
      <>
        <span class="soft" role="status">
          {now.words} …
        </span>{' '}
        <LinkButton onClick={cancelCheck}>Cancel</LinkButton>
      </>
    );
  return (
    <LinkButton disabled={now !== null || running.value} onClick={() => inputs && void verifyVariant(inputs, row)}>
      Verify<span class="visually-hidden"> {row.file} in this browser</span>
    </LinkButton>
  );
}

function Verdict({ row }: { readonly row: Variant }) {
  const found = checks.value.get(row);
  const { dtype, verdict, notes } = row;
  return (
    <>
      <span title={verdict?.reason}>{verdict?.usability ?? (dtype === 'fp32' ? 'the float model' : none)}</span>
      {found && ('samples' in found ? <InRuntime found={found} /> : <p class="soft">{found.message}</p>)}
      {notes.length > 0 && (
        <details>
          <summary>{count(notes.length)} nodes keep float32</summary>
          {notes.map((note) => (
            <p key={note} class="soft">
              {note}
            </p>
          ))}
        </details>
      )}
    </>
  );
}

/** On a phone figures stand below each other. */
function Figures({ row, isNarrow }: { readonly row: Variant; readonly isNarrow: boolean }) {
  const { size_bytes, comparison, time } = row;
  const bytes = bytesText(size_bytes);
  const error = comparison ? outputDecibels(comparison) : none;
  const same = comparison ? answers(comparison) : none;
  const speed = time ? times(time.times_as_fast) : none;
  if (isNarrow) {
    return (
      <td>
        {[bytes, error, same, speed]
          .filter((text) => text !== none)
          .map((text) => (
            <div key={text}>{text}</div>
          ))}
      </td>
    );
  }
  return (
    <>
      {[bytes, error, same, speed].map((text, k) => (
        <td key={k}>{text}</td>
      ))}
    </>
  );
}

interface RowProps {
  readonly row: Variant;
  readonly isBest: boolean;
  readonly isNarrow: boolean;
  readonly inputs: Inputs | null;
}

function Row({ row, isBest, isNarrow, inputs }: RowProps) {
  const { dtype, file, refused } = row;
  return (
    <tr>
      <th scope="row">
        {dtype}
        <span class="sub">{file}</span>
        {isBest && <span class="chip">the one to take</span>}
      </th>
      {refused ? (
        <td colSpan={isNarrow ? 2 : 5}>
          Not made: {refused.message} {refused.hint}
        </td>
      ) : (
        <>
          <Figures row={row} isNarrow={isNarrow} />
          <td>
            <Verdict row={row} />
          </td>
        </>
      )}
      <td>
        {!refused && (
          <>
            <LinkButton onClick={() => save(row)}>
              Save<span class="visually-hidden"> {file}</span>
            </LinkButton>{' '}
            <Verify row={row} inputs={inputs} />
          </>
        )}
      </td>
    </tr>
  );
}

const left = 56;
const top = 16;
const base = 150;

/** Bytes over error, a dot for each file whose error is known. */
function Plot({ rows }: { readonly rows: readonly Variant[] }) {
  const [box, width] = useWidth<HTMLDivElement>(480);
  const shown = rows
    .flatMap(({ dtype, size_bytes, comparison }) =>
      size_bytes !== null && comparison?.output_sqnr_db != null
        ? [{ dtype, bytes: size_bytes, error: comparison.output_sqnr_db }]
        : [],
    )
    .sort((a, b) => a.bytes - b.bytes);
  const errors = shown.map(({ error }) => error);
  const sizes = shown.map(({ bytes }) => bytes);
  const [worst, best] = [Math.min(...errors), Math.max(...errors)];
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  if (shown.length < 2 || !(best > worst)) return <div ref={box} />;
  const x = (bytes: number) => left + ((width - left - 90) * (bytes - least)) / Math.max(most - least, 1);
  const y = (error: number) => base - ((base - top) * (error - worst)) / (best - worst);
  // one word for files that lie together
  const dots: { words: string; left: number; top: number }[] = [];
  for (const { dtype, bytes, error } of shown) {
    const near = dots.find((dot) => Math.abs(dot.left - x(bytes)) < 12 && Math.abs(dot.top - y(error)) < 12);
    if (near) near.words += `, ${dtype}`;
    else dots.push({ words: dtype, left: x(bytes), top: y(error) });
  }
  return (
    <div ref={box} class="tradeoff-plot">
      <svg
        width={width}
        height={base + 28}
        role="img"
        aria-label={`Output SQNR over bytes: ${shown.map((one) => `${one.dtype} ${fixed(one.error, 1)} dB at ${bytesText(one.bytes)}`).join(', ')}`}
      >
        <path class="axis" d={`M${left} ${top}V${base + 6}H${width - 20}`} />
        {[best, worst].map((error) => (
          <text key={error} x={left - 8} y={y(error) + 4} text-anchor="end">
            {fixed(error, 1)}
          </text>
        ))}
        <text x={left} y={base + 24}>
          {bytesText(least)}
        </text>
        <text x={x(most)} y={base + 24} text-anchor="middle">
          {bytesText(most)}
        </text>
        {shown.map(({ dtype, bytes, error }) => (
          <circle key={dtype} class="training-point" cx={x(bytes)} cy={y(error)} r="4" />
        ))}
        {dots.map((dot) => (
          <text key={dot.words} x={dot.left + 8} y={dot.top - 4}>
            {dot.words}
          </text>
        ))}
      </svg>
      <p class="soft">Output SQNR in dB over the bytes of the file.</p>
    </div>
  );
}

export function VariantsTable({ inputs, limit }: { readonly inputs: Inputs | null; readonly limit: number }) {
  const shown = variants.value && variants.value.dataKey === inputs?.dataKey ? variants.value.rows : [];
  const isNarrow = useMedia('(max-width: 40em)');
  const problem = variantsProblem.value;
  const judged = shown.find(({ comparison }) => comparison);
  const best = making.value === null ? shown.filter(({ leads }) => leads).at(-1) : undefined;
  return (
    <>
      {problem && <ProblemCard problem={problem} onDismiss={() => (variantsProblem.value = null)} />}
      <Plot rows={shown} />
      {shown.length > 0 && (
        <table class="figures">
          <caption>
            {judged?.comparison
              ? `Judged on ${count(judged.comparison.samples)} samples${judged.held_aside ? '' : ', those they were made with'}; speeds are forecasts. `
              : ''}
            {best && `${best.dtype} is the one to take: usable, then fast, then small. `}
            The names are those that transformers.js looks for.
          </caption>
          <thead>
            <tr>
              {['File', ...(isNarrow ? ['Cost'] : ['Size', 'SQNR', 'Same answers', 'Speed']), 'Verdict'].map(
                (title) => (
                  <th key={title} scope="col">
                    {title}
                  </th>
                ),
              )}
              <th scope="col">
                <span class="visually-hidden">Download</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <Row key={row.dtype} row={row} isBest={row === best} isNarrow={isNarrow} inputs={inputs} />
            ))}
          </tbody>
        </table>
      )}
      <div class="actions">
        {making.value !== null ? (
          <>
            <span class="soft" role="status">
              {making.value} …
            </span>
            <LinkButton onClick={cancelVariants}>Cancel</LinkButton>
          </>
        ) : (
          <LinkButton disabled={!canQuantize.value} onClick={() => inputs && void makeVariants(inputs, limit)}>
            {shown.length > 0 ? 'Make them again' : 'Make all variants'}
          </LinkButton>
        )}
      </div>
    </>
  );
}
