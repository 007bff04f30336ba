import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { atFileEnd } from '../../support/at-file-end.ts';
import { checkNextSource } from '../../../src/detection/rule-sources/update-rules.ts';
import { startConsole, startPages } from '../../support/browser/console.ts';
import { callOk } from '../../support/detection/detection-factory.ts';
import { closeServer, listen } from '../../support/listen.ts';

const started = await startConsole({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });
const { openPage } = await startPages(started);
const minuteMs = 60_000;

async function openLogs(path: string, events: readonly object[]) {
  const org = await started.newOrg();
  if (events.length > 0) await callOk(org, 'POST', '/api/logs/auth', events);
  const page = await openPage(org, path);
  return page;
}

const hostile = '<img src=x onerror=alert(1)>';
const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * minuteMs).toISOString();
const events = [
  { time: minutesAgo(50), user: { name: 'ada' }, code: 7 },
  { time: minutesAgo(40), user: { name: "o'hara" }, code: 8, agent: hostile },
  { time: minutesAgo(30), user: { name: 'ada' }, code: 9 },
];

test('narrows the events by a value of a field, opens a row, and goes back', async () => {
  const page = await openLogs('/logs', events);
  const rows = page.getByRole('grid', { name: 'Results' }).getByRole('row');
  const users = page.getByRole('gridcell', { name: /^(ada|o'hara)$/ });
  await users.nth(2).waitFor();
  expect(await users.allInnerTexts()).toEqual(['ada', "o'hara", 'ada']);
  await page.getByRole('button', { name: /^user\.name/ }).click();
  await page.getByRole('button', { name: "Only user.name = o'hara" }).click();
  await page.getByText('1 row', { exact: true }).waitFor();
  expect(await users.allInnerTexts()).toEqual(["o'hara"]);
  await page.getByRole('textbox', { name: 'Query' }).getByText("WHERE user.name = 'o''hara'").waitFor();
  await page.locator('figcaption').getByText('1 event', { exact: true }).waitFor();
  await rows.nth(1).getByRole('gridcell').nth(1).hover();
  await rows.nth(1).getByRole('button').click();
  await page.getByRole('menuitem', { name: 'Copy' }).waitFor();
  await page.keyboard.press('Escape');
  expect(await page.getByRole('region', { name: 'Row' }).count()).toBe(0);
  await rows.nth(1).click();
  await page.getByRole('region', { name: 'Row' }).getByText(hostile).first().waitFor();
  expect(await page.locator('main img').count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.goBack();
  await users.nth(2).waitFor();
});

test('runs a query by keyboard, keeps it in the address, and says why another does not run', async () => {
  const page = await openLogs('/logs?range=1h', events);
  const query = page.getByRole('textbox', { name: 'Query' });
  await page.getByRole('gridcell', { name: 'ada' }).first().waitFor();
  // Chromium replaces a selection with a styled element, which the policy blocks and reports.
  const write = async (text: string): Promise<void> => {
    await query.press('Control+a');
    await query.press('Backspace');
    await page.keyboard.insertText(text);
  };
  await write('SELECT user.name AS who, count(*) AS n FROM auth GROUP BY who ORDER BY n DESC');
  await query.press('Control+Enter');
  await page.getByRole('columnheader', { name: 'who' }).waitFor();
  await page.reload();
  await page.getByRole('columnheader', { name: 'who' }).waitFor();
  await query.getByText('GROUP BY who').waitFor();
  await write('SELEC nobody FROM auth');
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByRole('alert').getByText('SELEC').waitFor();
  await page.getByRole('link', { name: 'Make this a detection' }).click();
  await page.getByRole('heading', { name: 'New detection' }).waitFor();
  await page.getByRole('textbox', { name: 'Query' }).getByText('SELEC nobody FROM auth').waitFor();
});

test('leads from an empty store to a snippet that fills it', async () => {
  const page = await openLogs('/logs', []);
  await page.getByRole('link', { name: 'Send logs' }).click();
  await page.getByLabel('With').selectOption('vector');
  await page.getByLabel('Name of the dataset').fill('Cloud Trail');
  await page.getByText(`${started.origin}/api/logs/cloud_trail`).waitFor();
});

const rule = (n: number, more = 'level: high'): string =>
  `title: Rule ${n}\nid: 00000000-0000-4000-8000-00000000000${n}\nauthor: Ana Author\nstatus: test\n${more}\nlogsource: {product: windows, category: process_creation}\ndetection: {s: {Image|endswith: '\\cmd.exe'}, condition: s}\n`;

test('brings detections from an address of rules, with what they would match, and shows what a version lacks', async () => {
  let rules = [rule(1), rule(2), rule(3, 'level: low')];
  const server = createServer((_request, response) => response.end(rules.join('---\n')));
  const origin = await listen(server);
  atFileEnd(() => closeServer(server));
  const org = await started.newOrg();
  const event = {
    '@timestamp': minutesAgo(50),
    EventID: 1,
    Channel: 'Microsoft-Windows-Sysmon/Operational',
    Image: 'C:\\Windows\\cmd.exe',
  };
  await callOk(org, 'POST', '/api/logs/windows', [event]);
  const page = await openPage(org, '/');
  await page.getByRole('link', { name: 'Choose rules' }).click();
  await page.getByRole('button', { name: 'Add SigmaHQ core', exact: true }).waitFor();
  await page.getByRole('button', { name: 'An address' }).click();
  await page.getByLabel('Name').fill('Ours');
  await page.getByLabel('Address').fill('ftp://127.0.0.1/rules.yml');
  const add = page.getByRole('button', { name: 'Add rule source' }).last();
  await add.click();
  await page.getByText(/^must be an http or https address/).waitFor();
  await page.getByLabel('Address').fill(`${origin}/rules.yml`);
  await add.click();
  await page.getByText('The address has not been read yet.').waitFor();
  const check = () => checkNextSource(started.deps, new AbortController().signal);
  await check();
  await page.getByText('2 of them have 2 matches in the last 24 hours.').waitFor();
  await page.getByText('1 rule of a lower level').waitFor();
  await page.getByLabel('Level').selectOption('low');
  await page.getByText('3 of them have 3 matches in the last 24 hours.').waitFor();
  await page.getByRole('button', { name: 'Import 3 rules' }).click();
  await page.getByText('3 imported, 0 updated, 0 deleted.').waitFor();
  await page.getByText('Your detections match the newest version.').waitFor();

  rules = [rule(1, 'level: critical'), rule(2)];
  await page.getByRole('button', { name: 'Check now' }).click();
  await expect.poll(check).toBe(true);
  await page.getByText('0 new, 1 changed, 1 no longer in the set, 1 unchanged').waitFor();
  await page.getByLabel('Delete the 1 detection whose rules the set no longer has').check();
  await page.getByRole('button', { name: 'Update 1, delete 1' }).click();
  await page.getByText('0 imported, 1 updated, 1 deleted.').waitFor();
  await page.getByRole('link', { name: 'See the detections' }).click();
  await page.getByRole('link', { name: 'Rule 1' }).click();
  await page.getByText(/^Sigma rule 00000000-.* by Ana Author, license DRL 1\.1/).waitFor();
  await page.goto(`${started.origin}/console/rule-sources`);
  await page.getByRole('gridcell', { name: 'Ours' }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Its 2 detections remain, and belong to no source.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No rule sources yet').waitFor();
});
