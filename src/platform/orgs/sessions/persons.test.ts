import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { callOk } from '../../../../test/support/detection/detection-factory.ts';
import { acrossOrgs } from '../../db/db.ts';
import { roleScopes } from '../../http/caller.ts';

const { app, deps, newOrg, newKey } = await startApp();
const tokenOf = ({ link }: { link: string }): string => link.split('#')[1]!;

/** Opens a link on any machine. Returns the status and the cookie. */
async function openLink(token: string): Promise<{ status: number; cookie: string; code: string }> {
  const url = '/api/session/link';
  const response = await app.inject({ method: 'POST', url, payload: { token }, remoteAddress: '192.0.2.9' });
  const cookie = String(response.headers['set-cookie']).split(';')[0]!;
  return { status: response.statusCode, cookie, code: response.json().code };
}

async function callAs(cookie: string, method: 'GET' | 'PATCH' | 'POST', url: string, payload?: object) {
  const headers = { cookie, 'x-tocsin-console': '1' };
  const response = await app.inject({ method, url, headers, ...(payload && { payload }) });
  return { status: response.statusCode, body: response.json() };
}

const invite = (org: TestOrg, name: string, role: string) => callOk(org, 'POST', '/api/persons', { name, role });

test('an invited person signs in once with the scopes of the role, which follow it, until disabled', async () => {
  const org = await newOrg();
  const { roles } = await callOk(org, 'GET', '/api/roles');
  expect(roles).toEqual(Object.entries(roleScopes).map(([role, scopes]) => ({ role, scopes })));
  const ada = await invite(org, 'ada@example.com', 'viewer');
  expect(ada).toMatchObject({ role: 'viewer', issuer: null, disabled: false, signedInAt: null });
  const stored = await acrossOrgs(deps.db, (tx) =>
    sql<{ row: string }>`select t::text as row from sign_in_links t`.execute(tx),
  );
  expect(JSON.stringify(stored.rows)).not.toContain(tokenOf(ada));
  const { cookie, status } = await openLink(tokenOf(ada));
  expect(status).toBe(200);
  expect((await openLink(tokenOf(ada))).status).toBe(401);
  const session = (await callAs(cookie, 'GET', '/api/session')).body;
  expect(session).toMatchObject({ subject: 'ada@example.com', personId: ada.id });
  expect(session.scopes).toEqual(roleScopes.viewer.toSorted());

  const path = `/api/persons/${ada.id}`;
  expect(await callOk(org, 'PATCH', path, { role: 'analyst' })).toMatchObject({ role: 'analyst', invitedUntil: null });
  expect((await callAs(cookie, 'GET', '/api/session')).body.scopes).toEqual(roleScopes.analyst.toSorted());

  const second = await callOk(org, 'POST', `${path}/link`);
  const third = await callOk(org, 'POST', `${path}/link`);
  expect((await openLink(tokenOf(second))).status).toBe(401);
  expect(await callOk(org, 'PATCH', path, { disabled: true })).toMatchObject({ disabled: true, invitedUntil: null });
  expect((await callAs(cookie, 'GET', '/api/session')).status).toBe(401);
  expect((await openLink(tokenOf(third))).status).toBe(401);
  expect((await org.call('POST', `${path}/link`)).status).toBe(409);
  await callOk(org, 'PATCH', path, { disabled: false });
  expect((await callAs(cookie, 'GET', '/api/session')).status).toBe(401);

  const { entries } = await callOk(org, 'GET', '/api/audit?action=person.');
  expect(entries.map(({ action }: { action: string }) => action)).toEqual([
    'person.changed',
    'person.changed',
    'person.linked',
    'person.linked',
    'person.changed',
    'person.invited',
  ]);
  expect(JSON.stringify(entries)).not.toContain(tokenOf(third));
  expect((await callOk(org, 'GET', '/api/persons')).persons).toHaveLength(1);
  expect((await org.call('POST', '/api/persons', { name: 'ADA@example.com', role: 'viewer' })).status).toBe(400);
  expect((await (await newOrg()).call('PATCH', path, { disabled: true })).status).toBe(404);
});

test('nobody gives a role that is worth more than the caller, and a link expires', async () => {
  const org = await newOrg();
  const weak = await newKey(org, ['keys:admin', ...roleScopes.analyst]);
  const call = (method: 'POST' | 'PATCH', path: string, body?: object) =>
    weak.call(method, `/api/persons${path}`, body);
  const grace = await invite(weak, 'grace@example.com', 'analyst');
  const root = await invite(org, 'root@example.com', 'administrator');
  expect((await call('POST', '', { name: 'eve@example.com', role: 'engineer' })).status).toBe(403);
  expect((await call('PATCH', `/${grace.id}`, { role: 'administrator' })).status).toBe(403);
  expect((await call('POST', `/${root.id}/link`)).status).toBe(403);
  // A leaked account must not wait for somebody with all of its scopes.
  expect((await call('PATCH', `/${root.id}`, { disabled: true })).status).toBe(200);
  expect((await call('PATCH', `/${root.id}`, { disabled: false })).status).toBe(403);
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const { key } = await callOk(org, 'POST', '/api/keys', {
    name: 'short',
    scopes: ['keys:admin', 'hits:read'],
    expiresAt,
  });
  const payload = { name: 'late@example.com', role: 'viewer' };
  const short = await app.inject({
    method: 'POST',
    url: '/api/persons',
    payload,
    headers: { authorization: `Bearer ${key}` },
  });
  expect(short.statusCode).toBe(403);
  await acrossOrgs(deps.db, (tx) =>
    sql`update sign_in_links set expires_at = now() - interval '1 second' where person_id = ${grace.id}`.execute(tx),
  );
  expect((await openLink(tokenOf(grace))).status).toBe(401);
});
