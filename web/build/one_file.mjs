// SPDX-License-Identifier: Apache-2.0
//
// The page as one file, tersor.html, which browsers open from a disk: script, style, typeface, engine, workers and demo in it, and
// a security policy that allows these alone. Workers are classic scripts: browsers start no module workers there.

import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { build } from 'vite';

/** Workers by the name of their file; the engine's is the package's. */
const workers = {
  'worker.js': 'tersor/worker.js',
  'layout.worker.ts': './src/graph/layout.worker.ts',
  'aside.worker.ts': './src/job/aside.worker.ts',
};

const packedWorkers = 'virtual:packed-workers';
const startsWorker = /new Worker\(new URL\('\.\/([\w.]+)', import\.meta\.url\), \{[^}]*\}\)/g;

/** Puts what one file has in the place of what a site has. */
function intoOneFile(sources) {
  return {
    name: 'tersor-one-file',
    enforce: 'pre',
    resolveId(id, importer) {
      if (id === packedWorkers) return `\0${packedWorkers}`;
      if (id === './site' && importer?.includes('/engine/')) return this.resolve('./one_file', importer);
      // it has no runtime to verify with
      if (id === './Verify') return '\0no-verify';
      return null;
    },
    load(id) {
      if (id === '\0no-verify') return 'export const Verify = () => null;';
      if (id !== `\0${packedWorkers}`) return null;
      return `const sources = ${JSON.stringify(sources)};
        export const startWorker = (name) =>
          new Worker(URL.createObjectURL(new Blob([sources[name]], { type: 'text/javascript' })));`;
    },
    transform(code) {
      const started = code.replace(startsWorker, (all, name) => (name in sources ? `startPacked('${name}')` : all));
      const fitted = started
        .replace(/(isNode = ).*;/, '$1false;')
        .replace(/return import\(.*;/, 'throw name;')
        .replace(/new URL\(["'](?:\.\/)?tersor(-light)?\.wasm["'], ?import\.meta\.url\)/g, 'new URL(location.href)')
        .replaceAll("new URL('./worker.js', here)", 'new URL(location.href)');
      if (fitted === code) return null;
      return started === code ? fitted : `import { startWorker as startPacked } from '${packedWorkers}';\n${fitted}`;
    },
  };
}

/** The script of `entry` with all that it imports, and its style. */
async function bundled(config, entry, format, sources) {
  const { output } = await build({
    ...config,
    configFile: false,
    logLevel: 'error',
    plugins: [intoOneFile(sources), ...config.plugins],
    build: {
      ...config.build,
      write: false,
      assetsInlineLimit: Infinity,
      cssCodeSplit: false,
      rollupOptions: { input: entry, output: { format, codeSplitting: false } },
    },
  });
  const script = output.find(({ type }) => type === 'chunk').code;
  const style = output.find(({ fileName }) => fileName.endsWith('.css'))?.source ?? '';
  return { script, style };
}

const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Files below `folder` that are there to be read by the page, as elements that are data to browsers. */
async function packed(folder, files) {
  const elements = await Promise.all(
    Object.entries(files).map(async ([name, path]) => {
      const text = gzipSync(await readFile(join(folder, path)), { level: 9 }).toString('base64');
      return `<script type="application/gzip" data-file="${name}">${text}</script>`;
    }),
  );
  return elements.join('\n');
}

/** Writes tersor.html beside the site in `folder`. `config`: what both are built with. */
export async function writeOneFile(config, folder, siteFiles) {
  const sources = {};
  for (const [name, entry] of Object.entries(workers)) {
    sources[name] = (await bundled(config, entry, 'iife', sources)).script;
  }
  const { script, style } = await bundled(config, './src/main.tsx', 'es', sources);
  // what would end the element that it stands in; in scripts both stand in texts or patterns only
  const code = script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(code)} 'wasm-unsafe-eval'`,
    'worker-src blob:',
    `style-src ${hashOf(style)}`,
    'img-src blob: data:',
    'media-src blob:',
    'font-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const engine = siteFiles.find((file) => file.endsWith('.wasm') && /^assets\/tersor-(?!light-)/.test(file));
  // the photographs are left out: the demo is then that of letters
  const demo = siteFiles.filter((file) => /^demo\/[^/]+$/.test(file));
  const data = await packed(folder, { 'tersor.wasm': engine, ...Object.fromEntries(demo.map((file) => [file, file])) });
  const page = (await readFile(join(folder, 'index.html'), 'utf8'))
    .replace(/(http-equiv="Content-Security-Policy" content=")[^"]*/, (_all, head) => head + policy)
    .replace(/\s*<link rel="(manifest|preload|stylesheet|modulepreload)"[^>]*>/g, '')
    .replace(/\s*<meta name="tersor-(verify|training)"[^>]*>/g, '')
    .replace(/\s*<script type="module"[^>]*><\/script>/, '')
    .replace('</head>', () => `<style>${style}</style>\n  </head>`)
    .replace('</body>', () => `${data}\n<script type="module">${code}</script>\n  </body>`);
  await writeFile(join(folder, 'tersor.html'), page);
}
