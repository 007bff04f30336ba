import { expect, test } from 'vitest';
import { postDetection } from '../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { runCommand } from '../../../test/support/run-command.ts';
import { selectIn } from '../../../test/support/select-rows.ts';
import { executeDueRuns } from '../../detection/runs/workers/run-loops.ts';
import { claimDueSourceAcrossOrgs } from '../../feed/sources/sources.store.ts';
import { uuidv7 } from '../lib/ids.ts';
import { operatorOf } from '../http/caller.ts';
import { createSignInLink } from './sessions/sessions.ts';
import { signInWithProvider } from './single-sign-on/identity-provider.ts';

const start = Date.UTC(2026, 2, 2);
const at = (hours: number): Date => new Date(start + hours * 3_600_000);
const time = { now: at(0) };
const { app, deps, url, newOrg } = await startApp({ clock: () => time.now });

const command = (...args: string[]) => runCommand(['org', ...args], { DATABASE_URL: url, TOCSIN_LOG_LEVEL: 'silent' });

/** Calls with the organization's key as another process does, which has not verified the key before. */
function callAnew(org: TestOrg, path: string) {
  deps.auth.forgetKey(/^tcs_(\w+?)_/.exec(org.key)![1]!);
  return org.call('GET', path);
}

async function runsOf(org: TestOrg): Promise<number> {
  const [row] = await selectIn(deps.db, org.id)<{ n: number }>`select count(*)::int as n from runs`;
  return row!.n;
}

test('refuses requests and starts nothing while suspended, and makes up for it afterwards', async () => {
  const org = await newOrg();
  const other = await newOrg();
  for (const one of [org, other]) {
    await one.call('POST', '/api/logs/auth', '{"user":"ada","country":"de"}');
    await postDetection(one, { detectionCadence: 'hourly' });
  }
  const source = { kind: 'rss', name: 'Blog', url: 'https://blog.example/feed.xml', visibility: 'private' };
  expect((await org.call('POST', '/api/feed/sources', source)).status).toBe(200);
  const suspended = await command('suspend', org.name, '--json');
  expect([suspended.code, JSON.parse(suspended.out)]).toMatchObject([
    0,
    { id: org.id, suspendedAt: expect.any(String) },
  ]);
  const refused = await callAnew(org, '/api/detections');
  expect(refused.body).toMatchObject({ status: 403, code: 'organization_suspended' });
  expect((await callAnew(other, '/api/detections')).status).toBe(200);
  expect((await command('suspend', org.name, '--json')).out).toBe(suspended.out);
  expect((await command('list')).out).toMatch(new RegExp(`${org.name} {2}suspended$`, 'm'));

  time.now = at(3);
  await executeDueRuns(deps, at(3));
  expect(await runsOf(other)).toBeGreaterThan(0);
  const claimed = await claimDueSourceAcrossOrgs(deps.db, at(3), uuidv7());
  expect(claimed).toBeUndefined();

  expect((await command('resume', org.name)).code).toBe(0);
  expect((await callAnew(org, '/api/detections')).status).toBe(200);
  expect(await runsOf(org)).toBe(0);
  await executeDueRuns(deps, at(3));
  expect(await runsOf(org)).toBe(await runsOf(other));
  expect(await claimDueSourceAcrossOrgs(deps.db, at(3), uuidv7())).toMatchObject({ organization_id: org.id });
  const { entries } = (await org.call('GET', '/api/audit?action=organization.')).body;
  expect(entries.map(({ action }: { action: string }) => action)).toEqual([
    'organization.resumed',
    'organization.suspended',
    'organization.created',
  ]);
});

test('refuses a session of a suspended organization', async () => {
  const org = await newOrg();
  const signedIn = await app.inject({ method: 'POST', url: '/api/session', payload: { key: org.key } });
  const cookie = String(signedIn.headers['set-cookie']).split(';')[0]!;
  expect((await command('suspend', org.name)).code).toBe(0);
  const answer = await app.inject({ url: '/api/session', headers: { cookie } });
  expect(answer.json()).toMatchObject({ status: 403, code: 'organization_suspended' });
});

test('an unknown organization is an error', async () => {
  expect(await command('suspend', 'nobody')).toMatchObject({ code: 1, out: expect.stringContaining('not found') });
});

test('starts no session in a suspended organization, by key, link or single sign-on', async () => {
  const org = await newOrg();
  const token = await createSignInLink(deps.db, operatorOf(org.id), ['hits:read']);
  expect((await command('suspend', org.name)).code).toBe(0);
  const byKey = await app.inject({ method: 'POST', url: '/api/session', payload: { key: org.key } });
  const byLink = await app.inject({ method: 'POST', url: '/api/session/link', payload: { token } });
  for (const answer of [byKey, byLink]) {
    expect(answer.json()).toMatchObject({ status: 403, code: 'organization_suspended' });
    expect(answer.headers['set-cookie']).toBeUndefined();
  }
  const person = { issuer: 'https://id.example', subject: 'ada', name: 'ada', groups: ['soc'] };
  const provider = { start: () => Promise.reject(new Error('unused')), finish: () => Promise.resolve(person) };
  const groups = { soc: { organization: org.name, scopes: ['hits:read' as const] } };
  const attempt = { state: 's', nonce: 'n', verifier: 'v', next: '/console/' };
  const byProvider = signInWithProvider({ ...deps, provider, groups }, new URLSearchParams({ state: 's' }), attempt);
  await expect(byProvider).rejects.toMatchObject({ problem: 'suspended' });
});

test('ends the event stream of a session when its organization is suspended', async () => {
  const org = await newOrg();
  await app.inject({ method: 'POST', url: '/api/session', payload: { key: org.key } });
  const [session] = (await org.call('GET', '/api/sessions')).body.sessions;
  expect(await deps.sessions.isActive(org.id, session.id)).toBe(true);
  expect((await command('suspend', org.name)).code).toBe(0);
  expect(await deps.sessions.isActive(org.id, session.id)).toBe(false);
});
