import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCaller, createOrganizationWithKey, pullDocument } from '../support/api-client.ts';
import { testDatabase } from '../support/database.ts';
import { newProjectDir, removeProgramDir, root, startProgram, type Program } from '../support/program.ts';
import { findMissingOutput } from '../support/typed-commands.ts';
import { kevCatalogWith } from '../support/feed/kev-document.ts';

const run = promisify(execFile);
const { db, url } = await testDatabase();
/** A project that has only the packed client. Its dependency is found above, without another installation. */
const project = newProjectDir();
let program: Program | undefined;
let env: NodeJS.ProcessEnv;
let packed: string[];

beforeAll(async () => {
  // `npm pack` also generates the types of the API first. The installation has done that.
  await run('npm', ['run', '--silent', 'compile', '--workspace', '@tocsin/client'], { cwd: root });
  const pack = ['pack', '--workspace', '@tocsin/client', '--json', '--ignore-scripts', '--pack-destination', project];
  const [{ filename, files }] = JSON.parse((await run('npm', pack, { cwd: root })).stdout);
  packed = files.map(({ path }: { path: string }) => path);
  const installed = join(project, 'node_modules/@tocsin/client');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(project, filename), '--strip-components=1', '-C', installed]);
  const { key } = await createOrganizationWithKey({ db }, 'client');
  program = await startProgram(project, { DATABASE_URL: url, TOCSIN_FETCH_ALLOW: '127.0.0.1' });
  await pullDocument(createCaller(program.url, key), { kind: 'kev', name: 'KEV' }, kevCatalogWith('entry', 3));
  env = { ...process.env, TOCSIN_URL: program.url, TOCSIN_API_KEY: key };
});
afterAll(async () => {
  await program?.kill('SIGKILL');
  removeProgramDir(project);
});

test('the package has compiled code, types and its description', () => {
  expect(packed.filter((path) => !/^dist\/[\w-]+\.(js|d\.ts)$/.test(path)).toSorted()).toEqual([
    'README.md',
    'package.json',
  ]);
  expect(packed).toEqual(expect.arrayContaining(['dist/client.js', 'dist/client.d.ts', 'dist/schema.d.ts']));
});

const pages = ['docs/guide/use-from-code.md', 'packages/client/README.md'];

test('the examples of the pages have the types of the package', async () => {
  const files = pages.map((page, index) => {
    writeFileSync(join(project, `example-${index}.ts`), readExamples(page).code + mistakes);
    return `example-${index}.ts`;
  });
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const options = '--ignoreConfig --noEmit --strict --module nodenext --target esnext --lib esnext --types node';
  const checked = run(process.execPath, [compiler, ...options.split(' '), ...files], { cwd: project });
  // The compiler reports errors on its standard output.
  expect(await checked.catch(({ stdout }: { stdout: string }) => ({ stdout }))).toMatchObject({ stdout: '' });
});

test.each(pages)('the examples of %s run and print what the page says', async (page) => {
  const { code, prints } = readExamples(page);
  // Without types the examples are JavaScript, for any supported Node.
  writeFileSync(join(project, 'example.mjs'), code);
  const { stdout } = await run(process.execPath, ['example.mjs'], { cwd: project, env });
  expect(findMissingOutput(stdout, prints), stdout).toBeUndefined();
});

/** Calls that must not compile. */
const mistakes = `
// @ts-expect-error: no such path.
await tocsin.get('/api/none');
// @ts-expect-error: a parameter is missing.
await tocsin.get('/api/hits/{id}');
// @ts-expect-error: no such query parameter.
await tocsin.get('/api/hits', { params: { query: { severe: true } } });
// @ts-expect-error: a field is missing.
await tocsin.post('/api/detections', { body: { name: 'Sign-ins' } });
// @ts-expect-error: not a list.
tocsin.list('/api/overview');
`;

/** Returns the TypeScript blocks of a page as one program, and what the page says that it prints. */
function readExamples(page: string): { code: string; prints: string } {
  const text = readFileSync(join(root, page), 'utf8');
  const blocks = (opening: string): string =>
    [...text.matchAll(new RegExp(`${opening}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, block]) => block).join('');
  return { code: blocks('```ts'), prints: blocks('<!-- prints -->\\n```') };
}
