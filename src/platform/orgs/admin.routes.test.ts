import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { adminEnv, adminKey } from '../../../test/support/admin-key.ts';
import { callOk, postDetection } from '../../../test/support/detection/detection-factory.ts';
import { startApp } from '../../../test/support/harness.ts';
import { runCommand } from '../../../test/support/run-command.ts';
import { selectIn } from '../../../test/support/select-rows.ts';

const { app, deps, url, dataDir, newOrg } = await startApp({ env: adminEnv });

/** How records show the key. */
const operator = `installation key ${createHash('sha256').update(adminKey).digest('hex').slice(0, 8)}`;

async function call(method: 'GET' | 'POST' | 'PUT', path: string, body?: object, key = adminKey, headers = {}) {
  const response = await app.inject({
    method,
    url: `/api/admin/organizations${path}`,
    headers: { authorization: `Bearer ${key}`, ...headers },
    ...(body && { payload: body }),
  });
  return { status: response.statusCode, body: response.json() };
}
const askAs = async (key: string, url: string) =>
  (await app.inject({ url, headers: { authorization: `Bearer ${key}` } })).statusCode;

test('creates an organization with a key that works immediately, and lists it', async () => {
  const { status, body } = await call('POST', '', { name: 'created' });
  expect([status, body]).toMatchObject([
    200,
    { name: 'created', suspendedAt: null, key: expect.stringMatching(/^tcs_/) },
  ]);
  expect(await askAs(body.key, '/api/detections')).toBe(200);
  expect(await call('POST', '', { name: 'created' })).toMatchObject({ status: 409, body: { code: 'conflict' } });
  const { organizations, nextCursor } = (await call('GET', '?limit=1')).body;
  expect(organizations).toMatchObject([{ id: body.id, name: 'created' }]);
  expect(organizations[0]).not.toHaveProperty('key');
  await newOrg();
  const rest = (await call('GET', `?cursor=${encodeURIComponent(nextCursor ?? '')}`)).body;
  expect(JSON.stringify(rest)).not.toContain(body.id);
});

test('tags organizations, filters by a tag, and audits a change once', async () => {
  const { body: org } = await call('POST', '', { name: 'tagged', tags: ['trial', 'a.tag'] });
  expect(org.tags).toEqual(['a.tag', 'trial']);
  const listed = async (tag: string) => (await call('GET', `?tag=${tag}`)).body.organizations as { id: string }[];
  expect((await listed('a.tag')).map(({ id }) => id)).toEqual([org.id]);
  for (const _time of [1, 2])
    expect((await call('PUT', `/${org.id}/tags`, { tags: ['b', 'a.tag', 'b'] })).body).toMatchObject({ id: org.id, tags: ['a.tag', 'b'] });
  expect(await listed('trial')).toEqual([]);
  const entries = await selectIn(deps.db, org.id)`
    select actor, before::jsonb - 'etag' as before, after::jsonb - 'etag' as after from audit where action = 'organization.tags_changed' order by id`;
  expect(entries).toEqual([
    { actor: operator, before: { name: 'tagged', tags: [] }, after: { name: 'tagged', tags: ['a.tag', 'trial'] } },
    { actor: operator, before: { name: 'tagged', tags: ['a.tag', 'trial'] }, after: { name: 'tagged', tags: ['a.tag', 'b'] } },
  ]);
  for (const tags of [['Upper'], [''], ['-x'], ['with space'], Array.from({ length: 51 }, (_, n) => `t${n}`)])
    expect(await call('PUT', `/${org.id}/tags`, { tags }), tags[0]).toMatchObject({ status: 400 });
  expect((await call('GET', '?tag=Upper')).body.errors[0].pointer).toBe('query/tag');
  expect((await call('PUT', `/${org.id.replace(/.{12}$/, '000000000000')}/tags`, { tags: [] })).status).toBe(404);

  const command = (...args: string[]) =>
    runCommand(['org', ...args], { DATABASE_URL: url, TOCSIN_DATA_DIR: dataDir, TOCSIN_LOG_LEVEL: 'silent' });
  const changed = await command('tags', 'tagged', '--add', 'c', '--remove', 'b');
  expect([changed.code, changed.out.trim()]).toEqual([0, 'a.tag\nc']);
  expect((await command('list', '--tag', 'c')).out).toMatch(new RegExp(`^${org.id}  \\S+  tagged  a\\.tag, c\\s*$`));
  expect((await command('create', 'tagged too', '--tag', 'c', '--json')).out).toContain('"c"');
  expect(await command('tags', 'tagged', '--add', 'Upper')).toMatchObject({ code: 2, out: expect.stringContaining('--add: Upper must') });
}); // prettier-ignore

test('replays the first response to an Idempotency-Key, without the secret', async () => {
  const create = (name: string) => call('POST', '', { name }, adminKey, { 'idempotency-key': 'a-key-of-the-operator' });
  const first = await create('created once');
  const { key: _key, ...organization } = first.body;
  expect(await create('created once')).toEqual({
    status: 200,
    body: { ...organization, key: null, code: 'secret_already_shown' },
  });
  expect(await create('another')).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } });
  // An organization may use the same text as its own key.
  const org = await newOrg();
  const own = await org.call('POST', '/api/keys', { name: 'own' }, { 'idempotency-key': 'a-key-of-the-operator' });
  expect(own.body).toMatchObject({ name: 'own', key: expect.stringMatching(/^tcs_/) });
});

test('says what an organization uses, and of no other', async () => {
  const [org, other] = [await newOrg(), await newOrg()];
  await org.call('POST', '/api/logs/auth', '{"user":"ada"}\n{"user":"bo"}');
  await postDetection(org);
  await callOk(org, 'POST', '/api/feed/items', { text: 'Acme hit by Emotet. It came from evil-bank[.]top.' });
  const { usage } = (await call('GET', `/${org.id}`)).body;
  expect(usage).toMatchObject({
    detections: 1,
    logDatasets: 1,
    logEvents: 2,
    feedItems: 1,
    activeKeys: 1,
    modelTokens: 0,
  });
  expect(usage.logBytes).toBeGreaterThan(0);
  const unused = (await call('GET', `/${other.id}`)).body.usage;
  expect({ ...unused, activeKeys: 0 }).toEqual(Object.fromEntries(Object.keys(usage).map((name) => [name, 0])));
});

test('suspends and resumes', async () => {
  const org = await newOrg();
  const suspended = await call('POST', `/${org.id}/suspend`);
  expect(suspended).toMatchObject({ status: 200, body: { id: org.id, suspendedAt: expect.any(String), suspendedBy: operator } });
  expect((await org.call('GET', '/api/detections')).body.code).toBe('organization_suspended');
  expect((await call('POST', `/${org.id}/resume`)).body).toMatchObject({ suspendedAt: null, suspendedBy: null });
  const entries = selectIn(deps.db, org.id)`select action from audit where actor = ${operator} order by id`;
  expect(await entries).toEqual([{ action: 'organization.suspended' }, { action: 'organization.resumed' }]);
  const unknown = '00000000-0000-7000-8000-000000000000';
  for (const [method, path] of [['GET', `/${unknown}`], ['POST', `/${unknown}/suspend`], ['POST', `/${unknown}/resume`]] as const)
    expect(await call(method, path)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect((await call('GET', '/nonsense')).status).toBe(400);
}); // prettier-ignore

test('the key of the installation opens no organization, and no other key opens the administration', async () => {
  const org = await newOrg();
  expect(await askAs(adminKey, '/api/detections')).toBe(401);
  expect(await call('GET', '', undefined, org.key)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  expect((await call('GET', '', undefined, `${adminKey}x`)).status).toBe(401);
  const cookie = String(
    (await app.inject({ method: 'POST', url: '/api/session', payload: { key: org.key } })).headers['set-cookie'],
  );
  expect((await app.inject({ url: '/api/admin/organizations', headers: { cookie } })).statusCode).toBe(401);
});

test('without a key of the installation, every key is refused', async () => {
  const without = await startApp();
  for (const authorization of [`Bearer ${adminKey}`, 'Bearer ', 'Bearer undefined', ''])
    expect((await without.app.inject({ url: '/api/admin/organizations', headers: { authorization } })).statusCode).toBe(
      401,
    );
});
