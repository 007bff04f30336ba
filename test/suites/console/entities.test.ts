import { expect, test } from 'vitest';
import { startConsole, startPages } from '../../support/browser/console.ts';
import { callOk } from '../../support/detection/detection-factory.ts';
import { fileSource } from '../../support/feed/kev-source.ts';
import type { TestOrg } from '../../support/harness.ts';

const report = `Acme Bank hit by WellMess
APT29 uses WellMess in attacks on banks. WellMess contacts evil-bank[.]top. The group exploited CVE-2024-21412.
It ran PowerShell to download the malware from a remote server.
`;
const chineseAliases = Array.from({ length: 36 }, (_, index) => `银色苍鹭组织 ${index + 1}`);

const started = await startConsole();
const { openPage } = await startPages(started);

async function startOrg(): Promise<TestOrg> {
  const org = await started.newOrg();
  await callOk(org, 'POST', '/api/feed/items', { text: report, publisher: 'Acme CERT' });
  return org;
}

test('lists the names of the feed with the figures of the API, by type and by alias', async () => {
  const org = await startOrg();
  const page = await openPage(org, '/entities');
  const { entities } = await callOk(org, 'GET', '/api/feed/entities');
  expect(entities.map(({ type, name }: Record<string, string>) => [type, name])).toEqual([
    ['actor', 'APT29'],
    ['malware', 'WellMess'],
    ['vulnerability', 'CVE-2024-21412'],
  ]);
  const rows = page.getByRole('row');
  await rows.getByText('WellMess').waitFor();
  await expect.poll(() => rows.count()).toBe(4);
  expect(await rows.nth(1).getByRole('gridcell').nth(3).textContent()).toBe('1');
  await page.getByRole('button', { name: 'Type' }).click();
  await page.getByRole('menuitemradio', { name: 'Malware' }).click();
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByRole('button', { name: 'Remove the filter Type' }).click();
  await page.getByRole('searchbox').fill('cozy bear');
  await expect.poll(() => rows.count()).toBe(2);
  await rows.getByText('APT29').waitFor();
  await page.getByRole('searchbox').fill('nobody of this name');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect.poll(() => rows.count()).toBe(4);
});

test('opens an entity from an item, with what its items say about it', async () => {
  const org = await startOrg();
  const { items } = await callOk(org, 'GET', '/items');
  const page = await openPage(org, `/feed/${items[0].id}`);
  await page.getByRole('link', { name: 'WellMess', exact: true }).click();
  const panel = page.getByRole('article');
  await panel.getByRole('heading', { name: 'WellMess', exact: true }).waitFor();
  expect(new URL(page.url()).search).toBe('?kind=malware&name=WellMess');
  const detail = await callOk(org, 'GET', '/api/feed/entities/malware/WellMess');
  const section = (title: string) =>
    panel.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) });
  expect(await section('Latest items').getByRole('listitem').count()).toBe(detail.latestItems.length);
  expect(detail.indicators).toMatchObject([{ value: 'evil-bank.top', status: 'active', isStated: true }]);
  await section('Indicators').getByRole('row', { name: 'evil-bank.top Stated · Acme CERT domain Active' }).waitFor();
  const actors = panel.locator('section section', { has: page.getByRole('heading', { name: 'Used by actors' }) });
  expect(await actors.getByRole('listitem').allInnerTexts()).toEqual([
    'APT29\nAcme CERT\nAPT29 uses WellMess in attacks on banks.',
  ]);
  await panel.getByRole('link', { name: 'Show in the feed' }).click();
  await page.getByText('1 item', { exact: true }).waitFor();
  expect(new URL(page.url()).search).toBe('?malware=WellMess');
});

test('answers which malware an actor uses, who says so, and which indicators are active', async () => {
  const org = await started.newOrg();
  const texts = [
    ['Acme CERT', 'Acme Bank hit\nAPT29 uses WellMess in attacks on banks. APT29 contacts evil-bank[.]top.'],
    ['Northmere', 'Northmere Rail hit\nAPT29 uses WellMess against railways as well. APT29 also uses Mimikatz.'],
  ];
  for (const [publisher, text] of texts) await callOk(org, 'POST', '/api/feed/items', { text, publisher });
  const page = await openPage(org, '/');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('cozy bear');
  await page.getByRole('option', { name: 'APT29 (actor)', selected: true }).waitFor();
  await page.keyboard.press('Enter');
  const panel = page.getByRole('complementary');
  const malware = panel.locator('section section', { has: page.getByRole('heading', { name: 'Uses malware' }) });
  const row = malware.getByRole('listitem').filter({ hasText: 'WellMess' });
  expect((await row.innerText()).split('\n').slice(0, 2)).toEqual(['WellMess', 'Northmere, Acme CERT']);
  await row.getByRole('button', { name: 'Show 1 more passage' }).click();
  expect(await row.getByRole('link').allInnerTexts()).toEqual([
    'WellMess',
    'APT29 uses WellMess against railways as well.',
    'APT29 uses WellMess in attacks on banks.',
  ]);
  await panel.getByRole('row', { name: 'evil-bank.top Stated · Acme CERT domain Active' }).waitFor();
  await row.getByRole('link', { name: 'WellMess', exact: true }).click();
  await panel.getByRole('heading', { name: 'WellMess', exact: true }).waitFor();
});

test('folds many aliases and keeps the page within a narrow window', async () => {
  const org = await startOrg();
  const actor = {
    type: 'intrusion-set',
    spec_version: '2.1',
    id: 'intrusion-set--00000000-0000-4000-8000-000000000001',
    created: '2024-01-01T00:00:00.000Z',
    modified: '2024-01-01T00:00:00.000Z',
    name: 'Silver Heron of the Northern Lakes and of the Eastern Marshes',
    aliases: [...chineseAliases, 'A'.repeat(80)],
  };
  await (await fileSource(started, org, { kind: 'stix' })).pull({ type: 'bundle', id: 'bundle--1', objects: [actor] });
  const name = encodeURIComponent(actor.name);
  const page = await openPage(org, `/entities?${new URLSearchParams({ kind: 'actor', name: actor.name })}`);
  await page.setViewportSize({ width: 390, height: 844 });
  const aliases = page.locator('section', { has: page.getByRole('heading', { name: 'Aliases', exact: true }) });
  const detail = await callOk(org, 'GET', `/api/feed/entities/actor/${name}`);
  await aliases.getByRole('listitem').first().waitFor();
  expect(await aliases.getByRole('listitem').count()).toBe(12);
  await aliases.getByRole('button', { name: `Show all ${detail.aliases.length} aliases` }).click();
  expect(await aliases.getByRole('listitem').allTextContents()).toEqual(detail.aliases);
  const overflow = await page.locator('html').evaluate((root) => root.scrollWidth - root.clientWidth);
  expect(overflow).toBeLessThanOrEqual(0);
});

test('says so when no item contains the name any more', async () => {
  const page = await openPage(await startOrg(), '/entities?kind=actor&name=Nobody');
  await page.getByText('Not in the feed').waitFor();
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
});

test('says what appears here while the feed has no names', async () => {
  const page = await openPage(await started.newOrg(), '/entities');
  await page.getByText('No names yet').waitFor();
});
