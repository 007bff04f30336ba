import { beforeEach, expect, test } from 'vitest';
import { adminEnv, adminKey } from '../../../../test/support/admin-key.ts';
import { callOk, detectionBody, postDetection } from '../../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { runCommand } from '../../../../test/support/run-command.ts';
import { selectIn } from '../../../../test/support/select-rows.ts';
import { checkQuotas } from '../../../app/usage/usage-loops.ts';

const start = new Date('2026-03-02T18:00:00Z');
const time = { now: start };
const { app, deps, url, dataDir, newOrg } = await startApp({ env: adminEnv, clock: () => time.now });
beforeEach(() => {
  time.now = start;
});

async function administer(method: 'GET' | 'PUT', { id }: Pick<TestOrg, 'id'>, body?: object, headers = {}) {
  const response = await app.inject({
    method,
    url: `/api/admin/organizations/${id}/quotas`,
    headers: { authorization: `Bearer ${adminKey}`, ...headers },
    ...(body && { payload: body }),
  });
  return { status: response.statusCode, body: response.json(), etag: String(response.headers['etag']) };
}
const send = (org: TestOrg, text: string, dataset = 'auth') => org.call('POST', `/api/logs/${dataset}`, text);
const subscribe = (org: TestOrg) =>
  callOk(org, 'POST', '/api/destinations', {
    kind: 'webhook',
    name: 'quotas',
    url: 'https://hooks.example/quotas',
    eventTypes: ['quota.nearing', 'quota.reached', 'quota.freed'],
  });

test('sets, keeps, removes and audits quotas, of this organization alone', async () => {
  const [org, other] = [await newOrg(), await newOrg()];
  const none = await administer('GET', org);
  expect(none.body).toMatchObject({ quotas: { apiKeys: null, modelUsdPerDay: null }, states: [], updatedAt: null });
  const first = await administer('PUT', org, { apiKeys: 5, modelUsdPerDay: 0.5 }, { 'if-match': none.etag });
  expect(first).toMatchObject({ status: 200, body: { quotas: { apiKeys: 5, modelUsdPerDay: 0.5, feedSources: null } } });
  expect(first.body.states).toContainEqual({
    quota: 'apiKeys',
    limit: 5,
    used: 1,
    share: 0.2,
    level: 'free',
    resetsAt: null,
  });
  expect(await administer('PUT', org, { apiKeys: 6 }, { 'if-match': none.etag })).toMatchObject({ status: 412 });
  const second = await administer('PUT', org, { apiKeys: null }, { 'if-match': first.etag });
  expect(second.body.quotas).toMatchObject({ apiKeys: null, modelUsdPerDay: 0.5 });
  expect((await administer('GET', other)).body.updatedAt).toBeNull();
  // The organization sees its quotas and cannot change them.
  expect(await callOk(org, 'GET', '/api/quotas')).toEqual(second.body);
  expect((await org.call('PUT', `/api/admin/organizations/${org.id}/quotas`, { apiKeys: 9 })).status).toBe(403);
  const audited = await selectIn(deps.db, org.id)`
    select actor, before::jsonb ->> 'apiKeys' as before, after::jsonb ->> 'apiKeys' as after from audit where action = 'organization.quotas_changed' order by id`;
  const actor = expect.stringMatching(/^installation key /);
  expect(audited).toEqual([
    { actor, before: null, after: '5' },
    { actor, before: '5', after: null },
  ]);
  for (const [body, pointer] of [[{ apiKeys: -1 }, '/apiKeys'], [{ nonsense: 1 }, '/nonsense'], [{ requestsPerMinute: 0 }, '/requestsPerMinute']] as const)
    expect(await administer('PUT', org, body)).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
  expect((await administer('PUT', { id: '00000000-0000-7000-8000-000000000000' as never }, {})).status).toBe(404);
}); // prettier-ignore

test('refuses what exceeds a count, also if several requests arrive together, and nothing that exists', async () => {
  const [org, other] = [await newOrg(), await newOrg()];
  const existing = await postDetection(org, { enabled: true, detectionCadence: 'hourly' });
  await administer('PUT', org, { enabledDetections: 3, feedSources: 1, apiKeys: 2 });
  const bodies = Array.from({ length: 6 }, (_, n) =>
    detectionBody({ name: `Detection ${n}`, enabled: true, detectionCadence: 'hourly' }),
  );
  const answers = await Promise.all(bodies.map((body) => org.call('POST', '/api/detections', body)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 409, 409, 409, 409]);
  expect(answers.find(({ status }) => status === 409)!.body).toMatchObject({
    code: 'quota_reached',
    detail: expect.stringContaining('3 of the 3 enabled detections'),
    quota: { name: 'enabledDetections', limit: 3, used: 3, resetsAt: null },
  });
  // A detection that is not enabled does not count, until it is enabled.
  const disabled = await postDetection(org, { enabled: false, detectionCadence: 'hourly' });
  expect((await org.call('PUT', `/api/detections/${disabled.id}`, { enabled: true })).body.code).toBe('quota_reached');
  await callOk(org, 'PUT', `/api/detections/${existing.id}`, { name: 'Still editable' });
  await callOk(org, 'DELETE', `/api/detections/${existing.id}`);
  await callOk(org, 'PUT', `/api/detections/${disabled.id}`, { enabled: true });
  expect((await org.call('POST', `/api/detections/${existing.id}/restore`)).body.code).toBe('quota_reached');

  const source = { kind: 'rss', name: 'S', url: 'https://blog.example/f.xml' };
  const sources = await Promise.all([1, 2].map(() => org.call('POST', '/api/feed/sources', source)));
  expect(sources.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  const key = await callOk(org, 'POST', '/api/keys', { name: 'second' });
  expect((await org.call('POST', '/api/keys', { name: 'third' })).body).toMatchObject({ quota: { name: 'apiKeys' } });
  await callOk(org, 'DELETE', `/api/keys/${key.id}`);
  await callOk(org, 'POST', '/api/keys', { name: 'third' });
  for (const body of bodies) await callOk(other, 'POST', '/api/detections', body);
});

test('refuses logs beyond a daily quota with 429 until midnight, and keeps what was accepted', async () => {
  const [org, other] = [await newOrg(), await newOrg()];
  await administer('PUT', org, { logEventsPerDay: 3 });
  const body = '{"user":"ada"}\n{"user":"bo"}';
  expect((await send(org, body)).body).toMatchObject({ accepted: 2 });
  // The last batch may exceed the quota. It is not split.
  expect((await send(org, '{"user":"cy"}\n{"user":"di"}')).body).toMatchObject({ accepted: 2 });
  // A repetition of what was accepted is no new event.
  expect((await send(org, body)).body.duplicateOf).toBeTypeOf('string');
  const refused = await send(org, '{"user":"ed"}');
  expect(refused).toMatchObject({
    status: 429,
    headers: { 'retry-after': String(6 * 3600) },
    body: {
      code: 'quota_exceeded',
      quota: { name: 'logEventsPerDay', limit: 3, used: 4, resetsAt: '2026-03-03T00:00:00.000Z' },
    },
  });
  for (const [path, sent, answer] of [
    ['/services/collector/event', '{"event":"x"}', { code: 9 }],
    ['/elasticsearch/_bulk', '{"index":{"_index":"web"}}\n{"message":"x"}\n', { status: 429 }],
    ['/v1/logs', '{"resourceLogs":[]}', { code: 8 }],
  ] as const)
    expect(await org.call('POST', path, sent), path).toMatchObject({ status: 429, body: answer });
  expect((await send(other, '{"user":"ed"}')).body.accepted).toBe(1);
  expect((await callOk(org, 'GET', '/api/logs')).datasets).toMatchObject([{ name: 'auth', events: 4 }]);
  time.now = new Date('2026-03-03T00:00:01Z');
  // Refusals are remembered for some seconds.
  await expect.poll(async () => (await send(org, '{"user":"ed"}')).body).toMatchObject({ accepted: 1 });
});

test('a bulk request in which a quota is used up says so for each event, and what was accepted stays', async () => {
  const org = await newOrg();
  await administer('PUT', org, { logEventsPerDay: 2 });
  const bulk = (...events: [index: string, user: string][]): string =>
    events.map(([index, user]) => `{"create":{"_index":"${index}"}}\n{"user":"${user}"}\n`).join('');
  const body = bulk(['auth', 'ada'], ['web', 'bo'], ['auth', 'cy'], ['dns', 'di']);
  const refused = {
    status: 429,
    error: { type: 'es_rejected_execution_exception', reason: expect.stringContaining('2 log events') },
  };
  const { status, body: answer } = await org.call('POST', '/elasticsearch/_bulk', body);
  expect(status).toBe(200);
  expect(answer).toMatchObject({
    errors: true,
    items: [{ create: { status: 201 } }, { create: refused }, { create: { status: 201 } }, { create: refused }],
  });
  expect((await callOk(org, 'GET', '/api/logs')).datasets).toMatchObject([{ name: 'auth', events: 2 }]);
  // As long as nothing of a body can be accepted, the whole request is refused.
  expect((await org.call('POST', '/elasticsearch/_bulk', bulk(['web', 'bo'], ['dns', 'di']))).status).toBe(429);
});

test('several simultaneous batches exceed a quota by one each at most', async () => {
  const org = await newOrg();
  await administer('PUT', org, { logEventsPerDay: 1 });
  const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => send(org, `{"user":"u${n}"}`, `set_${n}`)));
  const accepted = answers.filter(({ status }) => status === 200).length;
  expect(accepted).toBeGreaterThan(0);
  expect((await send(org, '{"user":"later"}')).status).toBe(429);
  expect((await callOk(org, 'GET', '/api/quotas')).states).toMatchObject([{ used: accepted, level: 'reached' }]);
});

test('reports a quota that is nearly used, used up and free again, and stops logs when the stored size is reached', async () => {
  const org = await newOrg();
  await subscribe(org);
  for (let n = 0; n < 4; n += 1)
    await postDetection(org, { name: `Detection ${n}`, enabled: true, detectionCadence: 'hourly' });
  await send(org, '{"user":"ada"}');
  await administer('PUT', org, { enabledDetections: 5, logBytesStored: 10 });
  await checkQuotas(deps);
  const { quotas } = await callOk(org, 'GET', '/api/overview');
  expect(quotas).toMatchObject([
    { quota: 'logBytesStored', level: 'reached', limit: 10 },
    { quota: 'enabledDetections', level: 'nearing', used: 4, share: 0.8 },
  ]);
  expect((await app.inject('/metrics')).payload).toMatch(/tocsin_quotas_nearing \d+\n/);
  expect((await send(org, '{"user":"bo"}')).body).toMatchObject({
    code: 'quota_exceeded',
    quota: { name: 'logBytesStored', limit: 10, resetsAt: null },
  });
  await administer('PUT', org, { enabledDetections: 100, logBytesStored: null });
  await checkQuotas(deps);
  await checkQuotas(deps);
  const events = await selectIn(deps.db, org.id)<{ type: string; body: string }>`
    select type, body from outbox where type like 'quota.%' order by at, type`;
  expect(events.map(({ type }) => type).toSorted()).toEqual(['quota.freed', 'quota.nearing', 'quota.reached']);
  expect(JSON.parse(events.find(({ type }) => type === 'quota.reached')!.body)).toMatchObject({
    organizationId: org.id,
    data: { quota: 'logBytesStored', limit: 10, resetsAt: null },
  });
  expect(await selectIn(deps.db, org.id)`select from quota_alarms`).toEqual([]);
});

test('limits the requests of all keys of an organization together', async () => {
  const [org, other] = [await newOrg(), await newOrg()];
  await administer('PUT', org, { requestsPerMinute: 3 });
  const second = await callOk(org, 'POST', '/api/keys', { name: 'second' });
  const ask = async (key: string) => app.inject({ url: '/api/quotas', headers: { authorization: `Bearer ${key}` } });
  await ask(second.key);
  await ask(org.key);
  const refused = await ask(second.key);
  expect(refused.json()).toMatchObject({
    status: 429,
    code: 'quota_exceeded',
    quota: { name: 'requestsPerMinute', limit: 3 },
  });
  expect(refused.headers).toMatchObject({
    'retry-after': expect.stringMatching(/^\d+$/),
    'ratelimit-policy': '"organization";q=3;w=60',
  });
  for (let n = 0; n < 5; n += 1) expect((await ask(other.key)).statusCode).toBe(200);
});

test('tocsin org quotas shows and changes quotas, and explains wrong ones', async () => {
  const org = await newOrg();
  const command = (...args: string[]) =>
    runCommand(['org', 'quotas', org.name, ...args], {
      DATABASE_URL: url,
      TOCSIN_DATA_DIR: dataDir,
      TOCSIN_LOG_LEVEL: 'silent',
    });
  const { code, out } = await command('--set', 'apiKeys=1', '--set', 'logBytesPerDay=1000');
  expect([code, out]).toEqual([0, expect.stringMatching(/apiKeys +1 +1 used, 100 % +reached/)]);
  expect((await command('--set', 'apiKeys=none')).out).toMatch(/apiKeys +none/);
  for (const wrong of ['keys=1', 'apiKeys=', 'apiKeys=-2', 'apiKeys=1.5', 'apiKeys=many'])
    expect(await command('--set', wrong), wrong).toMatchObject({ code: 2, out: expect.stringContaining('--set') });
});
