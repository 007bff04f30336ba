import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { adminEnv, adminHeadersFor } from '../../support/admin-key.ts';
import { findViolations, untilDrawn } from '../../support/browser/axe.ts';
import { newPage, openBrowser } from '../../support/browser/browser.ts';
import { signIn, startConsole } from '../../support/browser/console.ts';
import { callOk, detectionBody, postSuggestion } from '../../support/detection/detection-factory.ts';
import { raiseHits } from '../../support/browser/raise-hits.ts';

const started = await startConsole({ env: adminEnv });
const browser = await openBrowser();
const org = await started.newOrg();
const report = await callOk(org, 'POST', '/api/feed/items', {
  text: 'Acme Bank hit by Emotet\nThe document ran PowerShell to download Emotet from evil-bank[.]top.',
});
const document = await callOk(org, 'POST', '/api/feed/items', {
  title: 'A structured report',
  text: JSON.stringify({
    type: 'report',
    id: 1,
    description: 'It was seen.\nTwice.',
    refs: [{ url: 'https://acme.example/a' }],
  }),
});
const list = await callOk(org, 'POST', '/api/feed/items', {
  text: `A long list\n\nIndicators\n${Array.from({ length: 12 }, (_, index) => `cdn-${index}[.]bad-host[.]top`).join('\n')}`,
});
const source = await callOk(org, 'POST', '/api/feed/sources', {
  kind: 'rss',
  name: 'A blog',
  url: 'https://blog.invalid/feed.xml',
});
await postSuggestion(org);
const detection = `/detections/${await raiseHits(started, org, ['ada', 'grace'])}`;
const [run] = (await callOk(org, 'GET', `/api${detection}/runs`)).runs;
const packPath = `/api/admin/organizations/${org.id}/packs/base`;
const applied = await fetch(started.origin + packPath, {
  method: 'POST',
  headers: { ...adminHeadersFor(packPath), 'content-type': 'application/json' },
  body: JSON.stringify({ version: '1.0.0', detections: { 'one.yaml': detectionBody({ name: 'Of a pack' }) } }),
});
const [packed] = ((await applied.json()) as { results: { detectionId: string }[] }).results;
await callOk(org, 'PUT', `/api/detections/${packed!.detectionId}`, { tags: ['own'] });
const destination = await callOk(org, 'POST', '/api/destinations', {
  kind: 'webhook',
  name: 'Tickets',
  url: 'https://tickets.invalid/hook',
});
await callOk(org, 'POST', `/api/destinations/${destination.id}/test`);
const signedIn = await newPage(browser);
await signIn(signedIn.page, started.origin, org, '/hits');

type TestPage = [name: string, path: string, isComplete: (page: Page) => Promise<void>];

/** Every page of the console, and what shows that it is complete. */
const pages: TestPage[] = [
  ['sign-in', '/sign-in', (page) => page.getByLabel('API key').waitFor()],
  ['overview', '/', (page) => page.getByRole('heading', { name: 'Last 30 days' }).waitFor()],
  ['hits', '/hits', (page) => page.getByRole('option').first().waitFor()],
  ['hits by entity', '/hits?by=entity', (page) => page.getByRole('button', { name: /ada/ }).waitFor()],
  [
    'an exception for a hit',
    '/hits',
    async (page) => {
      await page.getByRole('option').first().click();
      await page.getByRole('button', { name: 'Create exception' }).click();
      await page.getByText(/^Would have hidden/).waitFor();
    },
  ],
  [
    'an open hit',
    '/hits',
    async (page) => {
      await page.getByRole('option').first().click();
      await page.getByRole('heading', { name: 'Facts' }).waitFor();
    },
  ],
  [
    'an open item of the feed',
    '/feed',
    async (page) => {
      await page.getByRole('option').first().click();
      await page.getByRole('heading', { name: 'Versions' }).waitFor();
    },
  ],
  [
    'a structured document of the feed',
    `/feed/${document.id}`,
    (page) => page.getByText('2 identifiers and settings').click(),
  ],
  [
    'an item of the feed with a highlighted passage',
    `/feed/${report.id}`,
    async (page) => {
      await page.getByRole('button', { name: 'Show where the text mentions evil-bank[.]top' }).click();
      await page.locator('mark').waitFor();
    },
  ],
  [
    'an open story',
    `/stories?story=${report.id}`,
    (page) => page.getByRole('heading', { name: 'Time line' }).waitFor(),
  ],
  ['a search of the feed', '/feed?q=emotet', (page) => page.locator('mark').first().waitFor()],
  ['coverage', '/coverage?technique=T1059', (page) => page.getByRole('heading', { name: 'Detections' }).waitFor()],
  ['coverage as a table', '/coverage?view=table&q=T1059', (page) => page.getByRole('row').nth(2).waitFor()],
  ['a new hunt', '/hunts?hunt=new', (page) => page.getByRole('button', { name: 'Save and run' }).waitFor()],
  [
    'the packages of rules',
    '/rule-sources?source=new',
    (page) => page.getByRole('button', { name: 'Add SigmaHQ core', exact: true }).waitFor(),
  ],
  [
    'an entity',
    '/entities?kind=malware&name=Emotet',
    (page) => page.getByRole('heading', { name: 'Latest items' }).waitFor(),
  ],
  [
    'an indicator',
    '/indicators?values=evil-bank.top&value=evil-bank.top',
    (page) => page.getByRole('heading', { name: 'Sightings in your logs' }).waitFor(),
  ],
  [
    'adding a source',
    '/sources?source=new',
    (page) =>
      page
        .getByRole('button', { name: /^Add: / })
        .first()
        .waitFor(),
  ],
  ['a source of the organization’s own', '/sources?source=own', (page) => page.getByLabel('Sign-in').waitFor()],
  ['a source', `/sources?source=${source.id}`, (page) => page.getByRole('heading', { name: 'A blog' }).waitFor()],
  ['filtered indicators', `/feed/${list.id}`, (page) => page.getByLabel('Filter indicators').fill('cdn-1')],
  ...[
    'organization',
    'people',
    'sessions',
    'connections',
    'models',
    'sources',
    'relevance',
    'audit',
    'usage',
    'agents',
    'retention',
    'destinations',
    'enrichers',
  ].map((section): TestPage => [
    `settings: ${section}`,
    `/settings/${section}`,
    (page) => page.getByRole('heading', { level: 2 }).first().waitFor(),
  ]),
  [
    'the delivery log of a destination',
    `/settings/destinations/${destination.id}`,
    (page) => page.getByRole('region', { name: 'Deliveries' }).getByRole('row').nth(1).waitFor(),
  ],
  [
    'the form of a key',
    '/settings/keys',
    async (page) => {
      await page.getByRole('list', { name: 'API keys' }).waitFor();
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('dialog').getByLabel('Name').waitFor();
    },
  ],
  [
    'the form of a connection',
    '/settings/connections',
    async (page) => {
      await page.getByRole('button', { name: 'Add connection' }).click();
      await page.getByRole('dialog').getByLabel('Name').waitFor();
    },
  ],
  [
    'logs with an open row',
    '/logs?dataset=auth&range=7d',
    async (page) => {
      await page.getByRole('button', { name: /^account/ }).click();
      await page.getByRole('gridcell', { name: 'curl/8.4' }).first().click();
      await page.getByRole('heading', { name: 'Row' }).waitFor();
    },
  ],
  [
    'a suggestion',
    '/suggestions',
    async (page) => {
      await page.getByRole('option').first().click();
      await page.getByRole('button', { name: 'Dismiss' }).click();
      await page.getByLabel('Reason').waitFor();
    },
  ],
  ['detections', '/detections', (page) => page.getByRole('row').nth(1).waitFor()],
  ['a new detection', '/detections/new', (page) => page.getByRole('textbox', { name: 'Query' }).waitFor()],
  ['a detection', detection, (page) => page.getByText('Hits per day').first().waitFor()],
  [
    'a detection of a pack',
    `/detections/${packed!.detectionId}`,
    (page) => page.getByRole('columnheader', { name: 'In the pack' }).waitFor(),
  ],
  ['a prompt', `${detection}?tab=prompts`, (page) => page.getByText('Version 1').first().waitFor()],
  ['revisions', `${detection}?tab=revisions`, (page) => page.getByText('Revision 1').first().waitFor()],
  ['backtest', `${detection}?tab=backtest`, (page) => page.getByRole('button', { name: 'Start backtest' }).waitFor()],
  ['exceptions', `${detection}?tab=exceptions`, (page) => page.getByText('No exceptions').waitFor()],
  ['a run', `/runs/${run.id}`, (page) => page.getByText('Where the time went').waitFor()],
  ['a replay', `/runs/${run.id}?tab=replay`, (page) => page.getByRole('button', { name: 'Replay' }).waitFor()],
  ['an address that is no page', '/nowhere', (page) => page.getByText('This page does not exist').waitFor()],
];

const { page, complaints } = await newPage(browser, {
  storageState: await signedIn.context.storageState(),
});

const colorRules = ['color-contrast', 'link-in-text-block'];
/** What can change where a page has little room. */
const narrowRules = [
  'scrollable-region-focusable',
  'target-size',
  'aria-required-children',
  'aria-required-parent',
  'aria-hidden-focus',
  'nested-interactive',
];

test.each(pages)('axe finds nothing in %s, light, dark and narrow', async (_name, path, isComplete) => {
  await page.goto(`${started.origin}/console${path}`);
  await isComplete(page);
  await page.locator('[data-loading]').first().waitFor({ state: 'detached' });
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(untilDrawn);
    // The other rules have nothing to do with colors.
    const violations = await findViolations(page, colorScheme === 'light' ? undefined : colorRules);
    expect(violations.map((violation) => [colorScheme, ...violation])).toEqual([]);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate(untilDrawn);
  expect(await findViolations(page, narrowRules)).toEqual([]);
  await page.setViewportSize({ width: 1440, height: 900 });
  expect(complaints.splice(0)).toEqual([]);
});
