import { expect, test } from 'vitest';
import { startConsole, startPages } from '../../support/browser/console.ts';
import { scoreNextBatch } from '../../../src/feed/relevance/score-items.ts';
import { callOk } from '../../support/detection/detection-factory.ts';

const report = `Acme Bank hit by Emotet
On Monday the actor TA542 sent spearphishing emails with malicious Word attachments to banks in Norway. Once opened, the document ran
PowerShell to download Emotet from a remote server.
`;

const started = await startConsole();
const { openPage: openOf } = await startPages(started);

/** Judges the items by the profiles, which the worker does otherwise. */
async function judgeItems(): Promise<void> {
  while (await scoreNextBatch(started.deps));
}

async function openPage(path: string) {
  const org = await started.newOrg();
  const item = await callOk(org, 'POST', '/api/feed/items', { text: report, publisher: 'Acme CERT' });
  return { org, page: await openOf(org, path.replace('ID', item.id)) };
}

test('describes the organization, and then says why an item is relevant', async () => {
  const { org, page } = await openPage('/feed/ID');
  await page.getByText('your organization has no relevance profile').waitFor();
  await page.getByRole('link', { name: 'Describe your organization' }).click();
  await page.getByLabel('Products').fill('Ivanti: Connect Secure\nCitrix');
  await page.getByLabel('Windows').check();
  await page.getByLabel('Countries and regions').fill('Norway, ');
  await page.getByLabel('Keywords').fill('spearphishing');
  await page.getByRole('button', { name: 'Save profile' }).click();
  await page.getByText('The profile is saved.').waitFor();
  expect(await callOk(org, 'GET', '/api/feed/profile')).toMatchObject({
    products: [{ vendor: 'Ivanti', product: 'Connect Secure' }, { vendor: 'Citrix' }],
    platforms: ['windows'],
    sectors: [],
    regions: ['Norway'],
    keywords: ['spearphishing'],
    threshold: 0.5,
    sweep: true,
  });
  await page.goBack();
  await page.getByText('Items are being judged').waitFor();
  await judgeItems();
  await page.getByText('by the relevance profile').waitFor();
  await page.getByText('Keyword', { exact: true }).waitFor();
});

test('asks a standing question, and shows the items that answer it with the reasons', async () => {
  const { org, page } = await openPage('/settings/relevance');
  await callOk(org, 'POST', '/api/feed/items', { text: 'Quiet week in Norway\nNothing happened.' });
  const form = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Add requirement' }).click();
  await form.getByLabel('Question').fill('Emotet against Nordic banks');
  await form.getByLabel('Countries and regions').fill('Nordics');
  await form.getByRole('button', { name: 'Save requirement' }).click();
  await form.waitFor({ state: 'detached' });
  await judgeItems();
  const row = page.getByRole('listitem').filter({ hasText: 'Emotet against Nordic banks' });
  await row.getByText('2 items').waitFor();
  await row.getByRole('button', { name: 'Change' }).click();
  await form.getByLabel('Actors, malware and tools').fill('Geodo');
  await form.getByRole('button', { name: 'Save requirement' }).click();
  await form.waitFor({ state: 'detached' });
  await judgeItems();
  await row.getByText('1 item', { exact: true }).waitFor();
  await row.getByRole('link').click();
  await page.getByRole('option', { name: /Acme Bank hit by Emotet/ }).click();
  const reasons = page.locator('section', { has: page.getByRole('heading', { name: 'Relevance' }) });
  await reasons.getByText('Norway (Nordics)').waitFor();
  expect(await reasons.getByRole('link', { name: 'Emotet against Nordic banks' }).count()).toBe(2);
  await page.getByRole('button', { name: 'Requirement Emotet against Nordic banks' }).waitFor();
  await page.goto(`${started.origin}/console/settings/relevance`);
  await row.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').or(form).getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No requirement yet.').waitFor();
});

test('says that nothing of an item matches the profile', async () => {
  const { page } = await openPage('/settings/relevance');
  await page.getByLabel('Keywords').fill('submarine');
  await page.getByRole('button', { name: 'Save profile' }).click();
  await page.getByText('The profile is saved.').waitFor();
  await judgeItems();
  await page.getByRole('link', { name: 'Feed' }).click();
  await page.getByRole('option').first().click();
  await page.getByText('Nothing in it matches your relevance profile.').waitFor();
});

test('shows why a report has its severity, and where its text says so', async () => {
  const { page } = await openPage('/feed/ID');
  const severity = page.locator('section', { has: page.getByRole('heading', { name: 'Severity' }) });
  await severity.getByText('Describes activity of a named or state-sponsored actor.').waitFor();
  await severity.getByText('TA542 sent spearphishing emails').waitFor();
  await page.getByRole('button', { name: 'Show where the text mentions the reason for the severity' }).click();
  await page.getByRole('status').filter({ hasText: 'Severity: ' }).waitFor();
  expect((await page.locator('mark').allInnerTexts()).join('')).toContain('TA542 sent spearphishing emails');
});

test('judges an item that a link opens beside a list without it', async () => {
  const { page } = await openPage('/feed?item=ID&q=nothing-like-it');
  await page.getByRole('heading', { name: 'Acme Bank hit by Emotet' }).waitFor();
  await page.getByRole('button', { name: 'Not relevant' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Marked not relevant.').waitFor();
});
