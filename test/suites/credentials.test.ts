import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { operatorOf, scopes, type Caller } from '../../src/platform/http/caller.ts';
import { createKey } from '../../src/platform/orgs/keys.ts';
import { createSignInLink } from '../../src/platform/orgs/sessions/sessions.ts';
import { adminEnv } from '../support/admin-key.ts';
import { startApp, type TestOrg } from '../support/harness.ts';
import { root } from '../support/program.ts';
import { registeredRoutes } from '../support/registered-routes.ts';
import { selectIn } from '../support/select-rows.ts';

/**
 * Calls every route with a key, and with its session, that lacks two scopes and expires. Whatever a route creates, changes or returns must not be
 * worth more. The ids in the paths are those of credentials that are.
 */
const { app, deps, newOrg } = await startApp({ env: { ...adminEnv, TOCSIN_LOG_LEVEL: 'fatal' } });
const org = await newOrg();
const missing = ['feed:admin', 'privacy:admin'];
const granted = scopes.filter((scope) => !missing.includes(scope));
const expiresAt = new Date(Date.now() + 3_600_000).toISOString();

type Worth = { orgId: string; scopes: string[]; expiresAt: Date | null };
type Credential = Worth & { id: string; hash: string };
type Method = Parameters<TestOrg['call']>[0];
type Content = { example?: unknown; schema?: { properties?: Record<string, unknown> } };
type Operation = { requestBody?: { content: Record<string, Content> } };

const { paths } = JSON.parse(readFileSync(join(root, 'openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
};

/** Reads every credential, with what it opens now. */
function readCredentials(): Promise<Credential[]> {
  return selectIn(deps.db)<Credential>`
    select id, organization_id as "orgId", scopes, expires_at as "expiresAt",
      encode(secret_hash, 'hex') || coalesce(encode(previous_secret_hash, 'hex'), '') as hash from api_keys
    union all
    select s.id::text, s.organization_id, coalesce(k.scopes, s.scopes), least(s.expires_at, k.expires_at), encode(token_hash, 'hex')
      from console_sessions s left join api_keys k on k.id = s.key_id
    union all
    select encode(token_hash, 'hex'), organization_id, scopes, expires_at, encode(token_hash, 'hex') from sign_in_links`;
}

test('reads every table of credentials', async () => {
  const found = await selectIn(deps.db)<{ name: string }>`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public' and data_type = 'bytea' and column_name ~ 'token|secret' order by 1`;
  const read = ['api_keys.previous_secret_hash', 'api_keys.secret_hash', 'console_sessions.token_hash', 'sign_in_links.token_hash'];
  expect(found.map(({ name }) => name), 'Add a new credential to readCredentials.').toEqual(read);
}); // prettier-ignore

/** The bodies to try: the example of the document, and the same with the most that can be asked for. */
function bodiesOf(method: string, path: string): unknown[] {
  if (path === '/api/session') return [{ key: weak.key }];
  const content = paths[path]?.[method.toLowerCase()]?.requestBody?.content['application/json'];
  const example = content?.example ?? {};
  const has = (name: string): boolean => content?.schema?.properties?.[name] !== undefined;
  const { scopes: _scopes, expiresAt: _expiresAt, ...rest } = example as Record<string, unknown>;
  const asked = has('scopes') ? [{}, { scopes: granted }, { scopes: [...scopes] }] : [{}];
  const ends = has('expiresAt') ? [{}, { expiresAt: null }, { expiresAt: '2999-01-01T00:00:00.000Z' }] : [{}];
  const most = asked.flatMap((some) => ends.map((end) => ({ ...rest, ...some, ...end })));
  return [...new Map([example, ...most].map((body) => [JSON.stringify(body), body])).values()];
}

const weak = await createKey(deps, operatorOf(org.id), { name: 'weak', scopes: granted, expiresAt });
const strong = /^tcs_([0-9a-f]+)_/.exec(org.key)![1]!;
await createSignInLink(deps.db, operatorOf(org.id), scopes);

async function signIn(key: string): Promise<string> {
  const { headers } = await app.inject({ method: 'POST', url: '/api/session', payload: { key } });
  return String(headers['set-cookie']).split(';')[0]!;
}
await signIn(org.key);
const [session] = (await org.call('GET', '/api/sessions')).body.sessions;

const isWithin = (worth: Worth): boolean =>
  worth.orgId === org.id &&
  worth.scopes.every((scope) => granted.includes(scope as never)) &&
  worth.expiresAt !== null &&
  worth.expiresAt <= new Date(expiresAt);

/** Returns the callers that the credentials in a response open. */
async function openedBy(text: string, cookies: string): Promise<Caller[]> {
  const keys = text.match(/tcs_[0-9a-f]{18}_[A-Za-z0-9_-]{32}/g) ?? [];
  const tokens = [...cookies.matchAll(/tocsin_session=([\w-]{43})/g)].map(([, token]) => token);
  const callers = await Promise.all([
    ...keys.map((key) => deps.auth.findCaller(`Bearer ${key}`)),
    ...tokens.map((token) => deps.sessions.findCaller(token)),
  ]);
  return callers.filter((caller) => caller !== undefined);
}

const order = (method: string): number => (method === 'DELETE' ? 1 : 0);
const routes = registeredRoutes(app).toSorted((a, b) => order(a.method) - order(b.method));

describe.each([
  ['a key', () => Promise.resolve({ authorization: `Bearer ${weak.key}` })],
  ['a session', async () => ({ cookie: await signIn(weak.key!), 'x-tocsin-console': '1' })],
])('called with %s', (caller, headersOf) => {
  const seen: string[] = [];
  const called = routes.filter(({ method }) => method !== 'GET' || caller === 'a key');
  test.each(called)('$method $path yields nothing that is worth more', async ({ method, path }) => {
    const headers = await headersOf();
    const before = new Set((await readCredentials()).map(({ id: one, hash }) => `${one} ${hash}`));
    const worths: Worth[] = [];
    for (const id of [strong, session.id]) {
      for (const payload of bodiesOf(method, path)) {
        const url = path.replaceAll(/\{[^}]+\}/g, id);
        const body = method === 'GET' ? {} : { payload: payload as object };
        const response = await app.inject({ method: method as Method, url, headers, ...body });
        const opened = await openedBy(response.payload, String(response.headers['set-cookie'] ?? ''));
        worths.push(...opened.map((one) => ({ ...one, scopes: [...one.scopes] })));
      }
      if (!path.includes('{')) break;
    }
    worths.push(...(await readCredentials()).filter(({ id: one, hash }) => !before.has(`${one} ${hash}`)));
    if (worths.length > 0) seen.push(`${method} ${path}`);
    expect(worths.filter((worth) => !isWithin(worth))).toEqual([]);
  });

  test('sees the credentials of the routes that yield some', () => {
    expect([...new Set(seen)].toSorted()).toEqual(['POST /api/keys', 'POST /api/session']);
  });
}); // prettier-ignore
