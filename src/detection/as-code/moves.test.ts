import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { atFileEnd } from '../../../test/support/at-file-end.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { applyFolderPlan } from './apply-plan.ts';
import { createServiceClient } from './service-client.ts';
import { lockFileName, readFolder, readLock } from './folder.ts';
import { applyFileRenames, createFolderPlan, type PlanStep } from './plan.ts';
import { pullDetections } from './pull-detections.ts';

const { app, newOrg } = await startApp();
const url = await app.listen({ port: 0, host: '127.0.0.1' });
const root = mkdtempSync(join(tmpdir(), 'tocsin-moves-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let org: TestOrg;
let folder = '';
beforeEach(async () => {
  org = await newOrg(['detections:read', 'detections:write']);
  folder = mkdtempSync(join(root, 'a-'));
});

const service = (at = url) => createServiceClient({ url: at, key: org.key, validate: false });
async function plan(options = { prune: false, force: false }) {
  const detections = await service().list();
  const files = new Map([...readFolder(folder)].map(([name, { fields }]) => [name, fields]));
  const lock = applyFileRenames(files, detections, readLock(folder));
  return { steps: createFolderPlan(files, detections, lock, options), lock };
}
async function apply(options = { prune: true, force: false }) {
  const { steps, lock } = await plan(options);
  const { failed } = await applyFolderPlan(folder, service(), lock, steps);
  return { kinds: kindsOf(steps), failed };
}
async function pull(force = false) {
  const detections = await service().list();
  const files = readFolder(folder);
  const fields = new Map([...files].map(([name, file]) => [name, file.fields]));
  return pullDetections(folder, {
    files,
    lock: applyFileRenames(fields, detections, readLock(folder)),
    detections: detections,
    force,
  });
}
const kindsOf = (steps: PlanStep[]): string[] => steps.map(({ kind, file }) => `${kind} ${file}`);
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const text = (name: string, more = ''): string =>
  `name: ${name}\ndetectionCategory: custom\ndetectionQuery: q\n${more === '' ? 'systemPrompt: p\n' : more}`;
const list = async (): Promise<{ id: string; name: string }[]> =>
  (await org.call('GET', '/api/detections')).body.detections;

test('recognizes a renamed file, even if it also changed', async () => {
  write('a.yaml', text('One'));
  write('b.yaml', text('Two'));
  await apply();
  const before = await list();
  renameSync(join(folder, 'a.yaml'), join(folder, 'one.yaml'));
  rmSync(join(folder, 'b.yaml'));
  write('two.yaml', text('Two', 'systemPrompt: other\n'));
  expect((await apply()).kinds).toEqual(['same one.yaml', 'update two.yaml']);
  expect((await list()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  expect(Object.keys(readLock(folder))).toEqual(['one.yaml', 'two.yaml']);
  renameSync(join(folder, 'one.yaml'), join(folder, 'uno.yaml'));
  expect((await pull()).written).toEqual([]);
  expect(Object.keys(readLock(folder))).toEqual(['two.yaml', 'uno.yaml']);
});

test('never pairs two files with one detection', async () => {
  await org.call('POST', '/api/detections', {
    name: 'One',
    detectionCategory: 'custom',
    detectionQuery: 'q',
    systemPrompt: 'p',
  });
  write('a.yaml', text('One', 'systemPrompt: x\n'));
  write('b.yaml', text('One', 'systemPrompt: y\n'));
  expect(kindsOf((await plan()).steps)).toEqual(['conflict a.yaml', 'conflict b.yaml']);
  write('b.yaml', text('One'));
  expect((await apply()).kinds).toEqual(['create a.yaml', 'same b.yaml']);
  expect(new Set(Object.values(readLock(folder)).map(({ id }) => id)).size).toBe(2);
  // Without the lock, each file is paired with its detection again, and none is created twice.
  rmSync(join(folder, lockFileName));
  expect((await apply()).kinds).toEqual(['same a.yaml', 'same b.yaml']);
  expect(await list()).toHaveLength(2);
});

test('pull keeps edits without a lock and creates no second file', async () => {
  write('a.yaml', text('One'));
  await apply();
  rmSync(join(folder, lockFileName));
  write('a.yaml', text('One', 'systemPrompt: mine\n'));
  expect((await pull()).kept).toMatchObject([{ file: 'a.yaml' }]);
  expect(readdirSync(folder).toSorted()).toEqual(['a.yaml', lockFileName]);
  expect((await pull(true)).written).toEqual(['a.yaml']);
  expect(readFileSync(join(folder, 'a.yaml'), 'utf8')).toContain('systemPrompt: p');
});

test('does not rewrite or remove a prompt file that other files share', async () => {
  write('p.md', 'Judge it.\n');
  for (const name of ['a', 'b', 'c']) write(`${name}.yaml`, text(name, 'systemPromptFile: p.md\n'));
  await apply();
  const [c, b] = await list();
  await org.call('PUT', `/api/detections/${b!.id}`, { systemPrompt: 'Other.' });
  await org.call('DELETE', `/api/detections/${c!.id}`);
  expect(await pull()).toMatchObject({ written: ['b.yaml'], removed: ['c.yaml'] });
  expect(readFileSync(join(folder, 'p.md'), 'utf8')).toBe('Judge it.\n');
  const [a, other] = [...readFolder(folder).values()];
  expect([a?.fields['systemPrompt'], other?.fields['systemPrompt']]).toEqual(['Judge it.', 'Other.']);
});

test('creates a detection once if its tests are rejected, and completes it on the next apply', async () => {
  const long = 'x'.repeat(300_000);
  const tests = (values: string): string => `tests:\n  - name: t\n    expect: []\n    events: [${values}]\n`;
  write('a.yaml', `${text('One')}${tests(`{a: &a ${long}}, {a: *a}, {a: *a}, {a: *a}`)}`);
  expect((await apply()).failed).toMatchObject([{ file: 'a.yaml' }]);
  write('a.yaml', `${text('One')}${tests('{a: 1}')}`);
  expect(await apply()).toEqual({ kinds: ['update a.yaml'], failed: [] });
  expect(await list()).toHaveLength(1);
  expect((await apply()).kinds).toEqual(['same a.yaml']);
});

test('does not delete a detection that changed between plan and write', async () => {
  write('a.yaml', text('One'));
  await apply();
  rmSync(join(folder, 'a.yaml'));
  const { steps, lock } = await plan({ prune: true, force: false });
  const [theirs] = await list();
  await org.call('PUT', `/api/detections/${theirs!.id}`, { description: 'theirs' });
  const { failed } = await applyFolderPlan(folder, service(), lock, steps);
  expect(failed).toMatchObject([{ reason: expect.stringContaining('plan again') }]);
  expect(await list()).toHaveLength(1);
});

test('reads and writes only regular files inside the folder', async () => {
  writeFileSync(join(root, 'secret.md'), 'a secret');
  mkdirSync(join(folder, '..data'));
  writeFileSync(join(folder, '..data/p.md'), 'inside');
  symlinkSync(join(root, 'secret.md'), join(folder, 'out.md'));
  symlinkSync('..data/p.md', join(folder, 'in.md'));
  write('a.yaml', text('One', 'systemPromptFile: in.md\n'));
  expect(readFolder(folder).get('a.yaml')?.fields['systemPrompt']).toBe('inside');
  mkdirSync(join(folder, 'c.yaml'));
  write('b.yaml', text('Two', 'systemPromptFile: out.md\n'));
  write('d.yaml', text('Two', 'systemPromptFile: none.md\n'));
  expect(() => readFolder(folder)).toThrow(
    [
      'b.yaml:4: systemPromptFile: out.md is not a file in this folder',
      'c.yaml: c.yaml is not a file in this folder',
      'd.yaml:4: systemPromptFile: none.md does not exist',
    ].join('\n'),
  );
  const entry = { id: 'x', file: 'h', service: 'h' };
  for (const files of [{ '../out.yaml': entry }, { 'a.yaml': entry, 'b.yaml': entry }]) {
    write(lockFileName, JSON.stringify({ version: 1, detections: files }));
    expect(() => readLock(folder)).toThrow('is damaged');
  }
  rmSync(join(folder, lockFileName));
  for (const name of ['b.yaml', 'd.yaml']) rmSync(join(folder, name));
  rmSync(join(folder, 'c.yaml'), { recursive: true });
  symlinkSync(join(root, 'secret.md'), join(folder, `.${lockFileName}.new`));
  await apply();
  expect(readFileSync(join(root, 'secret.md'), 'utf8')).toBe('a secret');
});

/** Starts another server that sends these responses in order and repeats the last one. */
async function startOtherServer(...responseList: [status: number, body: string][]): Promise<string> {
  const other = createServer((_request, response) => {
    const [status, body] = responseList.length > 1 ? responseList.shift()! : responseList[0]!;
    response.writeHead(status, { 'retry-after': '1' }).end(body);
  });
  atFileEnd(() => other.close());
  await new Promise<void>((done) => {
    other.listen(0, '127.0.0.1', done);
  });
  return `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
}

test('reports the scope that a key lacks', async () => {
  write('a.yaml', text('One'));
  org = await newOrg(['detections:read']);
  expect((await apply()).failed).toMatchObject([
    { file: 'a.yaml', reason: expect.stringContaining('detections:write') },
  ]);
  org = await newOrg(['logs:write']);
  await expect(plan()).rejects.toThrow('detections:read');
});

test('waits for the pause that the service requests', async () => {
  expect(
    await service(
      await startOtherServer([429, '{}'], [200, '{"detections": [], "agents": [], "nextCursor": null}']),
    ).list(),
  ).toEqual([]);
});

test('reports an address where another server responds', async () => {
  for (const [status, body] of [
    [200, '<html>'],
    [404, 'gone'],
    [502, '{}'],
  ] as const) {
    const at = await startOtherServer([status, body]);
    await expect(service(at).list()).rejects.toThrow(new RegExp(`GET .*/api/detections.* status ${status}`));
  }
});
