import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createOrganization } from '../../../src/app/bootstrap.ts';
import { roleScopes, scopes } from '../../../src/platform/http/caller.ts';
import { findViolations } from '../../support/browser/axe.ts';
import { startConsole, startPages } from '../../support/browser/console.ts';
import { startIdentityProvider } from '../../support/browser/identity-provider.ts';
import { startReverseProxy } from '../../support/browser/reverse-proxy.ts';
import { raiseHits } from '../../support/browser/raise-hits.ts';
import { callOk } from '../../support/detection/detection-factory.ts';
import { startHits } from '../../support/detection/raised-hits.ts';
import type { TestOrg } from '../../support/harness.ts';

const proxy = await startReverseProxy();
// The service is at a path of the host.
const address = `${proxy.origin}/tocsin`;
const provider = await startIdentityProvider({
  redirectUri: `${address}/api/session/single-sign-on/callback`,
  groups: { ada: ['everyone', 'soc'], grace: ['soc-leads', 'soc'], mallory: ['everyone'], linus: ['soc', 'engineers'] },
});
const started = await startConsole({
  env: {
    TOCSIN_PUBLIC_URL: address,
    TOCSIN_FETCH_ALLOW: 'localhost',
    TOCSIN_OIDC_ISSUER: provider.issuer,
    TOCSIN_OIDC_CLIENT_ID: provider.clientId,
    TOCSIN_OIDC_CLIENT_SECRET: provider.clientSecret,
    TOCSIN_OIDC_SCOPES: provider.scope,
    TOCSIN_OIDC_GROUPS: JSON.stringify({
      soc: { organization: 'acme', scopes: ['hits:read', 'detections:read'] },
      engineers: { organization: 'acme', role: 'engineer' },
      'soc-leads': { organization: 'acme', scopes: ['hits:read', 'keys:admin', 'audit:read'] },
    }),
  },
});
proxy.target = started.origin;
const acme = await createOrganization(started.deps, 'acme');
const org = await started.newKey(acme as TestOrg, scopes);
const { openBlank } = await startPages(started);

async function openPage(path: string) {
  const page = await openBlank();
  await page.goto(`${address}/console${path}`);
  return page;
}

async function signInAs(page: Page, login: string) {
  await page.getByRole('link', { name: 'Continue with single sign-on' }).click();
  await page.locator('[name=login]').fill(login);
  await page.locator('[name=password]').fill('any');
  await page.locator('[type=submit]').click();
}

test('signs in with the scopes of all groups, and leads back to the page that was asked for', async () => {
  const page = await openPage('/settings/sessions?x=1');
  await signInAs(page, 'grace');
  await page.getByText('This session').waitFor();
  expect(new URL(page.url()).pathname).toBe('/tocsin/console/settings/sessions');
  await page.getByRole('list', { name: 'Sessions' }).getByText('grace@example.com').waitFor();
  const [cookie] = await page.context().cookies(`${address}/api/hits`);
  expect(cookie).toMatchObject({ name: 'tocsin_session', httpOnly: true, sameSite: 'Strict' });
  const session = await page.evaluate(() => fetch('/tocsin/api/session').then((response) => response.json()));
  expect(session).toMatchObject({
    organization: { name: 'acme' },
    scopes: ['audit:read', 'detections:read', 'hits:read', 'keys:admin'],
  });
});

test('names the person in the audit log', async () => {
  const page = await openPage('/settings/keys');
  await signInAs(page, 'grace');
  await page.getByRole('button', { name: 'Create key' }).waitFor();
  await page.evaluate(() =>
    fetch('/tocsin/api/keys', {
      method: 'POST',
      headers: { 'x-tocsin-console': '1', 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'for-vector', scopes: ['hits:read'] }),
    }),
  );
  await page.getByRole('link', { name: 'Audit log' }).click();
  await page.getByRole('button', { name: /key.created.*grace@example.com/ }).waitFor();
  const { entries } = await callOk(org, 'GET', '/api/audit');
  const signedIn = entries.find(({ action }: { action: string }) => action === 'session.created');
  expect(signedIn).toMatchObject({
    actor: 'grace@example.com',
    keyId: null,
    after: { provider: { issuer: provider.issuer, subject: 'grace' } },
  });
});

test('names the person in the timeline of a hit, at a run and at a verdict on an item', async () => {
  const id = await raiseHits(started, org, ['ada']);
  await callOk(org, 'POST', '/api/feed/items', { text: 'Acme Bank hit by Emotet\nEmotet ran PowerShell.' });
  const page = await openPage('/hits');
  await signInAs(page, 'linus');
  await page.getByRole('option').first().click();
  await page.getByRole('heading', { name: 'Facts' }).waitFor();
  const panel = page.getByRole('complementary');
  await page.keyboard.press('2');
  await page.getByLabel('Why? (optional)').fill('a test account');
  await page.keyboard.press('Enter');
  await panel.getByText('by linus@example.com').waitFor();
  await page.goto(`${address}/console/feed`);
  await page.getByRole('option').first().click();
  await panel.getByRole('heading', { name: 'Versions' }).waitFor();
  await page.keyboard.press('2');
  await page.getByLabel('Why? (optional)').fill('no such bank');
  await page.keyboard.press('Enter');
  await panel.getByText('by linus@example.com').waitFor();
  await page.evaluate(
    ([url, body]) =>
      fetch(url!, {
        method: 'POST',
        headers: { 'x-tocsin-console': '1', 'content-type': 'application/json' },
        body: body!,
      }),
    [
      `/tocsin/api/detections/${id}/run`,
      JSON.stringify({ from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date().toISOString() }),
    ],
  );
  const { runs } = await callOk(org, 'GET', `/api/detections/${id}/runs`);
  const requested = runs.find(({ actor }: { actor: string | null }) => actor === 'linus@example.com');
  await page.goto(`${address}/console/runs/${requested.id}`);
  await page.getByText('By hand by linus@example.com').waitFor();
});

test('lists the person, who becomes the owner of an incident, and refuses the person once disabled', async () => {
  const hits = await startHits(started.deps.db, acme.id);
  await hits.raise([
    { name: 'signs in', at: 0, entity: 'eve', severity: 'high' },
    { name: 'exports', at: 2, entity: 'eve' },
  ]);
  await hits.place();
  const page = await openPage('/incidents');
  await signInAs(page, 'linus');
  await page.getByRole('button', { name: /eve: 2 hits/ }).click();
  await page.getByRole('button', { name: 'Assign', exact: true }).click();
  await page.getByRole('menuitemradio', { name: 'linus@example.com' }).click();
  await page.getByRole('button', { name: 'Remove owner' }).waitFor();
  const attack = '<img src=x onerror=alert(1)> ![pixel](https://example.com/p.png) [here](javascript:alert(1))';
  await page.getByLabel('Comment (Markdown)').fill(`Eve is **on leave**. ${attack} [site](https://example.com)`);
  await page.getByRole('button', { name: 'Mention' }).click();
  await page.getByRole('menuitem', { name: 'linus@example.com' }).click();
  await page.getByRole('button', { name: 'Add comment' }).click();
  const history = page.getByRole('list', { name: 'Comments and history' });
  await history.locator('strong', { hasText: 'on leave' }).waitFor();
  await history.getByText('<img src=x onerror=alert(1)>').waitFor();
  expect(await history.locator('img, a[href^="javascript"], a[href^="mailto"]').count()).toBe(0);
  const link = history.getByRole('link', { name: 'site' });
  expect([await link.getAttribute('href'), await link.getAttribute('rel')]).toEqual([
    'https://example.com',
    'noopener noreferrer',
  ]);
  await page.getByText('Watched by linus@example.com').waitFor();
  await page.getByRole('button', { name: 'Stop watching' }).click();
  await page.getByRole('button', { name: 'Watch', exact: true }).waitFor();
  const { persons } = await callOk(org, 'GET', '/api/persons');
  const linus = persons.find(({ name }: { name: string }) => name === 'linus@example.com');
  const { incidents } = await callOk(org, 'GET', '/api/incidents?owner=linus@example.com');
  expect([incidents[0].ownerId, linus.role]).toEqual([linus.id, 'engineer']);
  const { comments } = await callOk(org, 'GET', `/api/incidents/${incidents[0].id}/comments`);
  expect(comments).toMatchObject([{ actor: 'linus@example.com', personId: linus.id }]);
  // A mention waits in the inbox until the person opens the incident. Thousands of nested quotes are too much for the parser.
  const body = `${'> '.repeat(3000)}@linus is back.`;
  await page.getByRole('link', { name: 'Incidents', exact: true }).click();
  await callOk(org, 'POST', `/api/incidents/${incidents[0].id}/comments`, { body });
  await page.getByRole('link', { name: 'Mentioned 1' }).click();
  await page.getByRole('button', { name: /eve: 2 hits/ }).click();
  await history.getByText('@linus is back.').waitFor();
  await page.goBack();
  await page.getByText('No unread mentions').waitFor();
  await page.getByRole('link', { name: 'See what you watch' }).click();
  await page.getByRole('button', { name: /eve: 2 hits/ }).waitFor();
  expect((await org.call('PATCH', `/api/persons/${linus.id}`, { role: 'viewer' })).status).toBe(409);
  await callOk(org, 'PATCH', `/api/persons/${linus.id}`, { disabled: true });
  await page.reload();
  // The provider still knows the browser.
  await page.getByRole('link', { name: 'Continue with single sign-on' }).click();
  await page.getByRole('alert').getByText('An administrator of Tocsin disabled your access').waitFor();
});

test('invites a person, whose link signs in once with the role', async () => {
  const admin = await openPage('/sign-in');
  await admin.getByLabel('API key').fill(org.key);
  await admin.keyboard.press('Enter');
  await admin.getByRole('link', { name: 'Settings' }).click();
  await admin.getByRole('link', { name: 'People' }).click();
  await admin.getByRole('button', { name: 'Invite' }).click();
  const dialog = admin.getByRole('dialog');
  await dialog.getByLabel('Name').fill('heidi@example.com');
  await dialog.getByLabel('Role').selectOption('viewer');
  await dialog.getByRole('button', { name: 'Invite' }).click();
  const link = await dialog.getByText(/sign-in#[\w-]{43}$/).innerText();
  expect(link.startsWith(`${address}/console/sign-in#`)).toBe(true);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await admin.getByText('Invited · never signed in').waitFor();
  expect(await findViolations(admin)).toEqual([]);
  const page = await openPage(new URL(link).pathname.split('/console')[1]! + new URL(link).hash);
  await page.getByRole('link', { name: 'Hits' }).first().waitFor();
  const session = await page.evaluate(() => fetch('/tocsin/api/session').then((response) => response.json()));
  expect(session).toMatchObject({ subject: 'heidi@example.com', scopes: roleScopes.viewer.toSorted() });
});

test('says that none of the groups has access', async () => {
  const page = await openPage('/hits');
  await signInAs(page, 'mallory');
  await page.getByRole('alert').getByText('None of your groups has access').waitFor();
  await page.getByText(/Request ID [0-9a-f-]{36}/).waitFor();
  expect(new URL(page.url()).searchParams.get('next')).toBe('/console/hits');
  expect((await page.context().cookies(`${address}/api/hits`)).map(({ name }) => name)).toEqual([]);
});

test('accepts a response once, and only in the browser that asked for it', async () => {
  const page = await openPage('/hits');
  let response = '';
  page.on('request', (request) => {
    if (request.url().includes('/callback?')) response = request.url();
  });
  await signInAs(page, 'ada');
  await page.getByRole('heading', { name: 'Hits' }).waitFor();
  const other = await openPage('/sign-in');
  for (const each of [page, other]) {
    await each.goto(response);
    await each.getByRole('alert').getByText('started in another tab or browser').waitFor();
  }
  expect((await other.context().cookies()).map(({ name }) => name)).not.toContain('tocsin_session');
});

test('ends immediately when somebody ends the session, and leads back after signing in again', async () => {
  const page = await openPage('/hits?status=open');
  await signInAs(page, 'ada');
  await page.getByRole('heading', { name: 'Hits' }).waitFor();
  const { sessions } = await callOk(org, 'GET', '/api/sessions');
  const own = sessions.find(({ subject }: { subject: string }) => subject === 'ada@example.com');
  await callOk(org, 'DELETE', `/api/sessions/${own.id}`);
  await page.reload();
  await page.getByRole('link', { name: 'Continue with single sign-on' }).click();
  await page.getByRole('heading', { name: 'Hits' }).waitFor();
  expect(page.url()).toBe(`${address}/console/hits?status=open`);
});

test('says that the provider does not answer, and offers the key', async () => {
  const page = await openPage('/sign-in?problem=unavailable&request=some-id');
  await page.getByText('The identity provider does not answer.').waitFor();
  await page.getByText('Request ID some-id').waitFor();
  await page.getByLabel('API key').waitFor();
});

test.each(['light', 'dark'] as const)(
  'axe finds nothing in the sign-in page with single sign-on on %s',
  async (colorScheme) => {
    const page = await openBlank({ colorScheme });
    await page.goto(`${address}/console/`);
    await page.getByRole('link', { name: 'Continue with single sign-on' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
  },
);
