// SPDX-License-Identifier: Apache-2.0

import { Fragment } from 'preact';

import { commandLine, fileNames, javaScript } from '../job/command';
import { quantizeAgain } from '../job/quantize';
import {
  active,
  isOfTflite,
  parked,
  platformName,
  result,
  resultIsOld,
  saved,
  tfliteFormat,
  type Result,
} from '../job/state';
import { wordOf } from '../job/verdict';
import { size } from '../numbers';
import { say } from '../job/say';
import { copy, download } from './copy';
import { Select } from './fields';
import { LinkButton } from './LinkButton';
import { Time } from './Time';

const formats = [
  { value: 'onnx', text: 'ONNX Runtime (.onnx)' },
  { value: 'tflite', text: 'TensorFlow Lite (.tflite)' },
] as const;

function asText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function saveModel(shown: Result): void {
  const name = fileNames(shown.modelName, shown.format).model;
  const bytes = shown.quantized.model;
  download(bytes as Uint8Array<ArrayBuffer>, name, 'application/octet-stream');
  saved.value = shown.quantized;
  say(`${name} saved, ${size(bytes.length)}.`);
}

function saveText(value: object, name: string): void {
  const text = asText(value);
  download(text, name, 'application/json');
  say(`${name} saved, ${size(new Blob([text]).size)}.`);
}

export function DownloadModel(props: { readonly class: string }) {
  const shown = result.value;
  if (!shown) return null;
  const isFit = !resultIsOld.value && wordOf(shown)?.isFit !== false;
  return (
    <button type="button" class={`button ${isFit ? 'filled' : ''} ${props.class}`} onClick={() => saveModel(shown)}>
      <span>Download model</span>
      <span class="button-fact" aria-hidden="true">
        int8 {shown.format === 'tflite' ? 'TFLite' : 'ONNX'} · {size(shown.quantized.report.output.size_bytes)}
      </span>
    </button>
  );
}

/** What the file is, where the platform leaves a choice. */
function Format() {
  if (!isOfTflite(platformName.value)) return null;
  const board = result.value?.quantized.report.board;
  return (
    <>
      <Select
        label="File for"
        value={tfliteFormat.value}
        choices={formats}
        onChoose={(format) => {
          tfliteFormat.value = format;
          quantizeAgain();
        }}
      />
      {board && board.arena_bytes !== null && board.activation_bytes !== null && (
        <p class="soft" data-testid="board">
          On a board: {size(board.flash_bytes)} of flash; {size(board.activation_bytes)} for activations, an arena of{' '}
          {size(board.arena_bytes)} holds all.
        </p>
      )}
    </>
  );
}

export function Downloads() {
  const shown = result.value;
  if (!shown) return null;
  const names = fileNames(shown.modelName, shown.format);
  const { recipe, report } = shown.quantized;
  const command = commandLine(shown);
  const sha256 = report.output.sha256;
  return (
    <div class="block downloads">
      <div class="block-head">
        <h3>{parked.value ? `Downloads of ${active.value}` : 'Downloads'}</h3>
        {resultIsOld.value && <span class="chip">old</span>}
      </div>
      <Time />
      <Format />
      <DownloadModel class="download in-page" />
      <button type="button" class="button download" onClick={() => saveText(recipe, names.recipe)}>
        <span>Download recipe</span>
        <span class="button-fact" aria-hidden="true">
          JSON · {size(new Blob([asText(recipe)]).size)}
        </span>
      </button>
      <button type="button" class="button download" onClick={() => saveText(report, names.report)}>
        <span>Download report</span>
        <span class="button-fact" aria-hidden="true">
          JSON
        </span>
      </button>
      <p class="command">
        <code>
          {command.split(' ').map((word, k) => (
            <Fragment key={k}>
              {k > 0 && ' '}
              <span>{word}</span>
            </Fragment>
          ))}
        </code>
      </p>
      <div class="actions">
        <LinkButton onClick={() => copy(command, 'Command line copied.')}>Copy as command line</LinkButton>
        <LinkButton onClick={() => copy(javaScript(shown), 'JavaScript copied.')}>Copy as JavaScript</LinkButton>
        <LinkButton onClick={() => copy(sha256, 'SHA-256 copied.')}>Copy sha256</LinkButton>
      </div>
      <p class="soft sha" title={sha256}>
        same bytes, sha256 {sha256.slice(0, 8)}…{sha256.slice(-8)}
      </p>
    </div>
  );
}
