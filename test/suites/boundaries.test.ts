import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const house = mkdtempSync(join(tmpdir(), 'tocsin-boundaries-'));
afterAll(() => rmSync(house, { recursive: true, force: true }));
cpSync(join(root, 'oxlint.config.ts'), join(house, 'oxlint.config.ts'));

/** What the linter says of one planted file, in a house that holds nothing else. */
async function lint(files: Record<string, string>): Promise<string> {
  rmSync(join(house, 'src'), { recursive: true, force: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(house, path)), { recursive: true });
    writeFileSync(join(house, path), text);
  }
  const run = promisify(execFile)(
    process.execPath,
    [join(root, 'node_modules/oxlint/bin/oxlint'), '--deny-warnings', 'src'],
    { cwd: house },
  );
  return run.then(
    () => '',
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  );
}

const use = (from: string): string => `import { thing } from '${from}';\nexport const other = thing;\n`;

test.each([
  ['lib knows no domain', 'src/lib/a.ts', use('../db/db.ts'), 'lib/ may import only: nothing'],
  ['no arrow back', 'src/schedule/a.ts', use('../runs/claim.ts'), 'schedule/ may import only'],
  [
    'no arrow back from a deeper folder',
    'src/analysis/categories/a.ts',
    use('../../runs/claim.ts'),
    'analysis/ may import only',
  ],
  ['routes reach no store', 'src/feed/routes.ts', use('./store.ts'), 'Routes call use cases'],
  ['routes reach no SQL', 'src/orgs/routes.ts', use('kysely'), 'Routes call use cases'],
  ['SIEM adapters see lib only', 'src/siem/splunk.ts', use('../db/db.ts'), 'siem/ may import only'],
  ['source adapters see no database', 'src/ingest/sources/a.ts', use('../../db/db.ts'), 'Adapters see neither'],
  ['nobody imports the composition', 'src/runs/a.ts', use('../app.ts'), 'Nothing below imports'],
  ['no barrels', 'src/runs/a.ts', use('../hits/index.ts'), 'No barrels'],
  ['one reader of the environment', 'src/runs/a.ts', 'export const port = process.env.PORT;\n', 'process.env'],
  [
    'files stay small',
    'src/runs/a.ts',
    Array.from({ length: 301 }, (_, n) => `export const a${n} = 1;\n`).join(''),
    'max-lines',
  ],
])('%s', async (_name, path, text, message) => {
  expect(await lint({ [path]: text })).toContain(message);
});

test('no cycles', async () => {
  const report = await lint({
    'src/runs/a.ts': use('./b.ts'),
    'src/runs/b.ts': "import { other } from './a.ts';\nexport const thing = () => other;\n",
  });
  expect(report).toContain('no-cycle');
});

test('an ordinary file passes', async () => {
  expect(await lint({ 'src/runs/a.ts': use('../lib/clock.ts'), 'src/lib/clock.ts': 'export const thing = 1;\n' })).toBe(
    '',
  );
});
