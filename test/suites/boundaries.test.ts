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

/** Returns what the linter reports for these files in a project that holds nothing else. */
async function lint(files: Record<string, string>): Promise<string> {
  rmSync(join(project, 'src'), { recursive: true, force: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  const run = promisify(execFile)(
    process.execPath,
    [join(root, 'node_modules/oxlint/bin/oxlint'), '--deny-warnings', 'src'],
    { cwd: project },
  );
  return run.then(
    () => '',
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  );
}

const use = (from: string): string => `import { thing } from '${from}';\nexport const other = thing;\n`;

test.each([
  [
    'platform imports no half',
    'src/platform/models/a.ts',
    use('../../detection/runs/b.ts'),
    'platform may import only',
  ],
  [
    'detection does not import feed',
    'src/detection/tools/a.ts',
    use('../../feed/items/b.ts'),
    'detection may import only',
  ],
  ['feed does not import detection', 'src/feed/items/a.ts', use('../../detection/hits/b.ts'), 'feed may import only'],
  [
    'feed does not import agents',
    'src/feed/relevance/a.ts',
    use('../../agents/sightings/b.ts'),
    'feed may import only',
  ],
  ['only app imports app', 'src/detection/runs/a.ts', use('../../app/deps.ts'), 'detection may import only'],
  ['nobody imports the command line', 'src/agents/runs/a.ts', use('../../cli/b.ts'), 'agents may import only'],
  ['lib imports no other room', 'src/platform/lib/a.ts', use('../db/db.ts'), 'platform/lib may import'],
  ['a lower room imports no higher one', 'src/detection/scheduling/a.ts', use('../runs/b.ts'), 'scheduling may import'],
  [
    'a nested folder follows the rules of its room',
    'src/detection/analysis/categories/a.ts',
    use('../../runs/b.ts'),
    'analysis may import',
  ],
  [
    'a deeply nested folder does too',
    'src/feed/formats/stix/patterns/a.ts',
    use('../../../sources/b.ts'),
    'formats may import',
  ],
  ['routes import no store', 'src/feed/items/items.routes.ts', use('./items.store.ts'), 'Routes call use cases'],
  ['routes import no SQL fragment', 'src/feed/items/items.routes.ts', use('./rows.sql.ts'), 'Routes call use cases'],
  ['routes import no query builder', 'src/platform/orgs/orgs.routes.ts', use('kysely'), 'Routes call use cases'],
  [
    'SIEM adapters import no database',
    'src/detection/siem/splunk.ts',
    use('../../platform/db/db.ts'),
    'Adapters see neither',
  ],
  [
    'feed formats import no database',
    'src/feed/formats/kev/a.ts',
    use('../../../platform/db/db.ts'),
    'Adapters see neither',
  ],
  [
    'tools import no organization',
    'src/detection/tools/a.ts',
    use('../../platform/orgs/caller.ts'),
    'Adapters see neither',
  ],
  ['no barrels', 'src/detection/runs/a.ts', use('../hits/index.ts'), 'No barrels'],
  [
    'one reader of the environment',
    'src/detection/runs/a.ts',
    'export const port = process.env.PORT;\n',
    'process.env',
  ],
  [
    'files stay within 300 lines',
    'src/detection/runs/a.ts',
    Array.from({ length: 301 }, (_, n) => `export const a${n} = 1;\n`).join(''),
    'max-lines',
  ],
])('rejects a planted violation: %s', async (_name, path, text, message) => {
  expect(await lint({ [path]: text })).toContain(message);
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
  };
  expect(await lint(files)).toBe('');
});

test('every folder of src lies in a room that the rules cover', () => {
  const listed = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(join(root, 'src'), entry.parentPath).split(sep));
  const deepest = Math.max(...listed.map((folders) => folders.length));
  expect(deepest).toBeLessThanOrEqual(5);
  expect([...new Set(listed.map(([top]) => top))].toSorted()).toEqual([
    '',
    'agents',
    'app',
    'cli',
    'demo',
    'detection',
    'feed',
    'platform',
  ]);
});
