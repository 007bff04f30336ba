import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const project = mkdtempSync(join(tmpdir(), 'tocsin-boundaries-'));
afterAll(() => rmSync(project, { recursive: true, force: true }));
cpSync(join(root, 'oxlint.config.ts'), join(project, 'oxlint.config.ts'));

/** Planted files with all problems. The linter starts once for all of them, because its start takes much longer than its work. */
const planted = new Map<string, string>();
const reports = new Map<string, string>();

beforeAll(async () => {
  for (const [path, text] of planted) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  const args = ['--deny-warnings', '--format', 'json', 'src', 'web'];
  const linter = join(root, 'node_modules/oxlint/bin/oxlint');
  const failed = promisify(execFile)(process.execPath, [linter, ...args], { cwd: project, maxBuffer: 2 ** 26 });
  const { stdout } = await failed.then(
    () => expect.fail('the linter reports nothing'),
    (error: { stdout: string }) => error,
  );
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { filename: string }[] };
  for (const diagnostic of diagnostics)
    reports.set(diagnostic.filename, `${reports.get(diagnostic.filename) ?? ''}${JSON.stringify(diagnostic)}\n`);
});

/** Plants a file beside `path` under a name of its own. Returns what reads the linter's report of it, empty if it is accepted. */
function plant(path: string, text: string): () => string {
  const own = join(dirname(path), `planted${planted.size}-${basename(path)}`);
  planted.set(own, text);
  return () => reports.get(own) ?? '';
}

const use = (from: string): string => `import { thing } from '${from}';\nexport const other = thing;\n`;

/** Planted imports: the rule, the importing file and the imported one, and a part of the message. */
const plantedImports: [string, string, string, string][] = [
  ['platform imports no half', 'platform/models/a', '../../detection/runs/b.ts', 'platform may import only'],
  ['detection does not import feed', 'detection/tools/a', '../../feed/items/b.ts', 'detection may import only'],
  ['feed does not import detection', 'feed/items/a', '../../detection/hits/b.ts', 'feed may import only'],
  ['feed does not import agents', 'feed/relevance/a', '../../agents/sightings/b.ts', 'feed may import only'],
  ['only app imports app', 'detection/runs/a', '../../app/deps.ts', 'detection may import only'],
  ['nobody imports the command line', 'agents/runs/a', '../../cli/b.ts', 'agents may import only'],
  ['lib imports no other room', 'platform/lib/a', '../db/db.ts', 'platform/lib may import'],
  ['a lower room imports no higher one', 'detection/scheduling/a', '../runs/b.ts', 'scheduling may import'],
  ['a lower folder imports no higher one', 'detection/runs/judging/a', '../execution/b.ts', 'judging may import only'],
  [
    'folder rules cover nested folders',
    'detection/runs/judging/model/a',
    '../../workers/b.ts',
    'judging may import only',
  ],
  ['a lower folder imports no higher one', 'feed/items/snapshot/a', '../list-query/b.ts', 'snapshot may import only'],
  ['a lower folder of adapters imports no higher one', 'feed/formats/rss/a', '../csv/b.ts', 'rss may import only'],
  ['folder rules keep those of the room', 'detection/runs/workers/a', '../../testing/b.ts', 'runs may import'],
  [
    'folder rules keep those of routes',
    'detection/shippers/http/a.routes',
    '../shippers.store.ts',
    'Routes call use cases',
  ],
  ['rules cover nested folders', 'detection/analysis/categories/a', '../../runs/b.ts', 'analysis may import'],
  ['rules cover deeply nested folders', 'feed/formats/stix/patterns/a', '../../../sources/b.ts', 'formats may import'],
  ['routes import no store', 'feed/items/items.routes', './items.store.ts', 'Routes call use cases'],
  ['routes import no SQL fragment', 'feed/items/items.routes', './rows.sql.ts', 'Routes call use cases'],
  ['routes import no query builder', 'platform/orgs/orgs.routes', 'kysely', 'Routes call use cases'],
  [
    'SIEM adapters import no database',
    'detection/siem/connectors/a',
    '../../../platform/db/db.ts',
    'Adapters see neither',
  ],
  ['feed formats import no database', 'feed/formats/kev/a', '../../../platform/db/db.ts', 'Adapters see neither'],
  ['tools import no organization', 'detection/tools/a', '../../platform/orgs/caller.ts', 'Adapters see neither'],
  ['no barrels', 'detection/runs/a', '../hits/index.ts', 'No barrels'],
];

const plantedInConsole: typeof plantedImports = [
  ['the console imports nothing of the service', 'pages/hits/a', '../../../../src/config.ts', 'by its API alone'],
  ['shared components import no page', 'ui/a', '../pages/hits/b.tsx', 'ui may import'],
  ['the shell imports no page', 'shell/a', '../pages/hits/b.tsx', 'shell may import'],
  ['a page imports no other page', 'pages/hits/a', '../feed/b.tsx', 'A page imports no other page'],
  ['a folder of a page imports no other page', 'pages/hits/list/a', '../../feed/b.tsx', 'A page imports no other page'],
];

const importCases = [
  ...plantedImports.map(([rule, from, to, message]) => [rule, plant(`src/${from}.ts`, use(to)), message] as const),
  ...plantedInConsole.map(
    ([rule, from, to, message]) => [rule, plant(`web/src/${from}.tsx`, use(to)), message] as const,
  ),
];
test.each(importCases)('rejects a planted import: %s', (_rule, report, message) => {
  expect(report()).toContain(message);
});

const textCases = [
  ['a second reader of the environment', 'export const port = process.env.PORT;\n', 'process.env'],
  [
    'a file of more than 300 lines',
    Array.from({ length: 301 }, (_, n) => `export const a${n} = 1;\n`).join(''),
    'max-lines',
  ],
].map(([name = '', text = '', message = '']) => [name, plant('src/detection/runs/a.ts', text), message] as const);
test.each(textCases)('rejects %s', (_name, report, message) => {
  expect(report()).toContain(message);
});

const cycles = [
  ['values', (to: string) => `import { other } from '${to}';\nexport const thing = () => other;\n`],
  [
    'types',
    (to: string) => `import type { other } from '${to}';\nexport const thing = 1;\nexport type Thing = typeof other;\n`,
  ],
] as const;
for (const [kind, back] of cycles) {
  planted.set(`src/detection/runs/${kind}-b.ts`, back(`./${kind}-a.ts`));
  planted.set(`src/detection/runs/${kind}-a.ts`, use(`./${kind}-b.ts`));
}
test.each(cycles)('rejects an import cycle of %s', (kind) => {
  expect(reports.get(`src/detection/runs/${kind}-a.ts`)).toContain('no-cycle');
});

planted.set('src/platform/lib/time/clock.ts', 'export const thing = 1;\n');
planted.set('web/src/ui/button.tsx', 'export const thing = 1;\n');
const ordinary = [
  plant('src/detection/runs/a.ts', use('../../platform/lib/time/clock.ts')),
  plant('web/src/pages/hits/list/a.tsx', use('../../../ui/button.tsx')),
];
test('accepts ordinary files', () => {
  for (const report of ordinary) expect(report()).toBe('');
  expect([reports.get('src/platform/lib/time/clock.ts'), reports.get('web/src/ui/button.tsx')]).toEqual([
    undefined,
    undefined,
  ]);
});

test('the rules cover every top-level folder of src', () => {
  const listed = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(join(root, 'src'), entry.parentPath).split(sep));
  const deepest = Math.max(...listed.map((folders) => folders.length));
  expect(deepest).toBeLessThanOrEqual(5);
  const rooms = [...new Set(listed.map(([top]) => top))].toSorted().join(' ');
  expect(rooms).toBe(' agents app cli demo detection feed platform');
});
