import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createCaller, createOrganizationWithKey, pullDocument } from '../support/api-client.ts';
import { testDatabase } from '../support/database.ts';
import { newProjectDir, removeProgramDir, root, startProgram, type Program } from '../support/program.ts';
import { startBlock } from '../support/typed-commands.ts';
import { kevCatalogWith } from '../support/feed/kev-document.ts';

const { db, url } = await testDatabase();
const folder = newProjectDir();
let program: Program | undefined;
afterAll(async () => {
  await program?.kill('SIGKILL');
  removeProgramDir(folder);
});

test('the packed package runs compiled below node_modules, with its threads, engine and shipped files', async () => {
  // Without npm's scripts, because `prepare` would replace the console's files while other tests serve them.
  execFileSync(process.execPath, ['scripts/build-package.ts'], { cwd: root });
  const pack = ['pack', '--json', '--silent', '--ignore-scripts', '--pack-destination', folder];
  const [packed] = JSON.parse(execFileSync('npm', pack, { cwd: root, encoding: 'utf8' }));
  rmSync(join(root, 'dist'), { recursive: true });
  const paths: string[] = packed.files.map((file: { path: string }) => file.path);
  expect(paths.filter((path) => /\.ts$|\.test\.js$/.test(path))).toEqual([]);
  expect(paths).not.toContain('migrations/schema.sql');
  expect([...new Set(paths.map((path) => path.split('/')[0]))].toSorted()).toEqual(
    'CHANGELOG.md LICENSE README.md agents bin deploy dist library migrations openapi.json package.json sigma skills web'.split(
      ' ',
    ),
  );

  // Below the project's own `node_modules`, so that the dependencies are found without another installation.
  const installed = join(folder, 'node_modules/tocsin');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, packed.filename), '--strip-components=1', '-C', installed]);
  rmSync(join(folder, packed.filename));

  const { key } = await createOrganizationWithKey({ db }, 'packed');
  const env = { DATABASE_URL: url, TOCSIN_FETCH_ALLOW: '127.0.0.1' };
  // What `npm install` does for the command.
  mkdirSync(join(folder, 'node_modules/.bin'));
  chmodSync(join(installed, 'bin/tocsin.mjs'), 0o755);
  symlinkSync(join(installed, 'bin/tocsin.mjs'), join(folder, 'node_modules/.bin/tocsin'));
  const typed = startBlock('docs/operate/install.md', 'run: package');
  const printed = execFileSync('bash', ['-euc', typed], {
    cwd: folder,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  expect(printed).toMatch(/^\d+\.\d+\.\d+\n[^]*ok +database/);
  program = await startProgram(folder, env, 'all', join(installed, 'bin/tocsin.mjs'));
  const call = createCaller(program.url, key);
  expect(await pullDocument(call, { kind: 'kev', name: 'KEV' }, kevCatalogWith('entry', 3))).toMatchObject({
    added: 3,
  });
  await call('POST', '/api/logs/signins', [{ timestamp: new Date().toISOString(), user: 'ada' }]);
  const preview = await call('POST', '/api/detections/preview', {
    name: 'packed',
    detectionCategory: 'custom',
    systemPrompt: 'Judge it.',
    detectionQuery: 'SELECT _id, _time, "user" FROM signins',
    from: new Date(Date.now() - 60_000),
    to: new Date(Date.now() + 60_000),
  });
  expect(preview).toMatchObject({ rowsTotal: 1, complete: true });
  expect((await call('GET', '/api/detections/library')).total).toBeGreaterThan(100);
  const rules =
    'title: T\nlogsource: {product: windows, category: process_creation}\ndetection: {s: {Image: a}, condition: s}\n';
  const { results } = await call('POST', '/api/sigma/convert', { rules });
  expect(results).toMatchObject([{ status: 'converted', errors: [] }]);
  expect((await fetch(`${program.url}/console/`)).status).toBe(200);
  expect(await program.kill('SIGTERM')).toBe(0);
});
