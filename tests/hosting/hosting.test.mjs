// SPDX-License-Identifier: Apache-2.0
//
// The site as docs/hosting has hosts serve it: nginx and Apache under a sub-path (from build/servers or the system; without them their
// tests are skipped), a file of headers, and pages that embed it.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { serve } from '../../scripts/serve.mjs';
import { headerSecurityPolicy } from '../../web/csp.mjs';
import { expectQuiet, openPage, openSite, root, siteFolder, untilReady } from '../browser/site.mjs';

const text = (name) => readFileSync(path.join(root, 'docs/hosting', name), 'utf8');
const unpacked = path.join(root, 'build/servers');
const env = {
  ...process.env,
  LD_LIBRARY_PATH: readdirIf(path.join(unpacked, 'usr/lib'))
    .map((one) => path.join(unpacked, 'usr/lib', one))
    .join(':'),
};

function readdirIf(folder) {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** A server's program: of build/servers, else of the system; undefined where there is none that runs. */
function program(name) {
  return [path.join(unpacked, 'usr/sbin', name), path.join('/usr/sbin', name)].find(
    (file) => existsSync(file) && spawnSync(file, ['-v'], { env }).status === 0,
  );
}

const nginx = program('nginx');
const apache = program('apache2');
const modules = [path.join(unpacked, 'usr/lib/apache2/modules'), '/usr/lib/apache2/modules'].find(existsSync);

let site;
let folder;
const ends = [];

beforeAll(async () => {
  site = await openSite();
  // no link to the clone: a server's workers may not be allowed to look into it
  folder = mkdtempSync(path.join(tmpdir(), 'tersor-hosting-'));
  spawnSync('chmod', ['755', folder]);
  cpSync(siteFolder, path.join(folder, 'site'), { recursive: true });
});
afterAll(async () => {
  for (const end of ends) end();
  await site?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

/** Starts a server in the foreground and waits until it answers. */
async function start(command, args, port, log) {
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (data) => (said += data));
  ends.push(() => child.kill('SIGTERM'));
  for (let tries = 0; tries < 200; ++tries) {
    if (child.exitCode !== null) {
      if (log && existsSync(log)) said += readFileSync(log, 'utf8');
      throw new Error(`${command} ended: ${said}`);
    }
    const there = await fetch(`http://127.0.0.1:${port}/`).catch(() => null);
    if (there) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${command} does not answer: ${said}`);
}

/** A snippet of docs/hosting, with the site where this test has it. */
const snippet = (name) => text(name).replaceAll('/var/www/tersor', path.join(folder, 'site'));

async function startNginx(port) {
  const file = path.join(folder, 'nginx.conf');
  mkdirSync(path.join(folder, 'nginx'), { recursive: true });
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((one) => `${one}_temp_path ${folder}/nginx/${one};`)
    .join(' ');
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${folder}/nginx/pid; error_log stderr;
events {}
http { access_log off; ${temporary} server { listen 127.0.0.1:${port};
${snippet('nginx.conf')}
} }
`,
  );
  await start(nginx, ['-c', file, '-p', folder, '-e', 'stderr'], port);
}

async function startApache(port) {
  const file = path.join(folder, 'apache.conf');
  const load = ['mpm_event', 'authz_core', 'alias', 'dir', 'mime', 'headers', 'filter', 'deflate', 'unixd']
    .filter((one) => existsSync(path.join(modules, `mod_${one}.so`)))
    .map((one) => `LoadModule ${one}_module "${modules}/mod_${one}.so"`)
    .join('\n');
  writeFileSync(
    path.join(folder, 'mime.types'),
    'text/html html\ntext/css css\ntext/plain txt\napplication/json json\n',
  );
  writeFileSync(
    file,
    `ServerRoot "${folder}"
ServerName localhost
Listen 127.0.0.1:${port}
PidFile "${folder}/apache.pid"
Mutex posixsem
ErrorLog "${folder}/apache.log"
${load}
TypesConfig "${folder}/mime.types"
DocumentRoot "${folder}"
<Directory />
  Require all denied
</Directory>
${snippet('apache.conf')}
`,
  );
  await start(apache, ['-D', 'FOREGROUND', '-f', file], port, path.join(folder, 'apache.log'));
}

function filesOf(start_, inside = '') {
  return readdirSync(path.join(start_, inside), { withFileTypes: true }).flatMap((entry) => {
    const name = path.posix.join(inside, entry.name);
    return entry.isDirectory() ? filesOf(start_, name) : [name];
  });
}

const told = ['content-security-policy', 'x-content-type-options', 'referrer-policy', 'cache-control'];
const mediaType = (response) => response.headers.get('content-type')?.split(';')[0];

/** Every file has the headers that scripts/serve.mjs gives it, and the page runs from there. */
async function expectServed(base) {
  const model = await serve({ root: siteFolder, port: 0, prefix: '/tools/q/' });
  try {
    const files = ['', ...filesOf(siteFolder)];
    expect(files.length).toBeGreaterThan(8);
    for (const file of files) {
      const [here, there] = await Promise.all([fetch(`${base}${file}`), fetch(`${model.url}${file}`)]);
      expect(here.status, file).toBe(200);
      for (const name of told) expect(here.headers.get(name), `${file}: ${name}`).toBe(there.headers.get(name));
      if (/\.(html|js|mjs|css|wasm|woff2)$/.test(file)) expect(mediaType(here), file).toBe(mediaType(there));
      const [mine, theirs] = await Promise.all([here.arrayBuffer(), there.arrayBuffer()]);
      expect(Buffer.from(mine).equals(Buffer.from(theirs)), file).toBe(true);
    }
  } finally {
    await model.close();
  }
  expect((await fetch(`${base}nothing.js`)).headers.get('content-security-policy')).toBe(headerSecurityPolicy);
  expect((await fetch(base.slice(0, -1))).url).toBe(base);
  const opened = await openPage(site, { url: base });
  await expectQuiet(opened);
  await opened.context.close();
}

test.skipIf(!nginx)('nginx serves the site under a sub-path', async () => {
  const port = await freePort();
  await startNginx(port);
  await expectServed(`http://127.0.0.1:${port}/tools/q/`);
});

test.skipIf(!apache)('Apache serves the site under a sub-path', async () => {
  const port = await freePort();
  await startApache(port);
  await expectServed(`http://127.0.0.1:${port}/tools/q/`);
});

test('the file of headers says of every file what scripts/serve.mjs says', async () => {
  const rules = [];
  for (const line of text('_headers').split('\n')) {
    if (line.startsWith('/')) rules.push({ pattern: line, headers: new Map() });
    else if (line.startsWith('  ')) {
      const [, name, value] = /^ {2}([\w-]+): (.*)$/.exec(line);
      rules.at(-1).headers.set(name.toLowerCase(), value);
    }
  }
  const matches = (pattern, file) => (pattern.endsWith('*') ? file.startsWith(pattern.slice(0, -1)) : file === pattern);
  for (const file of ['', ...filesOf(siteFolder)]) {
    const found = rules.filter(({ pattern }) => matches(pattern, `/${file}`));
    const response = await fetch(`${site.url}${file}`);
    for (const name of told) {
      const values = found.filter(({ headers }) => headers.has(name)).map(({ headers }) => headers.get(name));
      expect(values, `${file}: ${name}`).toEqual([response.headers.get(name)]);
    }
  }
});

test('the snippets and docs/hosting.md hold the policy that the page is built with', () => {
  for (const name of ['nginx.conf', 'apache.conf', '_headers', '../hosting.md'])
    expect(text(name), name).toContain(headerSecurityPolicy);
});

/** docs/hosting's pages with the site and the package beside them, without a policy of their own. */
async function openEmbedding() {
  const embedding = path.join(folder, 'embedding');
  if (!existsSync(embedding)) {
    for (const name of ['frame.html', 'package.html'])
      cpSync(path.join(root, 'docs/hosting', name), path.join(embedding, name));
    cpSync(siteFolder, path.join(embedding, 'tersor'), { recursive: true });
    cpSync(path.join(root, 'wasm/dist'), path.join(embedding, 'package'), { recursive: true });
  }
  const server = await serve({ root: embedding, port: 0, policy: false });
  ends.push(() => server.close());
  return server;
}

test('a page shows the site in a frame', async () => {
  const server = await openEmbedding();
  const { context, page } = await openPage(site, { url: '' });
  await page.goto(`${server.url}frame.html`);
  await page.waitForFunction(() => document.querySelector('iframe').contentDocument?.readyState === 'complete');
  const frame = page.frames().find((one) => one.url().endsWith('/tersor/'));
  await untilReady(frame);
  await expect.poll(() => frame.getByRole('button', { name: /demo/i }).first().isVisible()).toBe(true);
  await context.close();
});

test('a page of another origin shows nothing while the header does not name it', async () => {
  const server = await openEmbedding();
  const { context, page } = await openPage(site, { url: '' });
  await page.goto(server.url + 'frame.html');
  const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'));
  await page.evaluate((url) => (document.querySelector('iframe').src = url), site.url);
  expect((await refused).text()).toContain("frame-ancestors 'self'");
  await context.close();
});

test('a page quantizes by the package', async () => {
  const server = await openEmbedding();
  const { context, page, complaints } = await openPage(site, { url: '' });
  await page.goto(`${server.url}package.html`);
  const pixels = Float32Array.from({ length: 4 * 3 * 48 * 48 }, (_, k) => Math.sin(k / 7));
  const head = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3, 48, 48), }";
  const header = Buffer.from(`${head.padEnd(128 - 10 - 1)}\n`);
  const npy = Buffer.concat([
    Buffer.from([0x93]),
    Buffer.from('NUMPY'),
    Buffer.from([1, 0, header.length, 0]),
    header,
    Buffer.from(pixels.buffer),
  ]);
  await page.setInputFiles('#model', path.join(root, 'web/public/demo/model.onnx'));
  await page.setInputFiles('#samples', { name: 'x.npy', mimeType: 'application/octet-stream', buffer: npy });
  await page.click('#start');
  await page.waitForSelector('#said a', { timeout: 60_000 });
  const link = await page.textContent('#said a');
  const size = Number(/(\d+) bytes/.exec(link)[1]);
  expect(size).toBeLessThan(readFileSync(path.join(root, 'web/public/demo/model.onnx')).length / 2);
  expect(complaints).toEqual([]);
  await context.close();
});
