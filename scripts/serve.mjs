// SPDX-License-Identifier: Apache-2.0
//
// Serves a folder of static files the way docs/hosting.md asks any host to: right media types, the page's security policy
// as a header, long caching for files whose names carry a hash, text and WebAssembly compressed. Node only, no packages: sirv
// serves what was compressed before, and would need another beside it.
//
//   node scripts/serve.mjs [--port N] [--host ADDRESS] [--prefix /sub/path/] [--root DIR] [--open]

import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

import { headerSecurityPolicy } from '../web/csp.mjs';

const mediaTypes = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.onnx': 'application/octet-stream',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.zip': 'application/zip',
};

/** Names with a hash never change; the offline worker may be a minute old; all else is asked for again each time. */
function cacheControl(path) {
  if (/^assets\/.*-[\w-]{8,}\.\w+$/.test(path)) return 'public, max-age=31536000, immutable';
  if (path === 'sw.js') return 'max-age=60';
  return 'no-cache';
}

const compressible = new Set(['.css', '.html', '.js', '.json', '.map', '.md', '.mjs', '.svg', '.txt', '.wasm']);

/** By path and tag, so that each file is compressed once. */
const compressed = new Map();

/** The bytes of a file as a request that takes gzip gets them, or null where it gets the file as it is. */
function gzipped(request, file, tag) {
  if (!compressible.has(extname(file)) || !/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return null;
  const key = `${file} ${tag}`;
  if (!compressed.has(key)) compressed.set(key, readFile(file).then(promisify(gzip)));
  return compressed.get(key);
}

/** The file that a request means, or null: inside `root`, below `prefix`, no folder listing. */
function requestedFile(root, prefix, url) {
  let path;
  try {
    path = decodeURIComponent(new URL(url, 'http://localhost').pathname);
  } catch {
    return null;
  }
  if (!path.startsWith(prefix) || path.includes('\0')) return null;
  let relative = path.slice(prefix.length);
  if (relative === '' || relative.endsWith('/')) relative += 'index.html';
  const file = normalize(join(root, relative));
  return file.startsWith(normalize(root) + sep) ? { file, relative } : null;
}

async function answer({ root, prefix, headers }, request, response) {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { Allow: 'GET, HEAD' }).end();
    return;
  }
  const pathname = (request.url ?? '/').split('?')[0];
  if (prefix.length > 1 && (pathname === '/' || `${pathname}/` === prefix)) {
    response.writeHead(302, { Location: prefix }).end();
    return;
  }
  const wanted = requestedFile(root, prefix, request.url ?? '/');
  const info = wanted && (await stat(wanted.file).catch(() => null));
  if (!info?.isFile()) {
    response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8', ...headers }).end('Not found\n');
    return;
  }
  const tag = `"${info.size.toString(36)}-${Math.trunc(info.mtimeMs).toString(36)}"`;
  const all = {
    'Content-Type': mediaTypes[extname(wanted.file)] ?? 'application/octet-stream',
    'Cache-Control': cacheControl(wanted.relative),
    ETag: tag,
    Vary: 'Accept-Encoding',
    ...headers,
  };
  if (request.headers['if-none-match'] === tag) {
    response.writeHead(304, all).end();
    return;
  }
  const packed = await gzipped(request, wanted.file, tag);
  if (packed) {
    response.writeHead(200, { ...all, 'Content-Encoding': 'gzip', 'Content-Length': packed.length });
    response.end(request.method === 'HEAD' ? undefined : packed);
    return;
  }
  response.writeHead(200, { ...all, 'Content-Length': info.size });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  createReadStream(wanted.file)
    .on('error', () => response.destroy())
    .pipe(response);
}

/**
 * Starts the server and resolves to { url, port, requests, close }. `requests` lists the path of every request so far.
 * Without `port` the first free one from 8080 on is taken; with it, a port in use rejects.
 */
export async function serve({ root, port, host = '127.0.0.1', prefix = '/', policy = true } = {}) {
  const headers = {
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Resource-Policy': 'same-origin',
    ...(policy ? { 'Content-Security-Policy': headerSecurityPolicy } : {}),
  };
  const requests = [];
  const server = createServer((request, response) => {
    requests.push(request.url);
    answer({ root, prefix, headers }, request, response).catch(() => response.destroy());
  });
  const listen = (at) =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(at, host, () => {
        server.off('error', reject);
        resolve();
      });
    });
  if (port !== undefined) {
    await listen(port);
  } else {
    for (let at = 8080; ; ++at) {
      try {
        await listen(at);
        break;
      } catch (error) {
        if (error.code !== 'EADDRINUSE' || at >= 8180) throw error;
      }
    }
  }
  const used = server.address().port;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${used}${prefix}`,
    port: used,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function parse(args) {
  const options = { root: fileURLToPath(new URL('../web/dist', import.meta.url)) };
  for (let index = 0; index < args.length; ++index) {
    if (args[index] === '--open') {
      options.open = true;
      continue;
    }
    const [flag, attached] = args[index].split('=', 2);
    const value = attached ?? args[++index];
    if (!['--port', '--host', '--prefix', '--root'].includes(flag) || value === undefined) {
      throw new Error(`usage: serve.mjs [--port N] [--host ADDRESS] [--prefix /sub/path/] [--root DIR] [--open]`);
    }
    options[flag.slice(2)] = value;
  }
  if (options.port !== undefined) {
    options.port = Number(options.port);
    if (!Number.isInteger(options.port) || options.port < 0 || options.port > 65535) {
      throw new Error(`--port wants a number from 0 to 65535`);
    }
  }
  if (options.prefix !== undefined) options.prefix = `/${options.prefix.replace(/^\/+|\/+$/g, '')}/`.replace('//', '/');
  return options;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  let options;
  try {
    options = parse(process.argv.slice(2));
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
  try {
    const { url } = await serve(options);
    console.log(`Tersor: ${url}`);
    // in the desktop's browser; without one the address above is all there is
    if (options.open)
      spawn('xdg-open', [url], { stdio: 'ignore', detached: true })
        .on('error', () => {})
        .unref();
  } catch (error) {
    console.error(
      error.code === 'EADDRINUSE' ? `port ${options.port} is in use; choose another with --port` : error.message,
    );
    process.exit(1);
  }
}
