import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';
import { acrossOrgs } from '../../db/db.ts';
import { operatorOf } from '../../http/caller.ts';
import { createSignInLink } from './sessions.ts';

const { app, deps, newOrg, newKey } = await startApp({ env: { TOCSIN_SESSION_IDLE_MINUTES: '10' } });
const console = { 'x-tocsin-console': '1' };

type Options = { payload?: unknown; cookie?: string; headers?: Record<string, string> };
async function request(method: 'GET' | 'POST' | 'DELETE', url: string, { payload, cookie, headers }: Options = {}) {
  const response = await app.inject({
    method,
    url,
    headers: { ...(cookie !== undefined && { cookie }), ...headers },
    ...(payload !== undefined && { payload: payload as object }),
  });
  return { status: response.statusCode, body: response.json(), headers: response.headers };
}

async function signIn(key: string, headers: Record<string, string> = {}) {
  const { status, headers: sent } = await request('POST', '/api/session', { payload: { key }, headers });
  expect(status).toBe(200);
  const cookie = String(sent['set-cookie']);
  return { cookie: cookie.split(';')[0]!, attributes: cookie };
}

describe('signing in', () => {
  test('exchanges a key for a cookie that scripts and other sites cannot use', async () => {
    const org = await newOrg();
    const { attributes } = await signIn(org.key);
    expect(attributes).toMatch(/^tocsin_session=[\w-]{43}; /);
    expect(attributes).toContain('HttpOnly');
    expect(attributes).toContain('SameSite=Strict');
    expect(attributes).not.toContain('Secure');
    expect((await signIn(org.key, { 'x-forwarded-proto': 'https' })).attributes).toContain('Secure');
  });

  test('gives the session the organization and the scopes of the key', async () => {
    const org = await newOrg();
    const { cookie } = await signIn((await newKey(org, ['hits:read'])).key);
    const { body } = await request('GET', '/api/session', { cookie });
    expect(body).toMatchObject({ organization: { id: org.id, name: org.name }, scopes: ['hits:read'] });
    expect((await request('GET', '/api/hits', { cookie })).status).toBe(200);
    expect((await request('GET', '/api/keys', { cookie })).status).toBe(403);
  });

  test.each(['wrong', 'tcs_000000000000000000_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'])('refuses the key %s', async (key) => {
    expect((await request('POST', '/api/session', { payload: { key } })).status).toBe(401);
  });

  test('accepts a link once, and not after it expired', async () => {
    const org = await newOrg();
    const token = await createSignInLink(deps.db, operatorOf(org.id), ['hits:read']);
    const first = await request('POST', '/api/session/link', { payload: { token } });
    expect(first.status).toBe(200);
    expect((await request('POST', '/api/session/link', { payload: { token } })).status).toBe(401);
    const late = await createSignInLink(deps.db, operatorOf(org.id), ['hits:read']);
    await acrossOrgs(deps.db, (tx) =>
      sql`update sign_in_links set expires_at = now() - interval '1 second'`.execute(tx),
    );
    expect((await request('POST', '/api/session/link', { payload: { token: late } })).status).toBe(401);
  });

  test('refuses a link from another machine', async () => {
    const token = await createSignInLink(deps.db, operatorOf((await newOrg()).id), ['hits:read']);
    const url = '/api/session/link';
    const response = await app.inject({ method: 'POST', url, payload: { token }, remoteAddress: '192.0.2.9' });
    expect(response.statusCode).toBe(403);
  });
});

describe('a session', () => {
  test('changes something only with the header of the console, from the same site', async () => {
    const { cookie } = await signIn((await newOrg()).key);
    const change = (headers: Record<string, string>) =>
      request('POST', '/api/keys', { cookie, payload: { name: 'x' }, headers });
    expect((await change({})).status).toBe(403);
    expect((await change({ ...console, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await change({ ...console, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  test('ends when it is signed out, ended by another one, or its key is revoked', async () => {
    const org = await newOrg();
    const isOpen = async (cookie: string) => (await request('GET', '/api/session', { cookie })).status === 200;
    const [left, ended, orphaned] = [await signIn(org.key), await signIn(org.key), await newKey(org, ['hits:read'])];
    await request('DELETE', '/api/session', { cookie: left.cookie, headers: console });
    expect(await isOpen(left.cookie)).toBe(false);
    const { sessions } = (await org.call('GET', '/api/sessions')).body;
    await org.call('DELETE', `/api/sessions/${sessions[0].id}`);
    expect(await isOpen(ended.cookie)).toBe(false);
    const { cookie } = await signIn(orphaned.key);
    expect(await isOpen(cookie)).toBe(true);
    const keyId = /^tcs_([0-9a-f]+)/.exec(orphaned.key)![1]!;
    await org.call('DELETE', `/api/keys/${keyId}`);
    expect(await isOpen(cookie)).toBe(false);
  });

  test('ends with the overlap when the secret of its key is rotated', async () => {
    const org = await newOrg();
    const key = await newKey(org, ['hits:read']);
    const keyId = /^tcs_([0-9a-f]+)/.exec(key.key)![1]!;
    const statusOf = async (cookie: string) => (await request('GET', '/api/hits', { cookie })).status;
    const { cookie } = await signIn(key.key);
    const { body } = await org.call('POST', `/api/keys/${keyId}/rotate`, { overlapSeconds: 60 });
    expect(await statusOf(cookie)).toBe(200);
    const renewed = await signIn(body.key);
    await org.call('POST', `/api/keys/${keyId}/rotate`, { overlapSeconds: 0 });
    expect([await statusOf(cookie), await statusOf(renewed.cookie)]).toEqual([401, 401]);
  });

  test.each([
    ['unused for longer than the idle time', 'last_seen_at', 11],
    ['past its last day', 'expires_at', 1],
  ])('expires when it is %s', async (_name, column, minutes) => {
    const org = await newOrg();
    const { cookie } = await signIn(org.key);
    await acrossOrgs(deps.db, (tx) =>
      sql`update console_sessions set ${sql.ref(column)} = now() - ${minutes} * interval '1 minute' where organization_id = ${org.id}`.execute(
        tx,
      ),
    );
    expect((await request('GET', '/api/hits', { cookie })).status).toBe(401);
  });

  test('leaves nothing that it opened in the browser, and neither does a credential', async () => {
    const org = await newOrg();
    const { cookie } = await signIn(org.key);
    const cached = async (url: string, headers: Record<string, string>) =>
      (await app.inject({ url, headers })).headers['cache-control'];
    for (const url of ['/api/session', '/api/hits', '/items', '/api/feed/export/csv', '/api/hits/unknown'])
      expect(await cached(url, { cookie }), url).toBe('no-store');
    expect(await cached('/items', { authorization: `Bearer ${org.key}` })).toBe('private, no-cache');
    const made = await org.call('POST', '/api/keys', { name: 'made' });
    const rotated = await org.call('POST', `/api/keys/${made.body.id}/rotate`, {});
    expect([made.headers['cache-control'], rotated.headers['cache-control']]).toEqual(['no-store', 'no-store']);
  });

  test('is listed and ended only in its own organization', async () => {
    const [org, other] = [await newOrg(), await newOrg()];
    await signIn(org.key);
    const [session] = (await org.call('GET', '/api/sessions')).body.sessions;
    expect(session).toMatchObject({ subject: 'test', isCurrent: false });
    expect((await other.call('GET', '/api/sessions')).body.sessions).toEqual([]);
    expect((await other.call('DELETE', `/api/sessions/${session.id}`)).status).toBe(404);
  });

  test('of a link repeats a change with an idempotency key once, under the name of who signed in', async () => {
    const org = await newOrg();
    const token = await createSignInLink(deps.db, operatorOf(org.id), ['keys:admin']);
    const { headers } = await request('POST', '/api/session/link', { payload: { token } });
    const change = {
      cookie: String(headers['set-cookie']).split(';')[0]!,
      payload: { name: 'for-vector', scopes: ['keys:admin'] },
      headers: { ...console, 'idempotency-key': 'once' },
    };
    const created = await request('POST', '/api/keys', change);
    const repeated = await request('POST', '/api/keys', change);
    expect([created.status, repeated.body.id]).toEqual([200, created.body.id]);
    const { entries } = (await org.call('GET', '/api/audit')).body;
    expect(entries[0]).toMatchObject({ action: 'key.created', keyId: null, actor: 'Sign-in link' });
  });

  test('is stored as a hash', async () => {
    const org = await newOrg();
    const { cookie } = await signIn(org.key);
    const rows = await acrossOrgs(deps.db, (tx) =>
      sql<{ row: string }>`select t::text as row from console_sessions t`.execute(tx),
    );
    expect(JSON.stringify(rows.rows)).not.toContain(cookie.split('=')[1]);
  });
});
