import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { executeDueRuns } from '../../../src/detection/runs/workers/run-loops.ts';
import { signIn, startConsole, startPages } from '../../support/browser/console.ts';
import { raiseHits } from '../../support/browser/raise-hits.ts';
import { callOk, postDetection } from '../../support/detection/detection-factory.ts';
import { processStart } from '../../support/detection/windows-events.ts';
import { sendEvents } from '../../support/org-requests.ts';
import { startOpenSearch } from '../../support/detection/siem/opensearch-stand-in.ts';

const hourMs = 3_600_000;
/** How far the clock of the service is behind. */
let behindMs = 0;
const started = await startConsole({
  clock: () => new Date(Date.now() - behindMs),
  env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' },
});
const siem = await startOpenSearch();
const { openBlank, openPage } = await startPages(started);

test('filters, sorts and selects detections, and disables them with undo', async () => {
  const org = await started.newOrg();
  for (const name of ['Alpha', 'Beta', 'Gamma'])
    await postDetection(org, { name, detectionCadence: 'hourly', detectionCategory: 'custom' });
  const page = await openPage(org, '/detections?q=a&sort=name');
  const grid = page.getByRole('grid', { name: 'Detections' });
  const names = () => grid.getByRole('link').allTextContents();
  await expect.poll(names).toEqual(['Alpha', 'Beta', 'Gamma']);
  await grid.getByRole('button', { name: 'Name' }).click();
  await page.waitForURL(/sort=-name/);
  await expect.poll(names).toEqual(['Gamma', 'Beta', 'Alpha']);
  for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
  await page.getByRole('toolbar', { name: '2 selected' }).getByRole('button', { name: 'Disable' }).click();
  await page.getByText('Disabled 2.').waitFor();
  const enabled = async (): Promise<string[]> =>
    (await callOk(org, 'GET', '/api/detections?enabled=true')).detections.map(({ name }: { name: string }) => name);
  await expect.poll(enabled).toEqual(['Alpha']);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(async () => (await enabled()).length).toBe(3);
  await page.getByRole('searchbox', { name: 'Filter by name' }).fill('alp');
  await expect.poll(names).toEqual(['Alpha']);
  expect(new URL(page.url()).searchParams.get('q')).toBe('alp');
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save this view' }).click();
  await page.getByRole('textbox', { name: 'Name of the view' }).fill('Mine');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Mine' }).waitFor();
  await page.goto(`${started.origin}/console/detections`);
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitemradio', { name: 'Mine' }).click();
  await expect.poll(names).toEqual(['Alpha']);
});

test('writes a detection with completion and preview, runs it and reaches its hit', async () => {
  const org = await started.newOrg();
  const at = new Date(Date.now() - hourMs).toISOString();
  await callOk(org, 'PUT', '/api/value-lists/admins', { values: ['ADA'] });
  await callOk(org, 'POST', '/api/logs/auth', [{ id: 'e-1', time: at, account: 'ada', address: '203.0.113.7' }]);
  const page = await openBlank();
  // The columns arrive long after the first words of the query.
  await page.route(/\/api\/connections\/[^/]+\/fields/, async (route) => {
    await setTimeout(1000);
    await route.continue();
  });
  await signIn(page, started.origin, org, '/detections/new');
  await page.getByLabel('Name', { exact: true }).fill('Sign-in from anywhere');
  const query = page.getByRole('textbox', { name: 'Query' });
  await query.click();
  await page.keyboard.type('SELECT acc');
  await page.getByRole('option', { name: /^account/ }).click();
  await page.keyboard.type(', _id, _time FROM au');
  await page.getByRole('option', { name: /^auth/ }).click();
  await page.keyboard.type(" WHERE address = '203.0.113.7");
  await page.getByLabel('Entity column').fill('account');
  await page.getByLabel('Prompt', { exact: true }).fill('Judge whether the sign-in is theirs.');
  await page.getByRole('list', { name: 'Next five runs' }).getByRole('listitem').nth(4).waitFor();
  await page.getByText('Every hour (UTC)').waitFor();
  await page.getByLabel('Minimum count').fill('1');
  await page.getByLabel('Suppression, minutes').fill('90');
  await page.getByText('Budgets', { exact: true }).click();
  await page.getByLabel('USD per run').fill('0.5');
  await page.getByLabel('Consider working hours').check();
  await page.getByLabel('Sat').check();
  await page.getByRole('button', { name: 'Add rule' }).click();
  const rule = page.getByRole('group', { name: 'Rule 1' });
  await rule.getByLabel('Field').fill('account');
  await rule.getByLabel('Condition').selectOption('list');
  await rule.getByLabel('Value list').selectOption('admins');
  await rule.getByLabel('Severity').selectOption('critical');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByText('would fire').waitFor();
  await page.locator('summary', { hasText: 'ada' }).waitFor();
  await page.getByLabel('What every run of a model must fulfill').fill('Every verdict names the address.\n');
  await page.getByLabel('No verdict is undecided').check();
  await page.getByLabel('Fields that every verdict cites').fill('account, address');
  await page.getByRole('button', { name: 'Estimate' }).click();
  await page.getByText('The built-in analyst judges them at no cost.').waitFor();
  await page.getByRole('button', { name: 'Create detection' }).click();
  await page.waitForURL(/\/detections\/[0-9a-f-]{36}$/);
  const id = page.url().split('/').at(-1)!;
  const record = await callOk(org, 'GET', `/api/detections/${id}`);
  expect(record).toMatchObject({
    detectionQuery: "SELECT account, _id, _time FROM auth WHERE address = '203.0.113.7'",
    detectionCadence: 'hourly',
    entityField: 'account',
    enabled: true,
    tuning: {
      minimumCount: 1,
      workingHours: { days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat'], from: '08:00' },
      severityRules: [{ field: 'account', list: 'admins', severity: 'critical' }],
    },
    suppressionMinutes: 90,
    budgets: { usdPerRun: 0.5 },
    acceptanceCriteria: [
      'Every verdict names the address.',
      { check: 'decided' },
      { check: 'cites_field', field: 'account' },
      { check: 'cites_field', field: 'address' },
    ],
  });
  const range = { from: new Date(Date.now() - 2 * hourMs).toISOString(), to: new Date().toISOString() };
  await callOk(org, 'POST', `/api/detections/${id}/run`, range);
  await executeDueRuns(started.deps, new Date());
  await page.getByRole('link', { name: 'Runs' }).click();
  await page.getByRole('row').nth(1).click();
  await page.getByText('Where the time went').waitFor();
  await page.getByRole('link', { name: 'See hits' }).click();
  await page.getByRole('option').first().click();
  await page.getByRole('group', { name: 'Evidence' }).waitFor();
  await page.getByText('account in lists.admins: critical', { exact: true }).waitFor();
});

test('completes the datasets of a connection and their columns in a portable query', async () => {
  const org = await started.newOrg();
  const datasets = { windows: { source: 'winlogbeat-*' }, cloudtrail: { source: 'raw', event: 'payload' } };
  await callOk(org, 'POST', '/api/connections', {
    kind: 'opensearch',
    name: 'Search cluster',
    settings: { url: siem.url, datasets },
    credentials: { user: 'tocsin', password: 'secret' },
  });
  const page = await openPage(org, '/detections/new');
  await page.getByLabel('Connection').selectOption('Search cluster');
  const language = page.getByRole('group', { name: 'Language' });
  await language.getByRole('button', { name: 'PPL', pressed: true }).waitFor();
  await language.getByRole('button', { name: 'Portable SQL' }).click();
  await page.getByText('windows, cloudtrail').waitFor();
  const query = page.getByRole('textbox', { name: 'Query' });
  await query.click();
  await page.keyboard.press('Control+End');
  await page.keyboard.type('SELECT us');
  await page.getByRole('option', { name: /^user.*keyword/ }).click();
  await page.keyboard.type(', _id, _time FROM win');
  await page.getByRole('option', { name: /^windows/ }).click();
  await page.keyboard.type(' w WHERE w.us');
  await page.getByRole('option', { name: /^user/ }).click();
  // Keys that mean something elsewhere in the console are text here.
  await page.keyboard.type(" = '[?/g h");
  const select = "SELECT user, _id, _time FROM windows w WHERE w.user = '[?/g h'";
  const lines = () => query.locator('.cm-line').allInnerTexts();
  expect(await lines()).toEqual(['-- portable', select]);
  await language.getByRole('button', { name: 'PPL' }).click();
  await expect.poll(lines).toEqual([select]);
});

test('shows what the API says about a field beside it, and keeps what was typed', async () => {
  const org = await started.newOrg();
  const { id } = await postDetection(org, { detectionCadence: 'hourly' });
  const page = await openPage(org, `/detections/${id}?tab=definition`);
  await page.getByLabel('Schedule').selectOption('Cron expression');
  await page.getByLabel('Cron expression').fill('*/5 * * * *');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page
    .getByText(/may not run more often than hourly/)
    .first()
    .waitFor();
  expect(await page.getByLabel('Cron expression').inputValue()).toBe('*/5 * * * *');
  await page.getByLabel('Cron expression').fill('15 8 * * 1-5');
  await page.getByText('At 08:15, Monday through Friday (UTC)').waitFor();
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('No changes').waitFor();
  expect(await callOk(org, 'GET', `/api/detections/${id}`)).toMatchObject({ cronSchedule: '15 8 * * 1-5' });
});

test('writes a prompt version, compares it and uses it; ends an exception; runs test cases', async () => {
  const org = await started.newOrg();
  const id = await raiseHits(started, org, ['ada']);
  const page = await openPage(org, `/detections/${id}?tab=prompts`);
  await page.getByRole('button', { name: 'Write a new version' }).click();
  await page.getByRole('textbox', { name: 'Prompt' }).fill('Judge it twice.');
  await page.getByRole('button', { name: 'Save version' }).click();
  await page.getByText('1 added, 1 removed').waitFor();
  await page.getByRole('main').getByRole('button', { name: 'Use this version' }).click();
  await page.getByText('Version 2 is active.').waitFor();
  await page.getByRole('link', { name: 'Tuning' }).click();
  await page.getByRole('button', { name: 'Create exception' }).click();
  await page.getByLabel('Entity').fill('ada');
  await page.getByLabel('Reason').fill('Tests every night.');
  await page.getByRole('button', { name: 'Create exception' }).last().click();
  await page.getByRole('cell', { name: 'Tests every night.' }).waitFor();
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await page.getByText('No exceptions').waitFor();
  const event = { time: '2026-01-05T10:00:00Z', account: 'ada', address: '203.0.113.7', agent: 'curl' };
  await callOk(org, 'PUT', `/api/detections/${id}/tests`, {
    tests: [
      { name: 'finds ada', events: [event], expect: ['ada'] },
      { name: 'finds nobody', events: [event], expect: [] },
    ],
  });
  await page.getByRole('link', { name: 'Tests' }).click();
  await page.getByRole('button', { name: 'Run tests' }).click();
  await page.getByRole('img', { name: 'Passed' }).waitFor();
  await page.getByText('Unexpected: ada').waitFor();
});

test('says on the overview which exception ends soon, and leads to it', async () => {
  const org = await started.newOrg();
  const { id } = await postDetection(org, { name: 'Sign-ins' });
  const exception = { entity: 'ada', reason: 'Tests every night.', owner: 'grace' };
  const inDays = (days: number) => new Date(Date.now() + days * 24 * hourMs).toISOString();
  await callOk(org, 'POST', `/api/detections/${id}/exceptions`, { ...exception, expiresAt: inDays(3) });
  await callOk(org, 'POST', `/api/detections/${id}/exceptions`, { ...exception, entity: 'bob', expiresAt: inDays(30) });
  const page = await openPage(org, '/');
  const entry = page.getByRole('link', { name: /An exception of Sign-ins ends.*owner grace, hid 0 findings/ });
  await entry.click();
  await page.getByRole('cell', { name: 'Tests every night.' }).nth(1).waitFor();
  await page.waitForURL(new RegExp(`/detections/${id}\\?tab=exceptions`));
});

test('shows a gap in the time line and backfills it from a selection', async () => {
  const org = await started.newOrg();
  behindMs = 70 * hourMs;
  const startMs = Date.now() - behindMs;
  const query = 'SELECT user, _id, _time FROM auth';
  const { id } = await postDetection(org, {
    detectionQuery: query,
    detectionCategory: 'custom',
    detectionCadence: 'hourly',
  });
  await callOk(org, 'POST', '/api/logs/auth', [{ time: new Date(startMs).toISOString(), user: 'ada' }]);
  await executeDueRuns(started.deps, new Date(startMs + hourMs));
  behindMs = 0;
  await executeDueRuns(started.deps, new Date());
  const page = await openPage(org, `/detections/${id}?days=7`);
  await page.getByText('1 gap in this range.').waitFor();
  await page.getByRole('button', { name: 'Estimate backfill' }).click();
  await page.getByText(/windows to examine/).waitFor();
  await page.getByRole('button', { name: 'Start backfill' }).click();
  await page.getByText('The backfill is queued.').waitFor();
  await page.getByText('Backfill running').waitFor();
  const { runs } = await callOk(org, 'GET', `/api/detections/${id}/runs`);
  expect(runs.map(({ trigger }: { trigger: string }) => trigger)).toContain('backfill');
});

test('drafts a detection from plain words, and says which data is missing', async () => {
  const org = await started.newOrg();
  const event = processStart('FS-01', 'vssadmin.exe delete shadows /all');
  await sendEvents(org, 'windows', [{ ...event, '@timestamp': new Date(Date.now() - hourMs).toISOString() }]);
  const page = await openPage(org, '/detections/new');
  const intent = page.getByRole('textbox', { name: 'What should it find?' });
  await intent.fill('MFA push spam against our Okta users');
  await page.getByRole('button', { name: 'Draft' }).click();
  await page.getByText(/Okta push requests until one was approved.+your logs lack the dataset okta/).waitFor();
  await page.getByRole('button', { name: 'Install Okta push requests until one was approved' }).waitFor();
  await intent.fill('ransomware deletes the shadow copies');
  await page.getByRole('button', { name: 'Draft' }).click();
  await page.getByText('recovery-inhibited').waitFor();
  await expect.poll(() => page.getByRole('textbox', { name: 'Name' }).inputValue()).toMatch(/^Shadow copies/);
  await page.getByRole('button', { name: 'Create detection' }).click();
  await page.waitForURL(/\/detections\/[0-9a-f-]{36}/);
  const [, id] = /detections\/([0-9a-f-]{36})/.exec(page.url())!;
  expect((await callOk(org, 'GET', `/api/detections/${id}/tests`)).tests.length).toBeGreaterThan(0);
});
