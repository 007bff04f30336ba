import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { parse } from 'yaml';
import { root } from '../../../test/support/program.ts';
import { runCommand } from '../../../test/support/run-command.ts';
import { lockFileName } from './folder.ts';
import { diffLines, renderPlan } from './plan.ts';

const { app, newOrg } = await startApp();
const url = await app.listen({ port: 0, host: '127.0.0.1' });
let folder = '';
let org: TestOrg;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tocsin-as-code-'));
  org = await newOrg(['detections:read', 'detections:write']);
});
const folders: string[] = [];
afterAll(() => {
  for (const one of folders) rmSync(one, { recursive: true, force: true });
});

/** Runs a command on the folder. */
function tocsin(command: string, ...flags: string[]): Promise<{ code: number; out: string }> {
  folders.push(folder);
  return runCommand([command, folder, ...flags], { TOCSIN_URL: url, TOCSIN_API_KEY: org.key });
}
const create = async (given: Record<string, unknown> = {}): Promise<string> =>
  (await org.call('POST', '/api/detections', { ...detection, ...given })).body.id;
const detection = {
  name: 'Root logs in',
  detectionCategory: 'custom',
  systemPrompt: 'Judge it.\nTwice.',
  detectionQuery: 'SELECT 1',
  detectionCadence: 'hourly',
};
const minimal = 'detectionCategory: custom\nsystemPrompt: p\ndetectionQuery: q\n';
const get = async (id: string) => (await org.call('GET', `/api/detections/${id}`)).body;
const readText = (name: string): string => readFileSync(join(folder, name), 'utf8');
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const edit = (name: string, from: string | RegExp, to: string): void => {
  const before = readText(name);
  const after = before.replace(from, to);
  expect(after).not.toBe(before);
  write(name, after);
};
/** Expects that the files and the service have the same. */
const expectNoChanges = async (): Promise<void> => expect((await tocsin('plan', '--check')).code).toBe(0);
const names = (): string[] => readdirSync(folder).toSorted();

test('pulls, plans and applies edits, and each command is idempotent', async () => {
  const ids = [await create(), await create({ tags: ['a'], enabled: false, entityField: 'user' })];
  expect((await tocsin('pull')).code).toBe(0);
  expect(names()).toEqual(['root-logs-in-2.yaml', 'root-logs-in.yaml', lockFileName]);
  const bytes = names().map(readText);
  expect((await tocsin('pull')).out).toContain('0 written');
  expect(names().map(readText)).toEqual(bytes);
  expect(await tocsin('plan', '--check')).toEqual({
    code: 0,
    out: '0 to create, 0 to change, 0 to delete, 2 unchanged\n',
  });
  edit('root-logs-in-2.yaml', 'Judge it.', 'Judge it well.');
  edit('root-logs-in-2.yaml', /tags:\n\s+- a/, 'tags: [a, b]');
  const planned = await tocsin('plan', '--check');
  expect(planned.code).toBe(3);
  expect(planned.out).toContain('~ root-logs-in-2.yaml\n    tags: ["a"] → ["a","b"]\n');
  expect(planned.out).toContain('    systemPrompt:\n      - Judge it.\n      + Judge it well.\n');
  const dry = await tocsin('apply', '--dry-run');
  expect([dry.code, (await get(ids[1]!)).tags]).toEqual([0, ['a']]);
  expect((await tocsin('apply')).out).toContain('1 applied');
  expect(await get(ids[1]!)).toMatchObject({
    tags: ['a', 'b'],
    enabled: false,
    activeSystemPrompt: { prompt: 'Judge it well.\nTwice.', version: 2 },
  });
  expect((await get(ids[0]!)).revision).toBe(1);
  await expectNoChanges();
});

test('creates detections of a hand-written folder once, and resets a removed field to its default', async () => {
  write('mine.yaml', `name: Mine\n${minimal}customCronSchedule: "5  * * * *"\ndescription: d\ntags: [T]\n`);
  expect((await tocsin('apply')).code).toBe(0);
  // Without the lock, existing detections are recognized by name.
  rmSync(join(folder, lockFileName));
  expect((await tocsin('apply')).out).toContain('1 unchanged');
  const { detections } = (await org.call('GET', '/api/detections')).body;
  expect(detections).toHaveLength(1);
  expect(detections[0]).toMatchObject({ tags: ['t'], customCronSchedule: '5 * * * *', enabled: true });
  edit('mine.yaml', /customCron[\s\S]*/, '');
  expect((await tocsin('apply')).code).toBe(0);
  expect(await get(detections[0].id)).toMatchObject({ tags: [], description: '', cronSchedule: null, enabled: false });
});

test('applies nothing if a detection changed in the service', async () => {
  const [one, two] = [await create({ name: 'One' }), await create({ name: 'Two' })];
  await tocsin('pull');
  await org.call('PUT', `/api/detections/${one}`, { description: 'theirs' });
  edit('one.yaml', 'SELECT 1', 'SELECT 11');
  edit('two.yaml', 'SELECT 1', 'SELECT 2');
  const refused = await tocsin('apply');
  expect(refused.code).toBe(1);
  expect(refused.out).toContain('! one.yaml: changed in the service since the last pull or apply');
  expect((await get(two)).detectionQuery).toBe('SELECT 1');
  expect(await tocsin('pull')).toMatchObject({ code: 1, out: expect.stringContaining('kept     one.yaml') });
  expect(readText('one.yaml')).toContain('SELECT 11');
  expect((await tocsin('apply', '--force')).code).toBe(0);
  expect(await get(one)).toMatchObject({ description: '', detectionQuery: 'SELECT 11' });
  expect((await get(two)).detectionQuery).toBe('SELECT 2');
});

test('pull updates files that changed only in the service and removes deleted ones', async () => {
  const [one, two] = [await create({ name: 'One' }), await create({ name: 'Two' })];
  await tocsin('pull');
  await org.call('PUT', `/api/detections/${one}`, { name: 'Renamed' });
  await org.call('DELETE', `/api/detections/${two}`);
  expect((await tocsin('plan')).out).toContain('! two.yaml: deleted in the service');
  expect((await tocsin('pull')).code).toBe(0);
  expect(names()).toEqual(['one.yaml', lockFileName]);
  expect(readText('one.yaml')).toContain('name: Renamed');
});

test('deletes only with --prune, and only detections that once had a file', async () => {
  const mine = await create({ name: 'Mine' });
  await tocsin('pull');
  const other = await create({ name: 'Other' });
  rmSync(join(folder, 'mine.yaml'));
  expect((await tocsin('apply')).out).toContain('? mine.yaml: its file was removed');
  expect((await get(mine)).deletedAt).toBe(null);
  expect((await tocsin('apply', '--prune')).out).toContain('- mine.yaml');
  expect((await get(mine)).deletedAt).not.toBe(null);
  expect((await get(other)).deletedAt).toBe(null);
  expect((await tocsin('plan', '--prune', '--check')).code).toBe(0);
});

test('reports what the service rejects by file and field, and applies the rest', async () => {
  write('bad.yaml', `name: Bad\nmodelAlias: nobody\n${minimal}`);
  write('good.yaml', `name: Good\n${minimal}`);
  const { code, out } = await tocsin('apply');
  expect(code).toBe(1);
  expect(out).toMatch(/bad\.yaml: modelAlias: .*nobody/);
  expect(out).toContain('1 applied, 1 failed');
  write('worse.yaml', 'nam: x\n');
  expect((await tocsin('plan')).out).toContain('worse.yaml:1: nam: is not a field of a detection');
  expect((await runCommand(['plan', folder], { TOCSIN_URL: url })).code).toBe(2);
  expect((await runCommand(['plan'], { TOCSIN_URL: url })).code).toBe(2);
  const file = await runCommand(['pull', join(folder, 'bad.yaml')], { TOCSIN_URL: url });
  expect(file).toMatchObject({ code: 2, out: expect.stringContaining('bad.yaml is not a folder') });
});

test('synchronizes test cases, and plan lists those that differ', async () => {
  const id = await create({ siemType: 'splunk' });
  const url = `/api/detections/${id}/tests`;
  const [a, b] = ['a', 'b'].map((name) => ({ name, events: [{ user: name, n: 1 }], expect: [name] }));
  expect((await org.call('PUT', url, { tests: [a, b], localQuery: 'SELECT 1\nAS n' })).status).toBe(200);
  expect((await tocsin('pull')).code).toBe(0);
  const text = readText('root-logs-in.yaml');
  expect(text).toContain('localQuery: |-\n  SELECT 1\n  AS n\n');
  expect(text).toContain('- { user: b, n: 1 }');
  await expectNoChanges();
  edit('root-logs-in.yaml', 'n: 1 }', 'n: 2 }');
  edit('root-logs-in.yaml', 'name: b', 'name: c');
  const planned = await tocsin('plan', '--check');
  expect([planned.code, planned.out.split('\n').slice(0, 5)]).toEqual([
    3,
    ['~ root-logs-in.yaml', '    tests:', '      - "b"', '      ~ "a"', '      + "c"'],
  ]);
  const { revision } = await get(id);
  expect((await tocsin('apply')).out).toContain('1 applied');
  expect((await get(id)).revision).toBe(revision);
  expect((await org.call('GET', url)).body).toEqual({
    tests: [
      { ...a, events: [{ user: 'a', n: 2 }] },
      { ...b, name: 'c' },
    ],
    localQuery: 'SELECT 1\nAS n',
  });
  await expectNoChanges();
  // The detection changed in the service in between.
  await org.call('PUT', url, { tests: [] });
  edit('root-logs-in.yaml', 'n: 2 }', 'n: 3 }');
  expect((await tocsin('apply')).out).toContain('! root-logs-in.yaml: changed in the service');
  expect((await tocsin('apply', '--force')).code).toBe(0);
  rmSync(join(folder, lockFileName));
  await org.call('DELETE', `/api/detections/${id}`);
  expect((await tocsin('apply')).out).toContain('+ root-logs-in.yaml');
  const [created] = (await org.call('GET', '/api/detections')).body.detections;
  const { tests } = (await org.call('GET', `/api/detections/${created.id}/tests`)).body;
  expect(tests[0].events).toEqual([{ user: 'a', n: 3 }]);
  await expectNoChanges();
});

test('runs the command in the GitHub action, with its output and exit code', async () => {
  await create();
  await tocsin('pull');
  edit('root-logs-in.yaml', 'SELECT 1', 'SELECT 2');
  const { runs } = parse(readFileSync(join(root, 'action.yml'), 'utf8')) as { runs: { steps: { run: string }[] } };
  const run = async (command: string, flags = ''): Promise<unknown> => {
    const env = {
      PATH: process.env['PATH'] ?? '',
      GITHUB_ACTION_PATH: root,
      GITHUB_STEP_SUMMARY: join(folder, 'summary'),
      COMMAND: command,
      FOLDER: folder,
      FLAGS: flags,
      TOCSIN_URL: url,
      TOCSIN_API_KEY: org.key,
    };
    return (await once(spawn('bash', ['-e', '-c', runs.steps[1]!.run], { env, stdio: 'ignore' }), 'exit'))[0];
  };
  expect(await run('rm')).toBe(2);
  expect(await run('test', `--junit ${join(folder, 'junit.xml')}`)).toBe(0);
  expect(readText('summary')).toContain('none  root-logs-in.yaml has no tests');
  expect(readText('junit.xml')).toContain('<testsuites name="tocsin" tests="0"');
  expect(await run('plan', '--check --prune')).toBe(3);
  expect(readText('summary')).toContain('~ root-logs-in.yaml');
  expect(await run('apply')).toBe(0);
  expect(await run('plan', '--check')).toBe(0);
});

test('shows removed and added lines, and escapes control characters of a prompt for the terminal', () => {
  expect(diffLines(['a', 'b', 'c'], ['a', 'x', 'c', 'd'])).toEqual(['- b', '+ x', '+ d']);
  expect(diffLines(['a'], ['a'])).toEqual([]);
  const changes = [{ field: 'systemPrompt', before: 'a\nb', after: 'a\n\u001B[2Jc' }];
  const printed = renderPlan([{ kind: 'conflict', file: 'a.yaml', reason: 'changed', changes }]);
  expect(printed).toContain(String.raw`      + \u001b[2Jc`);
});

test('reports an unknown API key by the name of its setting', async () => {
  for (const [key, message] of [
    ['no-key-of-this-service', 'the API key in TOCSIN_API_KEY'],
    ['no-key-that-a-request-can-carry-✓', 'printable ASCII'],
  ] as const) {
    org = { ...org, key };
    expect(await tocsin('pull')).toMatchObject({ code: 1, out: expect.stringContaining(message) });
  }
});

test('keeps response agents with their triggers in files beside detections', async () => {
  await create();
  const call = async (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) =>
    (await org.call(method, path, body)).body;
  const inputs = [{ type: 'number', name: 'days', description: 'Span', required: true }];
  const agent = { name: 'Look into it', systemPrompt: 'Look.', toolNames: ['get_rows'], inputs };
  const { id } = await call('POST', '/api/agents', agent);
  await call('PUT', `/api/agents/${id}/schedule`, { inputs: { days: 7 } });
  const ofHit = { source: 'hit.created', name: 'Severe', filter: { severity: 'high' }, inputs: { days: { value: 1 } } };
  await call('POST', `/api/agents/${id}/triggers`, ofHit);
  const hook = { source: 'webhook', inputs: { days: { from: '/days' } }, enabled: false };
  await call('POST', `/api/agents/${id}/triggers`, hook);
  expect((await tocsin('pull')).out).toContain('2 written');
  const file = parse(readText('look-into-it.yaml'));
  expect(file).toEqual({
    agentType: 'response',
    ...agent,
    scheduleInputs: { days: 7 },
    triggers: [ofHit, { ...hook, name: 'webhook' }],
  });
  await expectNoChanges();
  expect((await tocsin('test')).code).toBe(0);
  // Changes of the record and of what starts it, in one apply.
  edit('look-into-it.yaml', 'systemPrompt: Look.', 'systemPrompt: Look twice.');
  edit('look-into-it.yaml', 'severity: high', 'severity: low');
  edit('look-into-it.yaml', 'name: webhook', 'name: Tickets');
  edit('look-into-it.yaml', /scheduleInputs:\n {2}days: 7/, 'scheduleInputs:\n  days: 30');
  expect((await tocsin('plan')).out).toContain('1 to change');
  expect((await tocsin('apply')).code).toBe(0);
  expect(await call('GET', `/api/agents/${id}`)).toMatchObject({
    activeSystemPrompt: { prompt: 'Look twice.', version: 2 },
  });
  expect(await call('GET', `/api/agents/${id}/triggers`)).toMatchObject({
    triggers: [{ filter: { severity: 'low' } }, { name: 'Tickets', enabled: false }],
  });
  expect(await call('GET', `/api/agents/${id}/schedule`)).toMatchObject({ inputs: { days: 30 } });
  await expectNoChanges();
  // A new file creates one, and a removed file deletes one with --prune.
  write(
    'new.yaml',
    'agentType: response\nname: New\nsystemPrompt: Look.\ntriggers:\n  - { source: hit.created, name: All }\n',
  );
  rmSync(join(folder, 'look-into-it.yaml'));
  expect((await tocsin('apply', '--prune')).code).toBe(0);
  const { agents } = await call('GET', '/api/agents?type=response');
  expect(agents.filter((one: { isBuiltIn: boolean }) => !one.isBuiltIn)).toMatchObject([
    { name: 'New', triggerSummary: [{ name: 'All', enabled: true }] },
  ]);
  await expectNoChanges();
  for (const [text, message] of [
    ['agentType: robot', 'agentType: must be detection or response'],
    ['agentType: response\ndetectionQuery: SELECT 1', 'detectionQuery: is not a field of a response agent'],
    ['triggers: []', 'triggers: is not a field of a detection'],
    ['agentType: response\ntriggers: [{source: webhook}, {source: webhook}]', 'triggers: must have different names'],
  ]) {
    write('wrong.yaml', `${text}\nname: N\nsystemPrompt: S\n`);
    expect(await tocsin('plan')).toMatchObject({ code: 1, out: expect.stringContaining(message!) });
  }
});
