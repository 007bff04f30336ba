import { expect, test } from 'vitest';
import { startConsole, startPages } from '../../support/browser/console.ts';
import { callOk } from '../../support/detection/detection-factory.ts';
import { selectIn } from '../../support/select-rows.ts';
import { changeQuotas } from '../../../src/platform/orgs/limits/quotas.ts';

const started = await startConsole();
const { openPage } = await startPages(started);

/** Opens a page of a new organization. */
async function open(path: string) {
  const org = await started.newOrg();
  const page = await openPage(org, path);
  return { org, page, dialog: page.getByRole('dialog') };
}

test('creates a key, shows it once, and ends its session when it is revoked', async () => {
  const { org, page, dialog } = await open('/settings/keys');
  await page.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByLabel('Name').fill('grace');
  await dialog.getByLabel('Permissions').first().selectOption('shipper');
  await dialog.getByLabel('Judge hits and write notes').check();
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const key = await page.getByRole('group', { name: 'Key', exact: true }).innerText();
  await page.getByRole('button', { name: 'Done' }).click();
  expect(await page.getByText(key).count()).toBe(0);
  const { keys } = await callOk(org, 'GET', '/api/keys');
  expect(keys.find(({ name }: { name: string }) => name === 'grace').scopes.toSorted()).toEqual([
    'hits:write',
    'logs:write',
  ]);

  const other = await openPage({ key }, '/settings/organization');
  await other.getByText('hits:write').waitFor();
  await page.getByRole('link', { name: 'Sessions' }).click();
  await page.getByText('This session').waitFor();
  await page.getByRole('list', { name: 'Sessions' }).getByText('grace').waitFor();

  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Actions for the key grace' }).click();
  await page.getByRole('menuitem', { name: 'Revoke key' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click();
  await page.getByText('Revoked “grace”.').waitFor();
  await other.reload();
  await other.getByLabel('API key').waitFor();
});

test('ends the session of somebody else', async () => {
  const { org, page } = await open('/settings/sessions');
  const other = await openPage(org, '/settings/organization');
  await page.reload();
  await page.getByRole('button', { name: 'End session' }).click();
  await page.getByRole('button', { name: 'End session' }).waitFor({ state: 'detached' });
  await other.reload();
  await other.getByLabel('API key').waitFor();
  await page.getByText('This session').waitFor();
});

test('creates a value list from CSV, edits it, and deletes it', async () => {
  const { org, page, dialog } = await open('/settings/lists');
  await page.getByRole('button', { name: 'New list' }).click();
  await dialog.getByLabel('Name').fill('networks');
  await dialog.getByLabel('Rows as CSV').fill('cidr,site\n10.0.0.0/8');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('must have 2 cells').waitFor();
  await dialog.getByLabel('Rows as CSV').fill('cidr,site\n10.0.0.0/8,"Oslo, main"');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Edit networks' }).click();
  expect(await dialog.getByLabel('Rows as CSV').inputValue()).toBe('cidr,site\n10.0.0.0/8,"Oslo, main"');
  await dialog.getByLabel('Description').fill('Our offices');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Our offices').waitFor();
  expect(await callOk(org, 'GET', '/api/value-lists/networks')).toMatchObject({ rows: [['10.0.0.0/8', 'Oslo, main']] });
  await page.getByRole('button', { name: 'Delete networks' }).click();
  await page.getByRole('alertdialog').or(dialog).getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No lists yet').waitFor();
});

test('fills a value list from a query, and shows it when it is edited', async () => {
  const { org, page, dialog } = await open('/settings/lists');
  await page.getByRole('button', { name: 'New list' }).click();
  await dialog.getByRole('textbox', { name: 'Name' }).fill('people');
  await dialog.getByRole('button', { name: 'Query', exact: true }).click();
  await dialog.getByRole('textbox', { name: 'Query' }).fill('SELECT user FROM');
  await dialog.getByRole('textbox', { name: 'Columns' }).fill('user, department');
  await dialog.getByLabel('Events of the last').fill('48');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('syntax error').waitFor();
  const query = 'SELECT user, department FROM directory';
  await dialog.getByRole('textbox', { name: 'Query' }).fill(query);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Edit people' }).click();
  expect(await dialog.getByRole('textbox', { name: 'Query' }).inputValue()).toBe(query);
  expect(await dialog.getByRole('textbox', { name: 'Columns' }).inputValue()).toBe('user, department');
  expect(await callOk(org, 'GET', '/api/value-lists/people')).toMatchObject({
    columns: ['user', 'department'],
    source: { query, connectionId: null, spanHours: 48, everyHours: 24 },
  });
});

test('sets up an enricher, and keeps its key when it is changed', async () => {
  const { org, page, dialog } = await open('/settings/enrichers');
  await page.getByText('nothing is looked up elsewhere').waitFor();
  await page.getByRole('button', { name: 'New enricher' }).click();
  await dialog.getByLabel('Name', { exact: true }).fill('intel');
  await dialog.getByLabel('Kind').selectOption({ label: 'HTTP look-up' });
  await dialog.getByLabel('URL', { exact: true }).fill('https://intel.example.com/ip');
  await dialog.getByLabel('Fields').fill('score, geo.isp');
  await dialog.getByLabel('Header', { exact: true }).fill('X-Key');
  await dialog.getByLabel('Header value').fill('secret');
  await dialog.getByLabel('hash').check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('must be an http or https URL with a fixed host').waitFor();
  await dialog.getByLabel('URL', { exact: true }).fill('https://intel.example.com/ip/{value}');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('0 of 1,000 look-ups today').waitFor();
  await page.getByRole('button', { name: 'Edit intel' }).click();
  await dialog.getByLabel('Look-ups per day').fill('50');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('0 of 50 look-ups today').waitFor();
  expect((await callOk(org, 'GET', '/api/enrichers')).enrichers).toMatchObject([
    { hasCredentials: true, settings: { fields: ['score', 'geo.isp'], types: ['ip', 'hash'], header: 'X-Key' } },
  ]);
  await page.getByRole('button', { name: 'Remove intel' }).click();
  await page.getByRole('alertdialog').or(dialog).getByRole('button', { name: 'Remove' }).click();
  await page.getByText('nothing is looked up elsewhere').waitFor();
});

test('adds a connection, and says at the field or beside the connection what is wrong', async () => {
  const { org, page, dialog } = await open('/settings/connections');
  await page.getByRole('button', { name: 'Add connection' }).click();
  await dialog.getByLabel('Kind').selectOption('elasticsearch');
  await dialog.getByLabel('Name').fill('Old cluster');
  await dialog.getByLabel('URL').fill('http://127.0.0.1:9');
  await dialog.getByLabel('Api key', { exact: false }).last().fill('no-such-key');
  await dialog.getByRole('button', { name: 'Save and check' }).click();
  await dialog.locator('[aria-invalid=true]').waitFor();
  await dialog.getByLabel('URL').fill('https://elastic.invalid');
  await dialog.getByRole('button', { name: 'Save and check' }).click();
  await page.getByText('The check failed').waitFor();
  await page.getByText('elastic.invalid', { exact: false }).first().waitFor();
  const { connections } = await callOk(org, 'GET', '/api/connections');
  expect(connections.map(({ name }: { name: string }) => name)).toContain('Old cluster');
});

test('says in the form of a connection where the datasets of portable queries are', async () => {
  const { org, page, dialog } = await open('/settings/connections');
  await page.getByRole('button', { name: 'Add connection' }).click();
  await dialog.getByLabel('Kind').selectOption('splunk');
  await dialog.getByLabel('Name').fill('Splunk');
  await dialog.getByLabel('URL').fill('https://splunk.invalid:8089');
  await dialog.getByLabel('Token').fill('no-such-token');
  const row = (n: number) => dialog.getByRole('group', { name: `Dataset ${n}` });
  for (const n of [1, 2]) {
    await dialog.getByRole('button', { name: 'Add dataset' }).click();
    await row(n).getByLabel('Dataset', { exact: true }).fill('windows');
    await row(n)
      .getByLabel('Search')
      .fill(n === 1 ? 'index=win | delete' : 'index=cloud');
  }
  await row(2).getByLabel('Field with the event as JSON').fill('payload');
  const save = dialog.getByRole('button', { name: 'Save and check' });
  await save.click();
  await row(2).getByText('Another line has this dataset.').waitFor();
  await row(2).getByLabel('Dataset', { exact: true }).fill('Cloud Trail');
  await save.click();
  await row(1).getByText('must be the name of a table or an index').waitFor();
  await row(2).getByText('is not a dataset name').waitFor();
  await row(1).getByLabel('Search').fill('index=wineventlog');
  await row(2).getByLabel('Dataset', { exact: true }).fill('cloudtrail');
  await save.click();
  await page.getByText('The check failed').waitFor();
  const stored = async () =>
    (await callOk(org, 'GET', '/api/connections')).connections.find(({ kind }: { kind: string }) => kind === 'splunk')
      .settings.datasets;
  expect(await stored()).toEqual({
    windows: { source: 'index=wineventlog' },
    cloudtrail: { source: 'index=cloud', event: 'payload' },
  });
  await page.getByRole('button', { name: 'Actions for the connection Splunk' }).click();
  await page.getByRole('menuitem', { name: 'Change' }).click();
  await row(2).getByRole('button', { name: 'Remove cloudtrail' }).click();
  await expect.poll(() => row(2).count()).toBe(0);
  await save.click();
  await expect.poll(stored).toEqual({ windows: { source: 'index=wineventlog' } });
});

test('adds a destination, shows the result of a test, and logs the changes', async () => {
  const { org, page, dialog } = await open('/settings/destinations');
  await page.getByRole('button', { name: 'Add destination' }).click();
  await dialog.getByLabel('Name').fill('<b>Tickets</b>');
  await dialog.getByLabel('Address').fill('https://tickets.invalid/hook');
  await dialog.getByRole('button', { name: 'Add destination' }).click();
  expect(await page.getByRole('group', { name: 'Secret' }).innerText()).toMatch(/^whsec_/);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Add destination' }).click();
  await dialog.getByLabel('Kind').selectOption('PagerDuty');
  await dialog.getByLabel('Name').fill('On call');
  await dialog.getByLabel('Routing key').fill('r'.repeat(32));
  expect(await dialog.getByLabel('Routing key').getAttribute('type')).toBe('password');
  expect(await dialog.getByLabel('New incident').isChecked()).toBe(true);
  await dialog.getByRole('button', { name: 'Add destination' }).click();
  await page.getByRole('link', { name: 'On call' }).first().waitFor();
  await page.getByRole('button', { name: 'Add destination' }).click();
  await dialog.getByLabel('Kind').selectOption('GitHub issues');
  await dialog.getByLabel('Ticket comments').selectOption('ignore');
  await dialog.getByLabel('Kind').selectOption('E-mail (SMTP)');
  await dialog.getByLabel('Name').fill('Mail');
  await dialog.getByLabel('Address').fill('smtp://mail.invalid:587');
  await dialog.getByLabel('From', { exact: true }).fill('tocsin@company.example');
  await dialog.getByLabel('To', { exact: true }).fill('soc@company.example, lead@company.example');
  await dialog.getByRole('button', { name: 'Add destination' }).click();
  await page.getByRole('link', { name: 'Mail' }).first().waitFor();
  const { destinations } = (await org.call('GET', '/api/destinations')).body;
  expect(destinations[0]).toMatchObject({
    kind: 'email',
    settings: { to: ['soc@company.example', 'lead@company.example'], encryption: 'required' },
  });
  await selectIn(started.deps.db, org.id)`update destinations set tickets_error = 'status 429'`;
  await page.getByRole('link', { name: '<b>Tickets</b>' }).first().click();
  await page.getByText('status 429').waitFor();
  await page.getByRole('button', { name: 'Send a test' }).first().click();
  await page.getByText('The test was not delivered.').waitFor();
  await page.getByRole('region', { name: 'Deliveries' }).getByRole('row').nth(1).waitFor();
  await page.getByRole('link', { name: 'Audit log' }).click();
  await page.getByRole('button', { name: 'destination.created' }).last().click();
  await page
    .getByRole('region', { name: 'Details of destination.created' })
    .getByText('https://tickets.invalid')
    .waitFor();
});

test('says which permission is missing', async () => {
  const org = await started.newOrg();
  const { key } = await callOk(org, 'POST', '/api/keys', { name: 'reader', scopes: ['detections:read'] });
  const page = await openPage({ key }, '/settings/audit');
  await page.getByText('Your access does not include this.').waitFor();
  await page.getByText('audit:read').waitFor();
  await page.getByRole('link', { name: 'Data retention' }).click();
  await page.getByRole('row', { name: /^Events, after they were received/ }).waitFor();
  expect(await page.getByRole('button', { name: 'Change periods' }).count()).toBe(0);
});

test('changes how long data is kept, within what the operator allows', async () => {
  const { org, page, dialog } = await open('/settings/retention');
  const row = page.getByRole('row', { name: /^Hits with their rows/ });
  await row.getByText('Operator').waitFor();
  await page.getByRole('button', { name: 'Change periods' }).click();
  await dialog.getByLabel('Hits with their rows, after they were last seen').fill('9999');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.locator('[aria-invalid=true]').waitFor();
  await dialog.getByLabel('Hits with their rows, after they were last seen').fill('90');
  await dialog.getByRole('button', { name: 'Save and delete older data' }).click();
  await row.getByText('Organization').waitFor();
  expect(await row.getByRole('cell').allTextContents()).toEqual(expect.arrayContaining(['90', '365']));
  expect(await callOk(org, 'GET', '/api/privacy/retention')).toMatchObject({ hitsDays: 90 });
});

test('sets the tools of new detections and what is kept from models, and the form of a detection proposes the tools', async () => {
  const { org, page } = await open('/detections/new');
  const toolsOf = async (names: string[]) => {
    await page.getByText(/^Tools \(/).click();
    return Promise.all(names.map((name) => page.getByRole('checkbox', { name: new RegExp(`^${name} `) }).isChecked()));
  };
  expect(await toolsOf(['search_logs', 'http_get'])).toEqual([true, false]);
  await page.goto(page.url().replace('/detections/new', '/settings/agents'));
  await page.getByLabel('Choose tools for new detections').check();
  await page.getByRole('checkbox', { name: /^get_rows / }).check();
  await page.getByLabel('Datasets kept from models').fill('payroll\n');
  await page.getByLabel('Fields kept from models').fill('ssn\nuser..ssn');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('/hiddenFields/1').waitFor();
  await page.getByLabel('Fields kept from models').fill('ssn\nuser.ssn');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The settings are changed.').waitFor();
  expect(await callOk(org, 'GET', '/api/agent-settings')).toMatchObject({
    defaultToolNames: ['get_rows'],
    hiddenDatasets: ['payroll'],
    hiddenFields: ['ssn', 'user.ssn'],
  });
  await page.goto(page.url().replace('/settings/agents', '/detections/new'));
  expect(await toolsOf(['search_logs', 'get_rows'])).toEqual([false, true]);
});

test('shows the limits of the organization and what it used', async () => {
  const { org, page } = await open('/settings/usage');
  await page.getByText('The operator of this service has set no limits').waitFor();
  await callOk(org, 'POST', '/api/logs/auth', [{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }]);
  const changes = { logEventsPerDay: 5, requestsPerMinute: 9000, logBytesStored: 2_500_000_000 };
  await changeQuotas(started.deps, org, { changes, operator: 'test' });
  await page.reload();
  const cells = (name: RegExp) => page.getByRole('row', { name }).getByRole('cell').allTextContents();
  await page.getByRole('row', { name: /^Log events per day/ }).waitFor();
  expect(await cells(/^Log events per day/)).toEqual(['Log events per day', '4', '5', '80 %', expect.any(String)]);
  expect(await cells(/^Requests per minute/)).toEqual(['Requests per minute', '–', '9,000', '–', '–']);
  expect((await cells(/^Stored logs/))[2]).toBe('2.50 GB');
  await page
    .getByRole('table', { name: 'Log events', exact: true })
    .getByText('4 events')
    .waitFor({ state: 'attached' });
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('link', { name: /80 % of a limit used: Log events per day/ }).click();
  await page.waitForURL(/\/settings\/usage$/);
});

test('filters the audit log by action, author and target, and keeps the filters in the address', async () => {
  const org = await started.newOrg();
  const source = { kind: 'csv', name: 'List', url: 'https://lists.invalid/list', visibility: 'private' };
  const { id } = await callOk(org, 'POST', '/api/feed/sources', source);
  await callOk(org, 'POST', '/api/keys', { name: 'grace', scopes: ['hits:read'] });
  const page = await openPage(org, '/settings/audit');
  const entries = page.getByRole('list', { name: 'Audit log' }).getByRole('listitem');
  await page.getByRole('searchbox', { name: 'Action' }).fill('source.');
  await expect.poll(() => entries.count()).toBe(1);
  await entries.first().getByRole('button').click();
  await page.getByRole('link', { name: 'All changes of this' }).click();
  await expect.poll(() => new URL(page.url()).search).toBe(`?target=${id}`);
  await page.goto(`${started.origin}/console/settings/audit?action=key.&period=day`);
  await expect.poll(() => entries.filter({ hasText: 'key.created' }).count()).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Remove the filter Time' }).click();
  await expect.poll(() => new URL(page.url()).search).toBe('?action=key.');
});

test('adds an enricher with the limits of the API, and names the limit that it refuses', async () => {
  const { org, page, dialog } = await open('/settings/enrichers');
  await page.getByRole('button', { name: 'New enricher' }).first().click();
  await dialog.getByLabel('Name').fill('names');
  await dialog.getByLabel('Kind').selectOption('dns');
  await dialog.getByLabel('Look-ups per day').fill('0');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.locator('[aria-invalid="true"]').waitFor();
  await dialog.getByLabel('Look-ups per day').fill('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved names.').waitFor();
  const { enrichers } = await callOk(org, 'GET', '/api/enrichers');
  expect(enrichers).toMatchObject([{ name: 'names', kind: 'dns', perMinute: 60, perDay: 1000, cacheHours: 24 }]);
});
