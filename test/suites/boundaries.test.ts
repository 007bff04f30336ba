import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const project = mkdtempSync(join(tmpdir(), 'tocsin-boundaries-'));
afterAll(() => rmSync(project, { recursive: true, force: true }));
cpSync(join(root, 'oxlint.config.ts'), join(project, 'oxlint.config.ts'));

/** Returns what the linter reports for these files in an otherwise empty project. */
async function lint(files: Record<string, string>): Promise<string> {
  for (const folder of ['src', 'web']) {
    rmSync(join(project, folder), { recursive: true, force: true });
    mkdirSync(join(project, folder));
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  const run = promisify(execFile)(
    process.execPath,
    [join(root, 'node_modules/oxlint/bin/oxlint'), '--deny-warnings', 'src', 'web'],
    { cwd: project },
  );
  return run.then(
    () => '',
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  );
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
  ['rules cover nested folders', 'detection/analysis/categories/a', '../../runs/b.ts', 'analysis may import'],
  ['rules cover deeply nested folders', 'feed/formats/stix/patterns/a', '../../../sources/b.ts', 'formats may import'],
  ['routes import no store', 'feed/items/items.routes', './items.store.ts', 'Routes call use cases'],
  ['routes import no SQL fragment', 'feed/items/items.routes', './rows.sql.ts', 'Routes call use cases'],
  ['routes import no query builder', 'platform/orgs/orgs.routes', 'kysely', 'Routes call use cases'],
  ['SIEM adapters import no database', 'detection/siem/splunk', '../../platform/db/db.ts', 'Adapters see neither'],
  ['feed formats import no database', 'feed/formats/kev/a', '../../../platform/db/db.ts', 'Adapters see neither'],
  ['tools import no organization', 'detection/tools/a', '../../platform/orgs/caller.ts', 'Adapters see neither'],
  ['no barrels', 'detection/runs/a', '../hits/index.ts', 'No barrels'],
];

test.each(plantedImports)('rejects a planted import: %s', async (_rule, importer, imported, message) => {
  expect(await lint({ [`src/${importer}.ts`]: use(imported) })).toContain(message);
});

test.each([
  ['the console imports nothing of the service', 'pages/hits/a', '../../../../src/config.ts', 'by its API alone'],
  ['shared components import no page', 'ui/a', '../pages/hits/b.tsx', 'ui may import'],
  ['the shell imports no page', 'shell/a', '../pages/hits/b.tsx', 'shell may import'],
  ['a page imports no other page', 'pages/hits/a', '../feed/b.tsx', 'A page imports no other page'],
  ['a folder of a page imports no other page', 'pages/hits/list/a', '../../feed/b.tsx', 'A page imports no other page'],
])('rejects a planted import: %s', async (_rule, importer, imported, message) => {
  expect(await lint({ [`web/src/${importer}.tsx`]: use(imported) })).toContain(message);
});

test.each([
  ['a second reader of the environment', 'export const port = process.env.PORT;\n', 'process.env'],
  [
    'a file of more than 300 lines',
    Array.from({ length: 301 }, (_, n) => `export const a${n} = 1;\n`).join(''),
    'max-lines',
  ],
])('rejects %s', async (_name, text, message) => {
  expect(await lint({ 'src/detection/runs/a.ts': text })).toContain(message);
});

test.each([
  ['of values', "import { other } from './a.ts';\nexport const thing = () => other;\n"],
  ['of types', "import type { other } from './a.ts';\nexport const thing = 1;\nexport type Thing = typeof other;\n"],
])('rejects an import cycle %s', async (_name, text) => {
  const report = await lint({ 'src/detection/runs/a.ts': use('./b.ts'), 'src/detection/runs/b.ts': text });
  expect(report).toContain('no-cycle');
});

test('accepts an ordinary file', async () => {
  const files = {
    'src/detection/runs/a.ts': use('../../platform/lib/clock.ts'),
    'src/platform/lib/clock.ts': 'export const thing = 1;\n',
    'web/src/pages/hits/list/a.tsx': use('../../../ui/button.tsx'),
    'web/src/ui/button.tsx': 'export const thing = 1;\n',
  };
  expect(await lint(files)).toBe('');
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
