import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startConsole, startPages } from '../../support/browser/console.ts';
import { raiseHits } from '../../support/browser/raise-hits.ts';
import { callOk, postDetection, postSuggestion, queryOrg } from '../../support/detection/detection-factory.ts';
import type { TestOrg } from '../../support/harness.ts';

const started = await startConsole();
const { openPage } = await startPages(started);

async function openOverview(org: TestOrg) {
  const page = await openPage(org);
  await page.getByRole('heading', { name: 'Live activity' }).waitFor();
  return page;
}

test('leads a new organization to its first steps, and marks those that are done', async () => {
  const org = await started.newOrg();
  await postDetection(org);
  const page = await openOverview(org);
  const steps = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: /^(Connect|Choose|Add) / }) });
  await expect.poll(() => steps.count()).toBe(3);
  expect(await steps.filter({ has: page.getByLabel('Done') }).allTextContents()).toEqual([
    expect.stringContaining('Import detections'),
  ]);
  await page.getByRole('link', { name: 'Connect logs' }).click();
  await page.waitForURL(/\/settings\/sources$/);
});

test('leads from each number to its list', async () => {
  const org = await started.newOrg();
  await raiseHits(started, org, ['ada', 'grace']);
  const stopped = await postDetection(org, { name: 'Stopped one' });
  await queryOrg(
    started.deps,
    org,
    sql`update agents set enabled = false, disabled_reason = 'No such column: <b>x</b>' where id = ${stopped.id}`,
  );
  await postSuggestion(org);
  const page = await openOverview(org);
  await page.getByRole('link', { name: '1 suggested detection to decide' }).waitFor();
  expect(await page.getByRole('link', { name: /^Stopped one/ }).textContent()).toContain('No such column: <b>x</b>');
  await page.getByRole('link', { name: 'high', exact: true }).first().click();
  await page.waitForURL(/\/hits\?status=open&severity=high$/);
  await page.getByRole('option').nth(1).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: /^Precision No hit is judged yet/ }).click();
  await page.waitForURL(/\/hits\?status=open$/);
  await page.goBack();
  await page.getByRole('link', { name: /^Stopped\s*1$/ }).click();
  await page.waitForURL(/\/detections\?health=stopped$/);
  await page.keyboard.press('g');
  await page.keyboard.press('o');
  await page.getByRole('heading', { name: 'Needs attention' }).waitFor();
});

test('shows what happens while the page is open', async () => {
  const org = await started.newOrg();
  await raiseHits(started, org, ['ada']);
  const page = await openOverview(org);
  await page.getByText('Live', { exact: true }).waitFor();
  const [hit] = (await callOk(org, 'GET', '/api/hits')).hits;
  await callOk(org, 'POST', `/api/hits/${hit.id}/status`, { status: 'benign' });
  await page.getByRole('link', { name: /Hit changed/ }).click();
  await page.waitForURL(new RegExp(`/hits/${hit.id}$`));
});

test('shows what happened before the page was opened', async () => {
  const org = await started.newOrg();
  await callOk(org, 'GET', '/api/events');
  await raiseHits(started, org, ['ada']);
  const page = await openOverview(org);
  await page.getByRole('link', { name: /New hit/ }).waitFor();
  await page.getByRole('link', { name: /^Detection created Sign-in with a tool/ }).waitFor();
});

test('names a suggested detection, and finds a hit by a part of its headline with the keyboard', async () => {
  const org = await started.newOrg();
  await raiseHits(started, org, ['ada.lovelace', 'grace']);
  const page = await openOverview(org);
  await page.getByText('Live', { exact: true }).waitFor();
  await postSuggestion(org, { name: 'Keys of another user', headline: 'Key of {{account}}' });
  await page.getByRole('link', { name: /^Detection suggested Keys of another user/ }).waitFor();
  const { hits } = await callOk(org, 'GET', '/api/hits?q=LOVELACE');
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder('Search or run a command').pressSequentially('lovelace', { delay: 100 });
  await page.getByRole('option', { name: hits[0].headline, selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`/hits/${hits[0].id}$`));
});
