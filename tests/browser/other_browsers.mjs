// SPDX-License-Identifier: Apache-2.0
//
// Firefox and WebKitGTK, where they are installed, as far as the tests need them: go to an address, run a script there, and use mouse
// and keys as WebDriver's actions say. Firefox is spoken to by Marionette, WebKitGTK by WebDriver: what each brings along, so that nothing has to be downloaded.

import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const firstOf = (...paths) => paths.find((path) => path && existsSync(path)) ?? null;

const firefoxPath = firstOf(process.env.TERSOR_FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox');
const webkitDriver = firstOf(process.env.TERSOR_WEBKIT_DRIVER, '/usr/bin/WebKitWebDriver');
const miniBrowser = firstOf(
  process.env.TERSOR_MINIBROWSER,
  ...(existsSync('/usr/lib') ? readdirSync('/usr/lib') : [])
    .filter((name) => name.endsWith('-linux-gnu'))
    .flatMap((name) => ['4.1', '4.0'].map((version) => `/usr/lib/${name}/webkit2gtk-${version}/MiniBrowser`)),
);
const display = firstOf('/usr/bin/Xvfb');

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What `ask` gives, once it gives something. */
async function until(ask, what, seconds = 120) {
  for (const end = Date.now() + 1000 * seconds; Date.now() < end; await pause(50)) {
    const found = await ask().catch(() => null);
    if (found !== null && found !== undefined) return found;
  }
  throw new Error(`${what} did not come within ${seconds} s`);
}

/** A script as a function of its own, whose promise is waited for; what it throws comes back as text. */
const awaited = (script) =>
  `const end = arguments[arguments.length - 1];
  (async () => { ${script} })().then((value) => end({ value }), (error) => end({ error: String(error) }));`;

function valueOf(answer) {
  if (answer?.error) throw new Error(answer.error);
  return answer?.value;
}

/** A process, ended by `end()`. */
function start(command, args, env = {}) {
  const child = spawn(command, args, { stdio: 'ignore', env: { ...process.env, ...env } });
  const over = new Promise((resolve) => child.once('exit', resolve));
  return {
    async end() {
      child.kill();
      await Promise.race([over, pause(5000)]);
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await over;
    },
  };
}

/** Answers to commands, in messages that begin with their length. */
async function marionette(port) {
  const socket = connect(port, '127.0.0.1');
  const waiting = new Map();
  let last = 0;
  let rest = Buffer.alloc(0);
  socket.on('data', (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (;;) {
      const colon = rest.indexOf(':');
      const length = Number(rest.subarray(0, colon));
      if (colon < 0 || rest.length < colon + 1 + length) return;
      const message = JSON.parse(rest.subarray(colon + 1, colon + 1 + length));
      rest = rest.subarray(colon + 1 + length);
      if (!Array.isArray(message)) continue; // its greeting
      const [, id, error, result] = message;
      const { resolve, reject } = waiting.get(id);
      waiting.delete(id);
      if (error) reject(new Error(`${error.error}: ${error.message}`));
      else resolve(result);
    }
  });
  const call = (name, parameters = {}) =>
    new Promise((resolve, reject) => {
      const text = JSON.stringify([0, ++last, name, parameters]);
      waiting.set(last, { resolve, reject });
      socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
  return { call, close: () => socket.destroy() };
}

async function openFirefox() {
  const profile = await mkdtemp(join(tmpdir(), 'tersor-firefox-'));
  const settings = { 'marionette.port': 0 };
  const lines = Object.entries(settings).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});`);
  await writeFile(join(profile, 'user.js'), lines.join('\n'));
  const args = ['--headless', '--no-remote', '--marionette', '--profile', profile];
  const browser = start(firefoxPath, args, { HOME: profile });
  const port = await until(
    async () => Number(await readFile(join(profile, 'MarionetteActivePort'), 'utf8')),
    'Firefox',
  );
  const session = await marionette(port);
  await session.call('WebDriver:NewSession');
  await session.call('WebDriver:SetTimeouts', { script: 300_000 });
  return {
    go: (url) => session.call('WebDriver:Navigate', { url }),
    async run(script) {
      const asked = { script: awaited(script), args: [], sandbox: null };
      return valueOf((await session.call('WebDriver:ExecuteAsyncScript', asked)).value);
    },
    act: (actions) => session.call('WebDriver:PerformActions', { actions }),
    async close() {
      session.close();
      await browser.end();
      await rm(profile, { recursive: true, force: true });
    },
  };
}

/** A port that is free now. */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function openWebKit() {
  const folder = await mkdtemp(join(tmpdir(), 'tersor-webkit-'));
  let number = 99;
  while (existsSync(`/tmp/.X${number}-lock`)) ++number;
  const screen = process.env.DISPLAY
    ? null
    : start(display, [`:${number}`, '-screen', '0', '1440x900x24', '-nolisten', 'tcp']);
  if (screen) await until(async () => existsSync(`/tmp/.X11-unix/X${number}`) || null, 'the display');
  const port = await freePort();
  const driver = start(webkitDriver, [`--port=${port}`], {
    HOME: folder,
    DISPLAY: process.env.DISPLAY ?? `:${number}`,
    // as root, and in containers, its processes cannot be shut off from each other
    WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
  });
  const call = async (method, path, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const { value } = await answer.json();
    if (value?.error) throw new Error(`${value.error}: ${value.message}`);
    return value;
  };
  await until(() => call('GET', '/status'), 'WebKitWebDriver');
  const options = { binary: miniBrowser, args: ['--automation'] };
  const wanted = { alwaysMatch: { 'webkitgtk:browserOptions': options } };
  const { sessionId } = await call('POST', '/session', { capabilities: wanted });
  const session = `/session/${sessionId}`;
  await call('POST', `${session}/timeouts`, { script: 300_000 });
  return {
    go: (url) => call('POST', `${session}/url`, { url }),
    run: async (script) =>
      valueOf(await call('POST', `${session}/execute/async`, { script: awaited(script), args: [] })),
    act: (actions) => call('POST', `${session}/actions`, { actions }),
    async close() {
      await call('DELETE', session).catch(() => undefined);
      await driver.end();
      await screen?.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Name, what is missing here (null: nothing), and how it is opened. */
export const otherBrowsers = [
  { name: 'Firefox', missing: firefoxPath ? null : 'firefox-esr', open: openFirefox },
  {
    name: 'WebKitGTK',
    missing:
      [
        webkitDriver ? null : 'webkit2gtk-driver',
        miniBrowser ? null : 'MiniBrowser',
        display || process.env.DISPLAY ? null : 'xvfb',
      ]
        .filter(Boolean)
        .join(', ') || null,
    open: openWebKit,
  },
];
