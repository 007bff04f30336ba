import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { signIn, startConsole, startPages } from '../../support/browser/console.ts';
import { raiseHits } from '../../support/browser/raise-hits.ts';
import type { TestOrg } from '../../support/harness.ts';
import { callOk, postDetection, postSuggestion } from '../../support/detection/detection-factory.ts';

const started = await startConsole();
// A refused change is a failed request, which Chromium reports.
const { openBlank } = await startPages(started, (text) => /status of (409|412)/.test(text));

/** Opens a page that does not hear of what others change. */
async function openPage(org: TestOrg, path: string): Promise<Page> {
  const page = await openBlank();
  await page.route(/\/api\/events\?/, (route) => route.abort());
  await signIn(page, started.origin, org, path);
  return page;
}

/** Opens the hits of an organization, of which a colleague judges some before the user does. */
async function openJudged(users: readonly string[]) {
  const org = await started.newOrg();
  await raiseHits(started, org, users);
  const page = await openPage(org, '/hits');
  await page
    .getByRole('option')
    .nth(users.length - 1)
    .waitFor();
  const { hits } = await callOk(org, 'GET', '/api/hits');
  for (const { id } of hits)
    await callOk(org, 'POST', `/api/hits/${id}/status`, { status: 'benign', reason: 'our own scanner' });
  const readStatuses = async () =>
    (await callOk(org, 'GET', '/api/hits')).hits.map(({ status }: { status: string }) => status);
  return { page, readStatuses, dialog: page.getByRole('dialog', { name: 'Somebody changed this meanwhile' }) };
}

test('shows what a colleague decided about a hit, and keeps it', async () => {
  const { page, readStatuses, dialog } = await openJudged(['ada']);
  for (const key of ['j', '2', 'Enter']) await page.keyboard.press(key);
  await dialog.getByText('status: open → benign').waitFor();
  await dialog.getByText('reason: nothing → our own scanner').waitFor();
  await dialog.getByText('ada').waitFor();
  expect(await readStatuses()).toEqual(['benign']);
  await dialog.getByRole('button', { name: 'Keep theirs' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('option').getByText('Benign').waitFor();
  expect(await readStatuses()).toEqual(['benign']);
});

test('applies a decision about several hits again, after one question', async () => {
  const { page, readStatuses, dialog } = await openJudged(['ada', 'grace', 'alan']);
  for (const key of ['a', '2', 'Enter']) await page.keyboard.press(key);
  await dialog.getByRole('listitem').nth(2).waitFor();
  await dialog.getByRole('button', { name: 'Apply my change again' }).click();
  await expect.poll(readStatuses).toEqual(['false_positive', 'false_positive', 'false_positive']);
  await dialog.waitFor({ state: 'detached' });
  // Changes from here are no conflict with one another.
  await page.keyboard.press('u');
  await expect.poll(readStatuses).toEqual(['open', 'open', 'open']);
  expect(await dialog.count()).toBe(0);
});

test('a form shows what changed since it was opened, and applies its changes again', async () => {
  const org = await started.newOrg();
  const { id } = await postDetection(org, { name: 'First name' });
  const page = await openPage(org, `/detections/${id}?tab=definition`);
  const sent: (string | undefined)[] = [];
  page.on('request', (request) => {
    if (request.method() === 'PUT') sent.push(request.headers()['if-match']);
  });
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('My name');
  await callOk(org, 'PUT', `/api/detections/${id}`, { name: 'Their name' });
  await page.getByRole('button', { name: /^Save/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Somebody changed this meanwhile' });
  await dialog.getByText('name: First name → Their name').waitFor();
  await dialog.getByRole('button', { name: 'Apply my change again' }).click();
  await expect.poll(async () => (await callOk(org, 'GET', `/api/detections/${id}`)).name).toBe('My name');
  expect(sent).toEqual([expect.stringMatching(/^"/), expect.stringMatching(/^"/)]);
});

const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Somebody changed this meanwhile' });

test('test cases are saved over those that the user saw, also if the tab has newer ones', async () => {
  const org = await started.newOrg();
  const { id } = await postDetection(org);
  const put = (name: string) =>
    callOk(org, 'PUT', `/api/detections/${id}/tests`, { tests: [{ name, events: [], expect: [] }] });
  const names = async () =>
    (await callOk(org, 'GET', `/api/detections/${id}/tests`)).tests.map(({ name }: { name: string }) => name);
  await put('first');
  const page = await openPage(org, `/detections/${id}?tab=tests`);
  await page.getByRole('button', { name: 'Edit as JSON' }).click();
  await put('theirs');
  await page.getByRole('button', { name: 'Save' }).click();
  await dialogOf(page).getByText('tests: ["first"] → ["theirs"]').waitFor();
  await dialogOf(page).getByRole('button', { name: 'Keep theirs' }).click();
  await page.getByText('You kept what others changed.').waitFor();
  expect(await names()).toEqual(['theirs']);
  await page.getByRole('button', { name: 'Save' }).click();
  await dialogOf(page).getByRole('button', { name: 'Apply my change again' }).click();
  await page.getByText('Test cases saved.').waitFor();
  expect(await names()).toEqual(['first']);
});

test('a suggestion is accepted as the user saw it, also if a colleague accepted it meanwhile', async () => {
  const org = await started.newOrg();
  const { id } = await postSuggestion(org, { name: 'Suggested' });
  const page = await openPage(org, '/suggestions');
  await page.getByRole('option').getByText('Suggested').click();
  await page.getByLabel('Name').fill('Mine');
  await callOk(org, 'POST', `/api/detections/${id}/accept`, { description: 'Theirs' });
  await page.getByRole('button', { name: 'Accept with changes' }).click();
  await dialogOf(page).getByText('description: nothing → Theirs').waitFor();
  await dialogOf(page).getByRole('button', { name: 'Apply my change again' }).click();
  await page.getByText('Accepted “Mine”.').waitFor();
  expect(await callOk(org, 'GET', `/api/detections/${id}`)).toMatchObject({ name: 'Mine', description: 'Theirs' });
});

test('of many detections, one question is about those that others changed', async () => {
  const org = await started.newOrg();
  const [first] = await Promise.all(
    ['Alpha', 'Beta', 'Gamma'].map((name) => postDetection(org, { name, detectionCadence: 'hourly' })),
  );
  const page = await openPage(org, '/detections?sort=name');
  await page.getByRole('grid', { name: 'Detections' }).getByRole('link').nth(2).waitFor();
  await callOk(org, 'PUT', `/api/detections/${first.id}`, { description: 'Keep this on' });
  for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
  const disable = page.getByRole('button', { name: 'Disable' });
  const enabled = async () =>
    (await callOk(org, 'GET', '/api/detections?enabled=true')).detections.map(({ name }: { name: string }) => name);
  await disable.click();
  await dialogOf(page).getByText('description: nothing → Keep this on').waitFor();
  expect(await dialogOf(page).getByRole('listitem').count()).toBe(1);
  expect((await enabled()).toSorted()).toEqual(['Alpha', 'Gamma']);
  await dialogOf(page).getByRole('button', { name: 'Apply my change again' }).click();
  await page.getByText('Disabled 2.').waitFor();
  expect(await enabled()).toEqual(['Gamma']);
});

test('the relevance of an item is judged over what the user saw, and own changes are no conflict', async () => {
  const org = await started.newOrg();
  const { id } = await callOk(org, 'POST', '/api/feed/items', { title: 'Report', text: 'Emotet used zq7-drop[.]top.' });
  const page = await openPage(org, '/feed');
  await page.getByRole('option').getByText('Report').waitFor();
  await callOk(org, 'PUT', `/api/feed/items/${id}/override`, { note: 'Ask Mia first' });
  const verdict = async () =>
    (await callOk(org, 'GET', `/api/feed/items/${id}`)).tenantOverrides?.relevance?.verdict ?? null;
  const judge = async (key: string) => {
    await page.keyboard.press(key);
    await page.keyboard.press('Enter');
  };
  await page.keyboard.press('j');
  await judge('2');
  await dialogOf(page).getByText('note: nothing → Ask Mia first').waitFor();
  expect(await verdict()).toBeNull();
  await dialogOf(page).getByRole('button', { name: 'Apply my change again' }).click();
  await expect.poll(verdict).toBe('irrelevant');
  await page.keyboard.press('u');
  await expect.poll(verdict).toBeNull();
  expect(await dialogOf(page).count()).toBe(0);
});
