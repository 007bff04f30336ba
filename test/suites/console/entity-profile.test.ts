import { expect, test } from 'vitest';
import { startConsole, startPages } from '../../support/browser/console.ts';
import { raiseHits } from '../../support/browser/raise-hits.ts';
import { callOk } from '../../support/detection/detection-factory.ts';

const started = await startConsole();
const { openPage } = await startPages(started);

test('a person finds an entity by an alias, joins a name, separates it and takes that back', async () => {
  const org = await started.newOrg();
  await callOk(org, 'PUT', '/api/value-lists/own-domains', { values: ['halden.example'] });
  await raiseHits(started, org, ['tomas.rehn', 'HALDEN\\tomas.rehn', 'trn']);
  const page = await openPage(org, '/hits?by=entity');
  await page.getByRole('button', { name: 'tomas.rehn' }).getByText('2 open').waitFor();

  await page.keyboard.press('ControlOrMeta+k');
  await page.getByPlaceholder('Search').fill('halden\\tomas');
  await page.getByRole('option', { name: 'tomas.rehn (user)' }).click();
  const aliases = page.getByRole('list', { name: 'Aliases' });
  await aliases.getByText('`HALDEN` is a domain of the organization.').waitFor();
  expect(await aliases.getByRole('listitem').count()).toBe(2);

  await page.getByLabel('Name', { exact: true }).fill('trn');
  await page.getByLabel('Why is it the same? (optional)').fill('His second account.');
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await aliases.getByText('His second account.').waitFor();
  await page.getByText('3 hits', { exact: true }).waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('');

  await page.getByRole('button', { name: 'Separate HALDEN\\tomas.rehn' }).click();
  await page.getByText('2 hits', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('3 hits', { exact: true }).waitFor();
  const { entities } = await callOk(org, 'GET', '/api/entities');
  expect(entities).toMatchObject([{ entity: 'tomas.rehn', entityType: 'user', hits: 3 }]);
});

test('a refused name stays in the form', async () => {
  const org = await started.newOrg();
  await raiseHits(started, org, ['ada']);
  const reader = await started.newKey(org, ['hits:read', 'detections:read', 'feed:read']);
  const page = await openPage(reader, '/hits/entity?type=user&name=ada');
  await page.getByLabel('Name', { exact: true }).fill('ada.adm');
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.getByText('The names were not changed.').waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('ada.adm');
});
