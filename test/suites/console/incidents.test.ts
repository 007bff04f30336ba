import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { runNextHunt } from '../../../src/agents/hunting/run-hunts.ts';
import { findViolations } from '../../support/browser/axe.ts';
import { startConsole, startPages } from '../../support/browser/console.ts';
import { callOk } from '../../support/detection/detection-factory.ts';
import { startModelStandIn } from '../../support/models/model-stand-in.ts';
import { createScriptedModels } from '../../support/models/scripted-models.ts';
import { startHits } from '../../support/detection/raised-hits.ts';

const started = await startConsole();
// A refused change is a failed request, which Chromium reports.
const { openPage } = await startPages(started, (text) => text.includes('status of 409'));

/** Opens the list of incidents of an organization with one of two hits, and a hit that shares nothing. */
async function openIncidents(options: object = {}) {
  const org = await started.newOrg();
  const hits = await startHits(started.deps.db, org.id);
  await hits.raise([
    { name: 'signs in', at: 0, entity: 'ada', techniques: ['T1078'], fields: { src_ip: '198.51.100.7' } },
    { name: 'exports', at: 2, entity: 'ada', severity: 'high', techniques: ['T1567'] },
    { name: 'sleeps', at: 2, entity: 'zoe' },
  ]);
  await hits.place();
  const page = await openPage(org, '/incidents', options);
  await page.getByRole('list', { name: 'Incidents' }).waitFor();
  return { org, page, hits };
}

test('opens an incident by keyboard, takes it, comments and closes it', async () => {
  const { page } = await openIncidents();
  await page.getByRole('button', { name: /ada: 2 hits/ }).waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/console\/incidents\/[0-9a-f-]{36}$/);
  const story = page.getByRole('list', { name: 'What happened' });
  await story.getByRole('heading').nth(1).waitFor();
  expect(await story.getByRole('heading').allInnerTexts()).toEqual(['Initial Access', 'Exfiltration']);
  await story
    .getByRole('button', { name: /in the window 2026-03-02/ })
    .first()
    .click();
  await story.getByRole('link', { name: 'Open the hit' }).waitFor();
  const [bundle] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Evidence bundle' }).click(),
  ]);
  expect(bundle.suggestedFilename()).toMatch(/^incident-[0-9a-f-]{36}\.zip$/);
  await page
    .getByRole('list', { name: 'Why they belong together' })
    .getByText('user', { exact: true })
    .first()
    .waitFor();
  const entities = page.getByRole('list', { name: 'Entities' });
  await entities.getByText('in 2 hits, new here').waitFor();
  await entities.getByRole('button', { name: 'What to do with ada' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Profile of the entity' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('menuitem', { name: 'Profile of the entity' }).waitFor({ state: 'detached' });
  expect(await findViolations(page)).toEqual([]);
  await page.keyboard.press('m');
  await page.getByRole('button', { name: 'Remove owner' }).waitFor();
  await page.getByRole('textbox', { name: 'Comment (Markdown)' }).fill('The account is disabled.');
  await page.getByRole('button', { name: 'Add comment' }).click();
  await page.getByRole('list', { name: 'Comments and history' }).getByText('The account is disabled.').waitFor();
  await page.getByRole('button', { name: /^True positive/ }).click();
  await page.getByRole('button', { name: 'Open again' }).waitFor();
});

test('two analysts work on one incident at once, and a lead sees what is open and late', async () => {
  const { org, page: ada } = await openIncidents();
  await ada.getByRole('button', { name: /ada: 2 hits/ }).click();
  await ada.waitForURL(/\/console\/incidents\/[0-9a-f-]{36}$/);
  const path = new URL(ada.url()).pathname.replace('/console', '');
  const grace = await openPage(org, path);
  const lead = await openPage(org, '/incidents?inbox=unowned');
  const comments = (page: Page) => page.getByRole('list', { name: 'Comments and history' });
  const comment = (page: Page) => page.getByRole('textbox', { name: 'Comment (Markdown)' });
  await comment(grace).fill('Half a sentence');
  await lead.getByRole('button', { name: /ada: 2 hits/ }).waitFor();
  await ada.keyboard.press('m');
  await grace.getByRole('button', { name: 'Remove owner' }).waitFor();
  await lead.getByText('Every incident has an owner').waitFor();
  await comment(ada).fill('The account is disabled.');
  await ada.getByRole('button', { name: 'Add comment' }).click();
  await comments(grace).getByText('The account is disabled.').waitFor();
  expect(await comment(grace).inputValue()).toBe('Half a sentence');

  // Whatever she would hear of now is under way.
  await grace.route(`**/api${path}`, (route) => (route.request().method() === 'GET' ? undefined : route.continue()));
  const rate = async (page: Page, severity: string) => {
    await page.getByRole('button', { name: 'Severity', exact: true }).click();
    await page.getByRole('menuitemradio', { name: severity }).click();
  };
  const severityOf = (page: Page, severity: RegExp) => page.locator('article header').getByText(severity);
  await rate(ada, 'Critical');
  await severityOf(ada, /^critical$/i).waitFor();
  await rate(grace, 'Low');
  const dialog = grace.getByRole('dialog', { name: 'Somebody changed this meanwhile' });
  await dialog.getByText('severity: high → critical').waitFor();
  await grace.unrouteAll({ behavior: 'ignoreErrors' });
  await dialog.getByRole('button', { name: 'Keep theirs' }).click();
  await severityOf(grace, /^critical$/i).waitFor();
  expect(await comment(grace).inputValue()).toBe('Half a sentence');

  await lead.getByRole('link', { name: /^Late/ }).click();
  await lead.getByRole('button', { name: /ada: 2 hits/ }).waitFor();
});

test('rates an incident, opens one from selected hits, merges it by search, and finds it in the palette', async () => {
  const { page } = await openIncidents();
  await page.goto(new URL('/console/hits', started.origin).href);
  await page.getByRole('option', { name: /zoe/ }).locator('[data-select]').click();
  await page.getByRole('toolbar').getByRole('button', { name: 'Open an incident' }).click();
  await page.getByRole('heading', { name: /zoe: 1 hit of/ }).waitFor();
  await page.getByRole('button', { name: 'Severity', exact: true }).click();
  await page.getByRole('menuitemradio', { name: 'Critical' }).click();
  await page
    .locator('article header')
    .getByText(/^critical$/i)
    .waitFor();
  await page.getByRole('searchbox', { name: 'Search incidents to merge' }).fill('ada');
  const found = page.getByRole('list', { name: 'Search incidents to merge' });
  await found.getByRole('link', { name: /ada: 2 hits/ }).waitFor();
  await found.getByRole('button', { name: 'Merge into this one' }).click();
  await page.getByRole('heading', { name: /3 hits of/ }).waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder('Search').last().fill('198.51.100.7');
  await page.getByRole('option', { name: /3 hits of/ }).click();
  await page.waitForURL(/\/console\/incidents\/[0-9a-f-]{36}$/);
});

test('splits a hit off, and shows a new incident without a click', async () => {
  const { page, hits } = await openIncidents({ colorScheme: 'dark', viewport: { width: 400, height: 800 } });
  await page.getByText('Live', { exact: true }).waitFor();
  await hits.raise([
    { name: 'b1', at: 1, entity: 'bob' },
    { name: 'b2', at: 2, entity: 'bob' },
  ]);
  await hits.place();
  await page.getByRole('button', { name: /bob: 2 hits/ }).waitFor();
  await page.keyboard.press('a');
  const bar = page.getByRole('toolbar', { name: '2 incidents selected' });
  await bar.getByRole('button', { name: 'Close as' }).click();
  await page.getByRole('menuitem', { name: 'Benign' }).click();
  await page.getByRole('button', { name: /ada: 2 hits.*Benign.*0 open hits/ }).waitFor();
  await bar.waitFor({ state: 'hidden' });
  await page.getByRole('checkbox', { name: /Select bob/ }).check();
  expect(await findViolations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.keyboard.press('u');
  await page.getByRole('button', { name: /bob: 2 hits.*Open.*2 open hits/ }).waitFor();
  await page.getByRole('link', { name: 'Mine' }).click();
  await page.getByText('You signed in with a key').waitFor();
  await page.getByRole('link', { name: 'All' }).click();
  await page.getByRole('button', { name: /ada: 2 hits/ }).click();
  await page.getByRole('checkbox', { name: /exports/ }).check();
  await page.getByRole('button', { name: 'Split off' }).click();
  await page.getByRole('heading', { name: /ada: 1 hit of/ }).waitFor();
  expect(await findViolations(page)).toEqual([]);
});

test('saves a hunt, compares its runs, and adds what is new to an incident', async () => {
  const { org, page } = await openIncidents();
  // The page says that a run is under way before it is queued.
  const work = () => expect.poll(() => runNextHunt(started.deps, new AbortController().signal)).toBe(true);
  const timestamp = new Date(started.deps.clock().getTime() - 60_000).toISOString();
  const log = (user: string) => callOk(org, 'POST', '/api/logs/vpn', [{ timestamp, user, outcome: 'failure' }]);
  await log('ada');
  await callOk(org, 'POST', '/api/feed/items', { title: 'Report', text: 'Emotet used zq7-drop[.]top.' });
  await page.getByRole('link', { name: 'Hunts', exact: true }).click();
  await page.getByRole('button', { name: 'New hunt' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Failures');
  await page.getByText('Indicators', { exact: true }).click();
  await page.getByRole('searchbox', { name: 'Add the indicators of a report' }).fill('Emotet');
  await page.getByRole('button', { name: 'Add 1 indicator' }).click();
  expect(await page.getByRole('textbox', { name: 'Indicators' }).inputValue()).toBe('zq7-drop.top');
  await page.getByText('Query', { exact: true }).click();
  await page.getByRole('textbox', { name: 'What to find' }).fill('Who failed to log on?');
  await page.getByRole('button', { name: 'Write the query' }).click();
  await page.getByRole('link', { name: 'Connect a model' }).waitFor();
  const input = { query: "SELECT * FROM vpn WHERE outcome = 'failure'", rowMeaning: 'A failed log-on.' };
  const { url } = await startModelStandIn('anthropic', () => ({ calls: [{ name: 'submit_query', input }] }));
  Object.assign(started.deps.models!, createScriptedModels({ default: url }));
  await page.getByRole('button', { name: 'Write the query' }).click();
  await page.getByText('The query returns 1 row').waitFor();
  expect(await page.getByRole('textbox', { name: 'Query' }).inputValue()).toBe(input.query);
  await page.getByRole('button', { name: 'Save and run' }).click();
  await page.getByRole('button', { name: 'Running …' }).waitFor();
  await work();
  await page.getByText('There is no earlier run').waitFor();
  await page.getByText('A failed log-on.').waitFor();
  await log('mallory');
  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByRole('button', { name: 'Running …' }).waitFor();
  await work();
  const findings = page.getByRole('list', { name: 'Findings' });
  await page.getByText('New 1').waitFor();
  await findings.getByText('mallory', { exact: true }).first().waitFor();
  expect(await findViolations(page)).toEqual([]);
  await findings.getByRole('checkbox').check();
  await page.getByRole('searchbox', { name: 'Search incidents' }).fill('ada');
  await page
    .getByRole('list', { name: 'Search incidents' })
    .getByRole('button', { name: 'Add to an incident' })
    .click();
  await findings.getByRole('link', { name: 'In an incident' }).click();
  const history = page.getByRole('list', { name: 'Comments and history' });
  await history.getByText('mallory', { exact: true }).first().click();
  await history.getByRole('link', { name: 'Hunt Failures' }).click();
  await page.getByRole('heading', { name: 'Failures' }).waitFor();
  await page.evaluate(() => localStorage.setItem('tocsin.timeZone', 'Asia/Kolkata'));
  await page.reload();
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('button', { name: 'From – to' }).click();
  const [from, to] = [-1, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10));
  await page.getByLabel('From', { exact: true }).fill(`${from}T05:30`);
  await page.getByLabel('To', { exact: true }).fill(`${to}T05:30`);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect
    .poll(async () => (await callOk(org, 'GET', '/api/hunts')).hunts[0].span)
    .toEqual({ from: `${from}T00:00:00.000Z`, to: `${to}T00:00:00.000Z` });
});
