import { createServer } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { strToU8, zipSync } from 'fflate';
import { pack } from 'tar-stream';
import { afterAll, expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { closeServer, listen } from '../../../test/support/listen.ts';
import { runCommand } from '../../../test/support/run-command.ts';
import { checkNextSource } from './update-rules.ts';

let now = new Date('2026-03-02T12:00:00Z');
const { app, deps, newOrg } = await startApp({ clock: () => now, env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });

let archive: Buffer = Buffer.alloc(0);
let validators: Record<string, string | undefined> = {};
let slow: { asked: () => void; answered: Promise<void> } | undefined;
const server = createServer(async (request, response) => {
  if (request.url === '/slow.zip' && slow) {
    slow.asked();
    await slow.answered;
  }
  validators[request.url!] = request.headers['if-none-match'];
  const etag = `"${archive.length}"`;
  if (request.url === '/gone') response.writeHead(404).end();
  else if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
  else response.writeHead(200, { etag }).end(archive);
});
const origin = await listen(server);
afterAll(() => closeServer(server));

type RuleText = { n: number; level?: string; status?: string; logSource?: string; image?: string };
const processes = '{product: windows, category: process_creation}';
const rule = ({
  n,
  level = 'high',
  status = 'test',
  logSource = processes,
  image = 'cmd.exe',
}: RuleText) => `title: Rule ${n}
id: 00000000-0000-4000-8000-00000000000${n}
status: ${status}
level: ${level}
logsource: ${logSource}
detection: {s: {Image|endswith: '\\${image}'}, condition: s}
`;

function toZip(rules: string[]): Buffer {
  const files = rules.map((text, index): [string, Uint8Array] => [`rules/${index}.yml`, strToU8(text)]);
  return Buffer.from(zipSync(Object.fromEntries([...files, ['LICENSE', strToU8('x')]])));
}

async function toTarGz(rules: string[]): Promise<Buffer> {
  const tar = pack();
  for (const [index, text] of rules.entries()) tar.entry({ name: `sigma/rules/${index}.yaml` }, text);
  tar.entry({ name: 'sigma/README.md' }, 'not: [a rule');
  tar.finalize();
  return gzipSync(await buffer(tar));
}

async function newSource(more: object = {}): Promise<{ org: TestOrg; id: string }> {
  const org = await newOrg();
  const events = ['cmd.exe', 'cmd.exe', 'calc.exe'].map((image) => ({
    '@timestamp': '2026-03-02T10:00:00Z',
    EventID: 1,
    Channel: 'Microsoft-Windows-Sysmon/Operational',
    Hostname: 'ws-7',
    Image: `C:\\Windows\\${image}`,
    CommandLine: image,
  }));
  await callOk(org, 'POST', '/api/logs/windows', events);
  const { id } = await callOk(org, 'POST', '/api/rule-sources', { name: 'Ours', url: `${origin}/rules.zip`, ...more });
  return { org, id };
}

async function check(): Promise<void> {
  validators = {};
  while (await checkNextSource(deps, new AbortController().signal));
}

const read = (org: TestOrg, id: string, path = '') => callOk(org, 'GET', `/api/rule-sources/${id}${path}`);
const apply = (org: TestOrg, id: string, body: object) => org.call('POST', `/api/rule-sources/${id}/update`, body);
const readEvents = (text: string): unknown[] =>
  text
    .trim()
    .split('\n\n')
    .map((event) => event.split('\n').map((line) => line.replace(/^\w+: /, '')))
    .map(([type, data]) => [type, JSON.parse(data!)]);
const namesOf = async (org: TestOrg) =>
  ((await callOk(org, 'GET', '/api/detections')).detections as { name: string }[]).map(({ name }) => name).toSorted();

test('checks the sources of other organizations while one waits for a slow address', async () => {
  archive = toZip([rule({ n: 1 })]);
  const [waiting, other] = [await newOrg(), await newOrg()];
  const add = (org: TestOrg, name: string, url: string) =>
    callOk(org, 'POST', '/api/rule-sources', { name, url: `${origin}${url}` });
  for (const name of ['First', 'Second']) await add(waiting, name, '/slow.zip');
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  slow = { asked: asked.resolve, answered: answered.promise };
  const checkNext = () => checkNextSource(deps, new AbortController().signal);
  const checking = checkNext();
  await asked.promise;
  const { id } = await add(other, 'Ours', '/rules.zip');
  expect([await checkNext(), await checkNext()]).toEqual([true, false]);
  expect(await read(other, id)).toMatchObject({ failure: null, available: expect.any(String) });
  answered.resolve();
  await checking;
  slow = undefined;
  expect([await checkNext(), await checkNext()]).toEqual([true, false]);
});

test('proposes the rules that fit the logs, the level and the status, and imports them enabled', async () => {
  archive = toZip([
    rule({ n: 1 }),
    rule({ n: 2, image: 'calc.exe' }),
    rule({ n: 3, level: 'low' }),
    rule({ n: 4, status: 'experimental' }),
    rule({ n: 5, logSource: '{product: aws, service: cloudtrail}' }),
    'title: broken\n',
  ]);
  const { org, id } = await newSource();
  expect((await org.call('GET', `/api/rule-sources/${id}/update`)).body).toMatchObject({ code: 'conflict' });
  await check();
  const plan = await read(org, id, '/update');
  expect(plan).toMatchObject({
    created: [
      { name: 'Rule 1', level: 'high', dataset: 'windows', detectionId: null, matches24h: 2 },
      { name: 'Rule 2', matches24h: 1 },
    ],
    updated: [],
    removed: [],
    leftOut: {
      byLevel: 1,
      byStatus: 1,
      notConverted: 1,
      withoutLogs: 1,
      missingLogs: [{ logSource: 'aws/cloudtrail', rules: 1 }],
    },
  });
  expect(await namesOf(org)).toEqual([]);
  expect((await apply(org, id, { version: 'ffffffffffff' })).status).toBe(409);
  expect((await apply(org, id, { version: plan.version })).body).toEqual({
    version: plan.version,
    created: 2,
    updated: 0,
    removed: 0,
    failed: [],
  });
  const again = await org.call(
    'POST',
    `/api/rule-sources/${id}/update`,
    { version: plan.version },
    { accept: 'text/event-stream' },
  );
  expect(readEvents(again.body)).toEqual([
    ['progress', { phase: 'converting', rulesDone: 0, rulesTotal: null }],
    ['progress', { phase: 'storing', rulesDone: 0, rulesTotal: 2 }],
    ['progress', { phase: 'storing', rulesDone: 2, rulesTotal: 2 }],
    ['result', { version: plan.version, created: 0, updated: 0, removed: 0, failed: [] }],
  ]);
  expect((await callOk(org, 'GET', '/api/detections')).detections).toMatchObject([
    { enabled: true, continuous: true },
    { enabled: true, continuous: true },
  ]);
  expect(await read(org, id)).toMatchObject({
    version: plan.version,
    available: plan.version,
    rules: 2,
    failure: null,
  });
});

test('a later version shows what it adds, changes and lacks, and leaves the rules of others alone', async () => {
  archive = await toTarGz([rule({ n: 1 }), rule({ n: 2 })]);
  const { org, id } = await newSource({ url: `${origin}/later` });
  await callOk(org, 'POST', '/api/detections/import?format=sigma', { rules: rule({ n: 9 }) });
  await check();
  const first = (await read(org, id)).available;
  await apply(org, id, { version: first });
  now = new Date(now.getTime() + 86_400_000);
  await check();
  expect(validators['/later']).toBe(`"${archive.length}"`);
  expect((await read(org, id, '/update')).unchanged).toBe(2);
  archive = await toTarGz([rule({ n: 1, level: 'critical' }), rule({ n: 3 })]);
  await callOk(org, 'POST', `/api/rule-sources/${id}/check`);
  await check();
  const plan = await read(org, id, '/update');
  expect(plan).toMatchObject({
    created: [{ name: 'Rule 3' }],
    updated: [{ name: 'Rule 1', level: 'critical' }],
    removed: [{ name: 'Rule 2' }],
  });
  expect((await apply(org, id, { version: plan.version })).body).toMatchObject({ created: 1, updated: 1, removed: 0 });
  expect((await apply(org, id, { version: plan.version, removeMissing: true })).body).toMatchObject({ removed: 1 });
  expect(await namesOf(org)).toEqual(['Rule 1', 'Rule 3', 'Rule 9']);
  await callOk(org, 'DELETE', `/api/rule-sources/${id}`);
  expect(await namesOf(org)).toEqual(['Rule 1', 'Rule 3', 'Rule 9']);
});

test('says why an address or an archive cannot be used, and keeps the last archive', async () => {
  archive = toZip([rule({ n: 1 })]);
  const { org, id } = await newSource();
  await check();
  const { available } = await read(org, id);
  await callOk(org, 'PUT', `/api/rule-sources/${id}`, { url: `${origin}/gone` });
  await check();
  expect(await read(org, id)).toMatchObject({
    available,
    failure: expect.stringContaining('responded with status 404'),
  });
  for (const [bytes, reason] of [
    [toZip([]), 'the archive contains no .yml files'],
    [Buffer.from('PK\u0003\u0004 damaged'), 'the archive cannot be unpacked'],
    [Buffer.from([0x1f, 0x8b, 1, 2]), 'the archive cannot be unpacked'],
    [Buffer.from([0xff, 0xfe, 0x00]), 'the file is not UTF-8 text'],
  ] as const) {
    archive = bytes;
    await callOk(org, 'PUT', `/api/rule-sources/${id}`, { url: `${origin}/${reason.length}-${bytes.length}` });
    await check();
    expect((await org.call('GET', `/api/rule-sources/${id}/update`)).body.detail).toBe(
      `The archive cannot be used: ${reason}.`,
    );
  }
});

test('names the field that is not valid, and belongs to one organization', async () => {
  const { org, id } = await newSource();
  const post = async (more: object) =>
    (await org.call('POST', '/api/rule-sources', { name: 'Other', url: 'sigmahq:core', ...more })).body;
  expect(await post({})).toMatchObject({ url: 'sigmahq:core', minLevel: 'medium', statuses: ['stable', 'test'] });
  for (const [more, pointer] of [
    [{}, '/name'],
    [{ url: 'sigmahq:nope' }, '/url'],
    [{ url: 'https://user:secret@example.com/a.zip' }, '/url'],
    [{ minLevel: 'huge' }, '/minLevel'],
    [{ statuses: [] }, '/statuses'],
  ] as const)
    expect(await post(more)).toMatchObject({ errors: [{ pointer }] });
  const stranger = await newOrg();
  expect((await stranger.call('GET', `/api/rule-sources/${id}`)).status).toBe(404);
  expect((await stranger.call('GET', '/api/rule-sources')).body.ruleSources).toEqual([]);
});

test('is added, checked, applied and removed from the command line', async () => {
  now = new Date('2026-03-02T12:00:00Z');
  archive = toZip([rule({ n: 1 }), rule({ n: 2, level: 'low' })]);
  const { org, id } = await newSource();
  await callOk(org, 'DELETE', `/api/rule-sources/${id}`);
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const tocsin = async (...args: string[]) => {
    const command = runCommand(['rule-sources', ...args], { TOCSIN_URL: url, TOCSIN_API_KEY: org.key });
    const state = { isOver: false };
    void command.finally(() => (state.isOver = true));
    while (!state.isOver) {
      await check();
      await setTimeout(20);
    }
    return command;
  };
  expect((await tocsin('add', 'ftp://x')).out).toMatch(/^ADDRESS: must be an http/);
  expect((await tocsin('add', `${origin}/ours.zip`, '--level', 'huge')).out).toMatch(/^--level: /);
  const added = await tocsin('add', `${origin}/ours.zip`, '--name', 'Ours');
  expect(added.code).toBe(0);
  expect(added.out.split('\n').slice(0, 3)).toEqual([
    expect.stringMatching(/^Ours {2}version [0-9a-f]{12}: 1 new, 0 changed, 0 no longer there, 0 unchanged$/),
    'left out: 0 without logs, 1 by level, 0 by status, 0 not converted',
    '  2 events in 24 hours  high  Rule 1',
  ]);
  expect((await tocsin('apply', 'Ours', '--dry-run', '--level', 'low')).code).toBe(2);
  expect((await tocsin('apply', 'Our')).out).toContain('did you mean Ours?');
  expect((await tocsin('apply', 'Ours', '--level', 'low')).out).toMatch(
    /Ours {2}version [0-9a-f]{12}: 2 created, 0 updated, 0 deleted, 0 failed\n$/,
  );
  archive = toZip([rule({ n: 1 })]);
  now = new Date(now.getTime() + 60_000);
  const checked = await tocsin('check');
  expect([checked.code, checked.out]).toEqual([0, expect.stringMatching(/2 rules.*, not imported\n$/)]);
  expect((await tocsin('apply', 'Ours', '--remove-missing')).out).toContain('0 created, 0 updated, 1 deleted');
  expect((await tocsin('list')).out).toMatch(/ {2}Ours {2}.*\nnot added {2}sigmahq:core {2}SigmaHQ core: /);
  expect((await tocsin('remove', 'Ours')).out).toBe('removed  Ours: its detections stay\n');
});
