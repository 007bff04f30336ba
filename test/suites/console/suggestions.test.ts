import { expect, test } from 'vitest';
import { startConsole, startPages } from '../../support/browser/console.ts';
import { callOk, postSuggestion } from '../../support/detection/detection-factory.ts';
import { fileSource } from '../../support/feed/kev-source.ts';
import { stixBundle } from '../../support/feed/stix-documents.ts';

const started = await startConsole();
const { openPage } = await startPages(started);

const report =
  'Notes of the week.\n\nThe group <img src=x onerror=alert(1)> signs in through control.example-panel.net at night. Then it leaves.';

/** Suggests two detections: one from a sentence of a report, one without a source. Opens the inbox. */
async function openInbox() {
  const org = await started.newOrg();
  await callOk(org, 'POST', '/api/logs/auth', [{ time: new Date().toISOString(), account: 'ada' }]);
  const item = await callOk(org, 'POST', '/api/feed/items', { title: 'Weekly report', text: report });
  const sourced = await postSuggestion(org, {
    name: 'Sign-in through a known panel',
    detectionQuery: 'SELECT account, _id, _time FROM auth',
    entityField: 'account',
    detectionCadence: 'daily',
    rationale: 'The report describes it.',
    technique: 'T1078',
    sourceItemIds: [item.id],
    evidence: [{ itemId: item.id, evidenceRef: 'provenance.supportingPassages[0]' }],
  });
  await postSuggestion(org, { name: 'From nowhere' });
  const page = await openPage(org, '/suggestions');
  const list = page.getByRole('listbox', { name: 'Suggestions' });
  await list.getByRole('option').nth(1).waitFor();
  return { org, page, list, sourced };
}

test('shows the passage in its report and accepts the suggestion with changes', async () => {
  const { org, page, list, sourced } = await openInbox();
  await list.getByText('Sign-in through a known panel').click();
  const text = page.getByRole('region', { name: 'Weekly report' });
  expect(await text.locator('mark').first().innerText()).toContain('example-panel');
  await text.getByText('<img src=x onerror=alert(1)>').waitFor();
  expect(await page.locator('main img').count()).toBe(0);
  await page.getByRole('button', { name: 'Backtest 30 days' }).click();
  await page.getByText('Candidates').waitFor();
  await page.getByLabel('Name').fill('Panel sign-in');
  await page.getByLabel('Schedule').selectOption('hourly');
  await page.getByRole('button', { name: 'Accept with changes' }).click();
  await page.getByText('Accepted “Panel sign-in”.').waitFor();
  expect(await callOk(org, 'GET', `/api/detections/${sourced.id}`)).toMatchObject({
    isSuggestion: false,
    name: 'Panel sign-in',
    detectionCadence: 'hourly',
    detectionQuery: 'SELECT account, _id, _time FROM auth',
  });
  await page.getByRole('heading', { name: 'From nowhere' }).waitFor();
});

test('shows the passage of a structured report in its fields', async () => {
  const org = await started.newOrg();
  const description =
    'Notes.\n\nThe attackers run PowerShell to download the next stage from bad-cdn[.]top. Then they leave.';
  const source = await fileSource(started, org, { kind: 'stix', visibility: 'private' });
  await source.pull(stixBundle(['bad-cdn.top', 'a'.repeat(64)], { description }));
  const [{ id }] = (await callOk(org, 'GET', '/items')).items;
  await postSuggestion(org, {
    name: 'Next stage',
    sourceItemIds: [id],
    evidence: [{ itemId: id, evidenceRef: 'provenance.supportingPassages[0]' }],
  });
  const page = await openPage(org, '/suggestions');
  await page.getByRole('listbox', { name: 'Suggestions' }).getByText('Next stage').click();
  const text = page.getByRole('article').getByRole('region');
  await text.getByRole('definition').filter({ hasText: 'Then they leave.' }).waitFor();
  expect((await text.locator('mark').allInnerTexts()).join('')).toContain('bad-cdn[.]top');
  expect(await text.getByRole('heading').allInnerTexts()).toEqual(['Report']);
  await page.getByRole('button', { name: 'Show the whole text' }).click();
  await text.getByRole('heading', { name: 'Indicator' }).first().waitFor();
});

test('dismisses with a reason by keyboard, restores from the dismissed ones, and undoes', async () => {
  const { org, page, list, sourced } = await openInbox();
  const readDismissed = async () =>
    (await callOk(org, 'GET', '/api/detections/suggestions/dismissed')).suggestions.map(
      ({ id, dismissReason, dismissNote }: Record<string, string>) => [id, dismissReason, dismissNote],
    );
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.getByRole('heading', { name: 'Sign-in through a known panel' }).waitFor();
  await page.keyboard.press('d');
  await page.getByLabel('Reason').selectOption('noisy');
  await page.getByLabel('Note').fill('everybody does');
  await page.keyboard.press('Enter');
  await page.getByText('Dismissed “Sign-in').waitFor();
  expect(await readDismissed()).toEqual([[sourced.id, 'noisy', 'everybody does']]);

  await page.goto(`${started.origin}/console/suggestions?view=dismissed`);
  await list.getByRole('option').click();
  await page.getByText('Too noisy: everybody does').waitFor();
  await page.getByRole('button', { name: 'Restore' }).click();
  await page.getByText('Nothing was dismissed').waitFor();
  expect(await readDismissed()).toEqual([]);

  await page.getByRole('button', { name: 'Remove the filter View' }).click();
  await list.getByText('From nowhere').click();
  await page.keyboard.press('d');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(readDismissed).toEqual([]);
  await list.getByText('From nowhere').waitFor();
});

test('leads from an empty inbox to the agent that fills it', async () => {
  const org = await started.newOrg();
  const page = await openPage(org, '/suggestions');
  await page.getByRole('button', { name: 'Read reports every day' }).click();
  await page.getByText('It runs on a schedule.', { exact: false }).waitFor();
  const { agents } = await callOk(org, 'GET', '/api/agents?builtIn=true');
  expect(
    agents.map(({ builtInAgentType, cronSchedule }: Record<string, string>) => [builtInAgentType, cronSchedule]),
  ).toContainEqual(['threat-research', '0 0 * * *']);
});
