import { afterEach, expect, test } from 'vitest';
import { newPage, openBrowser, type Complaints } from '../../support/browser/browser.ts';
import { signIn, startConsole } from '../../support/browser/console.ts';
import { callOk } from '../../support/detection/detection-factory.ts';

const started = await startConsole();
const browser = await openBrowser();
const open: { complaints: Complaints; close: () => Promise<void> }[] = [];
const minuteMs = 60_000;

async function openLogs(path: string, events: readonly object[]) {
  const org = await started.newOrg();
  if (events.length > 0) await callOk(org, 'POST', '/api/logs/auth', events);
  const { page, context, complaints } = await newPage(browser);
  open.push({ complaints, close: () => context.close() });
  await signIn(page, started.origin, org, path);
  return page;
}

afterEach(async () => {
  for (const { complaints, close } of open.splice(0)) {
    await close();
    expect(complaints).toEqual([]);
  }
});

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
