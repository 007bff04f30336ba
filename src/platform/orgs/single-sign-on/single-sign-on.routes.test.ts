import { expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';

const publicUrl = 'https://tocsin.example.com/soc';
const { app } = await startApp({
  env: {
    TOCSIN_LOG_LEVEL: 'fatal',
    TOCSIN_PUBLIC_URL: publicUrl,
    TOCSIN_OIDC_ISSUER: 'https://127.0.0.1:9',
    TOCSIN_OIDC_CLIENT_ID: 'tocsin',
    TOCSIN_OIDC_GROUPS: '{"soc": {"scopes": ["hits:read"]}}',
  },
});
const base = '/api/session/single-sign-on';

async function visit(path: string, cookie = '') {
  const { statusCode, headers } = await app.inject({ url: `${base}${path}`, headers: { cookie } });
  const target = new URL(headers.location ?? 'about:blank');
  const { request: _, ...search } = Object.fromEntries(target.searchParams);
  return { status: statusCode, page: `${target.origin}${target.pathname}`, search, cookies: headers['set-cookie'] };
}

const attempt = (fields: object): string => {
  const value = { state: 's', nonce: 'n', verifier: 'v', next: '/console/hits', ...fields };
  return `tocsin_sign_in=${Buffer.from(JSON.stringify(value)).toString('base64url')}`;
};
const page = `${publicUrl}/console/sign-in`;

test('returns where to start', async () => {
  expect((await app.inject(base)).json()).toEqual({ url: `${publicUrl}${base}/start` });
});

test('does not reach a private provider that is not allowed, and leads to the sign-in page', async () => {
  const { status, search, ...rest } = await visit('/start?next=/console/hits');
  expect([status, rest.page, search]).toEqual([302, page, { problem: 'unavailable', next: '/console/hits' }]);
});

test.each(['https://evil.example', '//evil.example', '/api/hits', `/console/${'x'.repeat(2000)}`])(
  'leads nowhere else than to the console: %s',
  async (next) => {
    expect((await visit(`/start?next=${encodeURIComponent(next)}`)).search).toEqual({ problem: 'unavailable' });
    expect((await visit('/callback', attempt({ next }))).search).toEqual({ problem: 'expired' });
  },
);

test.each([
  ['no attempt', '?code=c&state=s', ''],
  ['another state', '?code=c&state=t', attempt({})],
  ['no state', '?code=c', attempt({})],
  ['an attempt that is not JSON', '?code=c&state=s', 'tocsin_sign_in=abc'],
  ['an incomplete attempt', '?code=c&state=s', attempt({ verifier: '' })],
])('refuses a response with %s, and starts no session', async (_name, search, cookie) => {
  const result = await visit(`/callback${search}`, cookie);
  expect([result.status, result.page, result.search['problem']]).toEqual([302, page, 'expired']);
  expect(String(result.cookies)).not.toContain('tocsin_session');
});

test('deletes the attempt when the response arrives', async () => {
  const { cookies, search } = await visit('/callback?code=c&state=s', attempt({}));
  expect(search).toEqual({ problem: 'unavailable', next: '/console/hits' });
  expect(String(cookies)).toMatch(/^tocsin_sign_in=; Max-Age=0; .*HttpOnly; SameSite=Lax/);
});
