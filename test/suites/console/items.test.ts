import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { syncSweepsAcrossOrgs } from '../../../src/agents/sightings/sightings.store.ts';
import { sweepDue } from '../../../src/agents/sightings/sweep.ts';
import { acrossOrgs } from '../../../src/platform/db/db.ts';
import { startConsole, startPages } from '../../support/browser/console.ts';
import { raiseHits } from '../../support/browser/raise-hits.ts';
import { openGeoDatabases } from '../../../src/platform/enrichment/geo-databases.ts';
import { someMmdb } from '../../support/platform/mmdb-file.ts';
import { getTestDir } from '../../support/test-dir.ts';
import { callOk } from '../../support/detection/detection-factory.ts';
import { epssScores } from '../../support/feed/epss-documents.ts';
import { fileSource, kevCatalogue, kevRows } from '../../support/feed/kev-source.ts';
import { mispAttribute, mispEvent } from '../../support/feed/misp-documents.ts';
import { stixBundle } from '../../support/feed/stix-documents.ts';
import type { TestOrg } from '../../support/harness.ts';

const started = await startConsole();
const { openPage } = await startPages(started);

/** Pulls a document as a private source. Returns the ID of its first item. */
async function pull(org: TestOrg, kind: 'stix' | 'misp' | 'kev' | 'epss', content: unknown): Promise<string> {
  await (await fileSource(started, org, { kind, visibility: 'private' })).pull(content);
  return (await callOk(org, 'GET', '/items')).items[0]?.id;
}

/** Searches the logs for what was added to the feed since the search before. The first one only begins there. */
async function sweep(): Promise<void> {
  await syncSweepsAcrossOrgs(started.deps.db);
  await acrossOrgs(started.deps.db, (tx) => sql`update feed_sweeps set due_at = clock_timestamp()`.execute(tx));
  for (let step = 0; step < 20 && (await sweepDue(started.deps, new AbortController().signal)); step += 1);
}

test('shows the fields of a structured document with the same passages as its raw text', async () => {
  const org = await started.newOrg();
  const description = 'The operators moved.\n\nThey use bad-cdn[.]top now.';
  const id = await pull(org, 'stix', stixBundle(['bad-cdn.top', 'a'.repeat(64)], { description }));
  const page = await openPage(org, `/feed/${id}`);
  const text = page.locator('section', { has: page.getByRole('heading', { name: 'Text', exact: true }) });
  await text.getByRole('heading', { name: 'Report', exact: true }).waitFor();
  expect(await text.getByRole('heading', { name: 'Indicator', exact: true }).count()).toBe(2);
  await text.getByText("[domain-name:value = 'bad-cdn.top']").waitFor();
  expect(await text.getByText('2.1', { exact: true }).first().isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Show where the text mentions bad-cdn.top' }).click();
  const marked = ['bad-cdn[.]top', 'bad-cdn.top'];
  await expect.poll(() => text.locator('mark').allTextContents()).toEqual(expect.arrayContaining(marked));
  const inFields = await text.locator('mark').allTextContents();
  await page.getByRole('button', { name: 'Raw' }).click();
  await text.getByText('pattern_type: stix').first().waitFor();
  expect(await text.locator('mark').allTextContents()).toEqual(inFields);
  expect(new URL(page.url()).search).toBe('?text=raw');
  await page.reload();
  await text.getByText('pattern_type: stix').first().waitFor();
});

test('shows what enrichers know of an indicator, on its page and on request in an item', async () => {
  const org = await started.newOrg();
  const file = join(getTestDir(), 'items.mmdb');
  writeFileSync(file, someMmdb());
  const open = (paths: string[]) => openGeoDatabases({ dataDir: getTestDir(), paths }, { warn: () => undefined });
  open([file]);
  const id = await pull(org, 'stix', stixBundle(['bad-cdn.top', '8.8.8.8']));
  const page = await openPage(org, `/feed/${id}`);
  await page.getByRole('button', { name: 'Enrich 2 indicators' }).click();
  await page.getByText('NO, Oslo, 59.9').waitFor();
  await page.goto(`${started.origin}/console/indicators?value=8.8.8.8`);
  await page.getByRole('heading', { name: 'Enrichment' }).waitFor();
  await page.getByText('Nordnett').waitFor();
  open([]);
});

test('shows an item that is posted as JSON with its escapes read', async () => {
  const org = await started.newOrg();
  const text = JSON.stringify({
    info: 'A "made-up" case',
    'bad-key.top': 1,
    note: 'First line\nseen at bad-cdn[.]top',
  });
  const { id } = await callOk(org, 'POST', '/api/feed/items', { text, title: 'A case', publisher: 'Acme CERT' });
  const page = await openPage(org, `/feed/${id}`);
  await page.getByText('A "made-up" case', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Show where the text mentions bad-cdn[.]top' }).click();
  await expect.poll(() => page.locator('mark').allTextContents()).toEqual(['bad-cdn[.]top']);
  await page.getByRole('button', { name: 'Show where the text mentions bad-key.top' }).click();
  await page.getByText('The passage is in the name of a field.').waitFor();
});

test('filters, copies and downloads a long list of indicators, and finds each of them in the text', async () => {
  const org = await started.newOrg();
  const domains = Array.from({ length: 1_000 }, (_, index) => `cdn-${index}.bad-host.top`);
  const Attribute = [
    ...domains.map((domain) => mispAttribute('domain', domain)),
    mispAttribute('filename', '=run(1).exe'),
  ];
  const id = await pull(org, 'misp', mispEvent('case', { Attribute, Object: [] }));
  const page = await openPage(org, `/feed/${id}`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const table = page.getByRole('table').last();
  const rows = table.locator('tbody').getByRole('row');
  await page.getByRole('button', { name: 'Show 200 more of 1,001' }).click();
  await expect.poll(() => rows.count()).toBe(225);

  await page.getByRole('searchbox', { name: 'Filter indicators' }).fill('cdn-99');
  await page.getByText('11 matches').waitFor();
  await expect.poll(() => rows.count()).toBe(11);
  await page.getByRole('button', { name: 'Copy 11 values' }).click();
  await page.getByText('Copied 11 values.').waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(copied.split('\n').toSorted()).toEqual(domains.filter((domain) => domain.startsWith('cdn-99')).toSorted());
  await page.getByRole('button', { name: 'Show where the text mentions cdn-999.bad-host.top' }).click();
  await expect.poll(() => page.locator('mark').allTextContents()).toContain('cdn-999.bad-host.top');

  await page.getByRole('searchbox', { name: 'Filter indicators' }).fill('');
  await page.getByRole('button', { name: 'Type', exact: true }).click();
  await page.getByRole('menuitemradio', { name: /^file name ?1$/ }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download CSV of 1 indicator' }).click();
  expect((await download).suggestedFilename()).toBe(`indicators-${id}.csv`);
  const csv = readFileSync(await (await download).path(), 'utf8');
  // A spreadsheet would evaluate a value that begins with an equals sign.
  expect(csv).toMatch(/^value,type,status,confidence\r\n'=run\(1\)\.exe,file_name,expired,0\.\d+\r\n$/);
});

test('shows the parts of a long list as one row, and leads through them', async () => {
  const org = await started.newOrg();
  const values = Array.from({ length: 1_600 }, (_, index) => `cdn-${index}.bad-host.top`);
  const list = await fileSource(started, org, { kind: 'csv', name: 'Block list', visibility: 'private' });
  await list.pull(values.join('\n'));
  await callOk(org, 'POST', '/api/feed/items', { text: 'A report\nNothing happened.', publisher: 'Acme CERT' });
  const page = await openPage(org, '/feed');
  const rows = page.getByRole('option');
  await rows.nth(1).getByText('16 parts · 1,600 indicators').waitFor();
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByText('17 items').waitFor();
  for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('j');
  const panel = page.getByRole('complementary');
  await panel.getByText('Part 1 of 16').waitFor();
  expect(await panel.getByRole('button', { name: 'Previous part' }).isDisabled()).toBe(true);
  await panel.getByRole('button', { name: 'Next part' }).click();
  await panel.getByRole('heading', { name: 'Block list (2 of 16)' }).waitFor();
  expect(await rows.nth(1).getAttribute('aria-selected')).toBe('true');
  await page.keyboard.press('k');
  await panel.getByRole('heading', { name: 'A report' }).waitFor();
  expect(await panel.getByRole('button', { name: 'Next part' }).count()).toBe(0);
  // A search that only one part matches shows that part.
  await page.getByRole('searchbox').fill('cdn-7.bad-host.top');
  await page.getByText('1 item', { exact: true }).waitFor();
  await rows.getByText(/^Block list \(\d+ of 16\)$/).waitFor();
});

test('shows below an indicator what was corrected in it', async () => {
  const org = await started.newOrg();
  const id = await pull(
    org,
    'misp',
    mispEvent('case', { Attribute: [mispAttribute('domain', '203.0.113.7:8080')], Object: [] }),
  );
  const page = await openPage(org, `/feed/${id}`);
  await page.getByRole('row', { name: /Corrected: stated as domain, port 8080 removed/ }).waitFor();
});

test('shows how likely the exploitation of a vulnerability is', async () => {
  const org = await started.newOrg();
  await pull(org, 'epss', epssScores('2026-03-01', ['CVE-2024-0001', 0.0423, 0.91]));
  const id = await pull(org, 'kev', kevCatalogue(1, kevRows(1)));
  const page = await openPage(org, `/feed/${id}`);
  await page.getByText('EPSS 4.2 %, above 91 % of all').waitFor();
});

test('shows the items, sightings and hits of a value, and leads to each', async () => {
  const org = await started.newOrg();
  await raiseHits(started, org, ['bad-cdn.top']);
  await callOk(org, 'POST', '/api/logs/network', [
    { id: 'n-1', time: new Date().toISOString(), domain: 'bad-cdn.top' },
  ]);
  const text = 'The operators moved.\n\nIndicators of compromise\nbad-cdn[.]top';
  await sweep();
  await callOk(org, 'POST', '/api/feed/items', { text, title: 'A panel that moved', publisher: 'Acme CERT' });
  await sweep();
  const page = await openPage(org, '/indicators?value=bad-cdn.top');
  const panel = page.getByRole('complementary');
  await panel.getByRole('link', { name: /A panel that moved/ }).waitFor();
  await panel.getByText('network', { exact: true }).waitFor();
  await panel.getByRole('link', { name: /bad-cdn\.top/ }).click();
  await page.waitForURL(/\/console\/hits\/[0-9a-f-]{36}$/);
});

test('says in which form an item contains a value', async () => {
  const org = await started.newOrg();
  const text = 'A case.\n\nIndicators\nhxxp://bad-cdn[.]top/\nbad-cdn[.]top';
  await callOk(org, 'POST', '/api/feed/items', { text, title: 'Both forms', publisher: 'Acme CERT' });
  const page = await openPage(org, '/indicators?value=bad-cdn.top');
  const links = page.getByRole('complementary').getByRole('link', { name: /^Both forms/ });
  await links.first().waitFor();
  const lines = (await links.allInnerTexts()).map((link) => link.split('\n').at(-1)!.split(',')[0]);
  expect(lines).toEqual(['Acme CERT · active', 'Acme CERT · url · active']);
});

test('counts items beside each choice of a filter, and saves, opens and removes a view of the feed', async () => {
  const org = await started.newOrg();
  await pull(org, 'kev', kevCatalogue(1, kevRows(3)));
  await callOk(org, 'POST', '/api/feed/items', { text: 'Nothing happened.', publisher: 'Acme CERT' });
  const page = await openPage(org, '/feed');
  await page.getByRole('button', { name: 'Source', exact: true }).click();
  const sources = page.getByRole('group', { name: 'Sources', exact: true });
  const publishers = page.getByRole('group', { name: 'Publishers', exact: true });
  await sources.getByRole('menuitemradio', { name: /^test source ?3$/ }).waitFor();
  expect(await sources.getByRole('menuitemradio', { name: /^Acme CERT/ }).count()).toBe(0);
  await publishers.getByRole('menuitemradio', { name: /^Acme CERT ?1$/ }).click();
  await page.getByText('1 item', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save this view' }).click();
  await page.getByLabel('Name of the view').fill('Our reports');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save this view' }).click();
  await page.getByRole('button', { name: 'Start over' }).waitFor();
  expect(await page.getByLabel('Name of the view').inputValue()).toBe('Our reports');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Our reports' }).waitFor();
  await page.getByRole('button', { name: 'Remove the filter Source' }).click();
  await page.getByText('4 items').waitFor();
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitemradio', { name: 'Our reports' }).click();
  await page.waitForURL(/source=Acme/);
  await page.getByRole('button', { name: 'Our reports' }).click();
  await page.getByRole('menuitem', { name: 'Remove “Our reports”' }).click();
  await expect.poll(async () => (await callOk(org, 'GET', '/api/views')).views).toEqual([]);
});

test('adds a report from a file or as text, says what is wrong with a file, and rehearses it', async () => {
  const page = await openPage(await started.newOrg(), '/feed');
  const addReport = async (): Promise<void> => page.getByRole('button', { name: 'Add report' }).click();
  await addReport();
  const files = 'test/support/report-files';
  await page.getByLabel('File', { exact: true }).setInputFiles(`${files}/encrypted.pdf`);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('the PDF is encrypted').waitFor();
  await page.getByLabel('File', { exact: true }).setInputFiles(`${files}/report.pdf`);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.waitForURL(/feed\/[\da-f-]+$/);
  await page.getByRole('heading', { name: 'Operation Night Heron hits banks' }).waitFor();
  await page.goto(`${started.origin}/console/feed`);
  await addReport();
  await page.getByLabel('Or its text').fill('The panel moved to quiet-panel[.]top.');
  await page.getByLabel('Title').fill('A panel that moved');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('heading', { name: 'A panel that moved' }).waitFor();
  await page.getByRole('button', { name: 'Rehearse now' }).click();
  await page.getByText('No dataset has had events in which it would show').waitFor();
});

test('lists what a report advises and the rules that it prints, to read and to download', async () => {
  const org = await started.newOrg();
  const rule = 'rule Quiet_Loader { strings: $a = "quiet" condition: $a }';
  const advice = 'Customers should upgrade to version 9.1.4 now.';
  const text = `A loader\n\n${advice}\n\n${rule}\n\ntitle: Broken\nlogsource: {}\ndetection:\n  a: 1`;
  const { id } = await callOk(org, 'POST', '/api/feed/items', { title: 'A loader', text });
  const page = await openPage(org, `/feed/${id}`);
  await page.getByRole('button', { name: `Show where the text mentions ${advice}` }).click();
  await page.locator('mark', { hasText: advice }).waitFor();
  const rules = page.locator('section', { has: page.getByRole('heading', { name: 'Rules in the text' }) });
  await rules.getByText('Quiet_Loader YARA').click();
  await rules.getByRole('group', { name: 'Quiet_Loader' }).getByText(rule).waitFor();
  await rules.getByText('Broken Sigma').click();
  await rules.getByText('No detection can be made of it').waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    rules.getByRole('button', { name: 'Download Quiet_Loader' }).click(),
  ]);
  expect([download.suggestedFilename(), readFileSync(await download.path(), 'utf8')]).toEqual([
    'Quiet_Loader.yar',
    rule,
  ]);
});
