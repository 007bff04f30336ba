import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { callOk, postDetection } from '../../../test/support/detection/detection-factory.ts';
import { operatorOf, scopes, type Scope } from '../http/caller.ts';
import { createKey } from './keys.ts';
import { createSignInLink } from './sessions/sessions.ts';

const { app, deps, newOrg } = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });
const hourMs = 3_600_000;
const inHours = (hours: number): string => new Date(Date.now() + hours * hourMs).toISOString();
const idOf = (key: string): string => /^tcs_([0-9a-f]+)_/.exec(key)![1]!;

type Request = Pick<TestOrg, 'call'>['call'];
/** Returns a function that calls with this key. */
const withKey =
  (key: string): Request =>
  async (method, url, payload) => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await app.inject({ method, url, headers, payload: (payload ?? {}) as object });
    return { status: response.statusCode, body: response.json(), headers: response.headers };
  };

/** Signs in and returns a function that calls with the session. */
async function withSession(url: string, payload: object): Promise<Request> {
  const signedIn = await app.inject({ method: 'POST', url, payload });
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0]!;
  return async (method, path, body) => {
    const headers = { cookie, 'x-tocsin-console': '1' };
    const response = await app.inject({ method, url: path, headers, payload: (body ?? {}) as object });
    return { status: response.statusCode, body: response.json(), headers: response.headers };
  };
}

async function newKey(org: TestOrg, granted: readonly Scope[], expiresAt: string | null = null) {
  const made = await createKey(deps, operatorOf(org.id), { name: 'k', scopes: [...granted], expiresAt });
  return { id: made.id, key: made.key!, call: withKey(made.key!) };
}

test('refuses the secret of a key that is worth more than the caller', async () => {
  const org = await newOrg();
  const admin = await newKey(org, ['keys:admin']);
  const expiring = await newKey(org, scopes, inHours(1));
  const later = await newKey(org, ['keys:admin'], inHours(2));
  const rotate = async (by: Request, id: string) => (await by('POST', `/api/keys/${id}/rotate`)).status;
  expect(await rotate(admin.call, idOf(org.key))).toBe(403);
  expect(await rotate(admin.call, expiring.id)).toBe(403);
  expect(await rotate(expiring.call, admin.id)).toBe(403);
  expect(await rotate(expiring.call, later.id)).toBe(403);
  expect((await org.call('GET', '/api/keys')).status).toBe(200);
  expect(await rotate(later.call, later.id)).toBe(200);
  expect(await rotate(admin.call, later.id)).toBe(200);
  expect(await rotate(withKey((await newOrg()).key), admin.id)).toBe(404);
});

test('ends a key no later than the key that creates it', async () => {
  const org = await newOrg();
  const end = inHours(1);
  const { call } = await newKey(org, ['keys:admin', 'hits:read'], end);
  const create = async (fields: object) => {
    const { status, body } = await call('POST', '/api/keys', { name: 'made', ...fields });
    return status === 200 ? body.expiresAt : status;
  };
  expect(await create({})).toBe(end);
  expect(await create({ expiresAt: end })).toBe(end);
  const earlier = inHours(0.5);
  expect(await create({ expiresAt: earlier })).toBe(earlier);
  expect(await create({ expiresAt: inHours(2) })).toBe(403);
  expect(await create({ expiresAt: null })).toBe(403);
  expect(await create({ scopes: ['hits:write'] })).toBe(403);
  const { body } = await org.call('POST', '/api/keys', { name: 'made' });
  expect(body.expiresAt).toBeNull();
});

test('ends a session, and what it creates, with the credential that signed in', async () => {
  const org = await newOrg();
  const end = inHours(1);
  const { key } = await newKey(org, ['keys:admin'], end);
  const signedIn = await app.inject({ method: 'POST', url: '/api/session', payload: { key } });
  expect(signedIn.json().expiresAt).toBe(end);
  const call = await withSession('/api/session', { key });
  expect((await call('POST', '/api/keys', { name: 'made' })).body.expiresAt).toBe(end);
  expect((await call('POST', '/api/keys', { name: 'made', expiresAt: null })).status).toBe(403);
});

test('a secret that was replaced ends with its overlap, and so does everything that it creates', async () => {
  const org = await newOrg();
  const { id, key, call } = await newKey(org, ['keys:admin']);
  const before = await withSession('/api/session', { key });
  const limit = new Date(Date.now() + 2 * hourMs);
  expect((await org.call('POST', `/api/keys/${id}/rotate`, { overlapSeconds: 3600 })).status).toBe(200);
  const after = await withSession('/api/session', { key });
  for (const request of [call, before, after]) {
    const { body } = await request('POST', '/api/keys', { name: 'made' });
    expect(body.expiresAt).not.toBeNull();
    expect(new Date(body.expiresAt) < limit).toBe(true);
    expect((await request('POST', `/api/keys/${id}/rotate`)).status).toBe(403);
  }
  const { sessions } = await callOk(org, 'GET', '/api/sessions');
  expect(sessions.map(({ expiresAt }: { expiresAt: string }) => new Date(expiresAt) < limit)).toEqual([true, true]);
});

test('a session without a key is not the operator, who may read files of the machine', async () => {
  const org = await newOrg();
  const token = await createSignInLink(deps.db, operatorOf(org.id), scopes);
  const call = await withSession('/api/session/link', { token });
  const source = { kind: 'rss', name: 'passwd', url: 'file:///etc/passwd', visibility: 'private' };
  const { status, body } = await call('POST', '/api/feed/sources', source);
  expect([status, body.errors?.[0].pointer]).toEqual([400, '/url']);
});

test('a link has no scope that its author lacks', async () => {
  const org = await newOrg();
  const caller = { ...operatorOf(org.id), scopes: new Set(['hits:read']) };
  await expect(createSignInLink(deps.db, caller, ['hits:read', 'keys:admin'])).rejects.toThrow('keys:admin');
});

test('a destination receives nothing that its author may not read', async () => {
  const org = await newOrg();
  const { call } = await newKey(org, ['connections:admin', 'detections:read']);
  const url = 'http://127.0.0.1:9/hook';
  const destination = { kind: 'webhook', name: 'mine', url };
  expect((await call('POST', '/api/destinations', destination)).status).toBe(403);
  expect((await call('POST', '/api/destinations', { ...destination, eventTypes: ['gap.opened'] })).status).toBe(200);
  const { id } = await callOk(org, 'POST', '/api/destinations', destination);
  const change = async (fields: object) => (await call('PUT', `/api/destinations/${id}`, fields)).status;
  expect(await change({ name: 'renamed' })).toBe(200);
  expect(await change({ url: `${url}/mine` })).toBe(403);
  expect(await change({ eventTypes: ['hit.created', 'feed.item.added'] })).toBe(403);
  expect(await change({ eventTypes: ['hit.created', 'gap.opened'] })).toBe(200);
});

test('grants a tool only to those who may read what it sends', async () => {
  const org = await newOrg();
  const { id } = await postDetection(org);
  const grant = (call: Request) => call('PUT', `/api/detections/${id}/tools/http_get`, { url: 'https://a.example/{entity}' });
  expect((await grant((await newKey(org, ['connections:admin'])).call)).status).toBe(403);
  expect((await grant((await newKey(org, ['connections:admin', 'detections:read'])).call)).status).toBe(200);
}); // prettier-ignore

test('the console explains every scope', () => {
  const texts = readFileSync('web/src/texts/scopes.ts', 'utf8');
  const explained = [...texts.matchAll(/^ {2}'(\w+:\w+)': '/gm)].map(([, scope]) => scope!);
  expect(explained.toSorted()).toEqual(scopes.toSorted());
});
