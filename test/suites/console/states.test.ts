import type { Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';
import { findViolations } from '../../support/browser/axe.ts';
import { newPage, openBrowser } from '../../support/browser/browser.ts';
import { signIn, startConsole, startPages } from '../../support/browser/console.ts';
import { raiseHits } from '../../support/browser/raise-hits.ts';
import { callOk, postSuggestion } from '../../support/detection/detection-factory.ts';

const started = await startConsole();
const browser = await openBrowser();
const org = await started.newOrg();
await callOk(org, 'POST', '/api/feed/items', { text: 'Acme Bank hit by Emotet\nEmotet ran PowerShell.' });
await postSuggestion(org, { name: 'Suggested' });
const detection = await raiseHits(started, org, ['ada']);
const [run] = (await callOk(org, 'GET', `/api/detections/${detection}/runs`)).runs;
const signedIn = await newPage(browser);
await signIn(signedIn.page, started.origin, org, '/hits');
const storageState = await signedIn.context.storageState();
await signedIn.context.close();

const { open, openBlank } = await startPages(started);
const openPage = (options = {}) => openBlank({ storageState, ...options });

type MainPage = [path: string, request: RegExp, isComplete: (page: Page) => Promise<void>];

/** The main pages, the request that each cannot do without, and what shows that it is complete. */
const pages: MainPage[] = [
  ['/hits', /\/api\/hits\?/, (page) => page.getByRole('option').first().waitFor()],
  ['/detections', /\/api\/detections\/summaries/, (page) => page.getByRole('row').nth(1).waitFor()],
  [
    `/detections/${detection}`,
    new RegExp(`/api/detections/${detection}$`),
    (page) => page.getByText('Hits per day').first().waitFor(),
  ],
  [`/runs/${run.id}`, new RegExp(`/api/runs/${run.id}$`), (page) => page.getByText('Where the time went').waitFor()],
  ['/feed', /\/items\?/, (page) => page.getByRole('option').first().waitFor()],
  ['/suggestions', /\/api\/detections\/suggestions/, (page) => page.getByRole('option').first().waitFor()],
  [
    '/coverage',
    /\/api\/coverage/,
    (page) =>
      page
        .getByRole('button', { name: /^T1059 / })
        .first()
        .waitFor(),
  ],
  ['/settings/keys', /\/api\/keys/, (page) => page.getByRole('list', { name: 'API keys' }).waitFor()],
];

const problem = (route: Route) =>
  route.fulfill({
    status: 500,
    contentType: 'application/problem+json',
    json: {
      status: 500,
      code: 'internal',
      title: 'Internal error',
      detail: 'The database is full.',
      requestId: 'r-17',
    },
  });

test.each(pages)(
  '%s says what failed, with the request ID, and loads after a retry',
  async (path, request, isComplete) => {
    const page = await openPage();
    await page.route(request, problem);
    await page.goto(`${started.origin}/console${path}`);
    const alert = page.getByRole('alert').first();
    await alert.getByText('The database is full.').waitFor();
    await alert.getByText('r-17').waitFor();
    await page.unroute(request);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await isComplete(page);
  },
);

test.each(pages)('%s keeps its layout while it loads slowly', async (path, request, isComplete) => {
  const page = await openPage();
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(request, async (route) => {
    await released;
    await route.continue();
  });
  await page.goto(`${started.origin}/console${path}`);
  await page.locator('main [data-loading]').first().waitFor({ state: 'attached' });
  release();
  await isComplete(page);
  await page.waitForLoadState('networkidle');
  expect(await page.evaluate(readLayoutShift)).toBeLessThan(0.1);
});

test.each(pages)('%s asks to sign in when the session has expired, and comes back', async (path) => {
  const page = await openPage({ storageState: undefined });
  await page.goto(`${started.origin}/console${path}`);
  await page.getByLabel('API key').fill(org.key);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${started.origin}/console${path}`);
});

test('asks to sign in when the session ends while a page is open', async () => {
  const page = await openPage({ storageState: undefined });
  await signIn(page, started.origin, org, '/hits');
  await page.getByRole('option').first().waitFor();
  await page.context().clearCookies();
  await page.getByRole('link', { name: 'Detections' }).click();
  await page.getByLabel('API key').fill(org.key);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${started.origin}/console/detections`);
  await page.getByRole('row').nth(1).waitFor();
});

test('a form that is sent after the session ended keeps what was typed, and can be sent after signing in', async () => {
  const page = await openPage({ storageState: undefined });
  await signIn(page, started.origin, org, '/settings/keys');
  await page.getByRole('button', { name: 'Create key' }).first().click();
  await page.getByLabel('Name').fill('typed before');
  await page.context().clearCookies();
  const send = page.getByRole('dialog').getByRole('button', { name: 'Create key' });
  await send.click();
  const question = page.getByRole('dialog', { name: 'Your session has ended' });
  await question.getByText('Nothing was saved.').waitFor();
  await question.getByLabel('API key').fill('wrong');
  await page.keyboard.press('Enter');
  await question.locator('[aria-invalid=true]').waitFor();
  await question.getByLabel('API key').fill(org.key);
  await page.keyboard.press('Enter');
  await question.waitFor({ state: 'detached' });
  await page.getByRole('alert').getByText('Your session had ended, so nothing was saved. Send it again.').waitFor();
  expect(await page.getByLabel('Name').inputValue()).toBe('typed before');
  await send.click();
  await page.getByText('typed before').first().waitFor();
});

test('says since when a page is not up to date, and reads it again', async () => {
  const page = await openPage();
  await page.clock.install();
  await page.goto(`${started.origin}/console/`);
  await page.getByRole('heading', { name: 'Last 30 days' }).waitFor();
  await page.route(/\/api\/overview/, problem);
  await page.clock.fastForward(61_000);
  const notice = page.getByRole('status').filter({ hasText: 'Not up to date.' });
  await notice.getByText('The database is full.').waitFor();
  await page.getByRole('heading', { name: 'Last 30 days' }).waitFor();
  await page.unroute(/\/api\/overview/);
  await notice.getByRole('button', { name: 'Try again' }).click();
  await notice.waitFor({ state: 'detached' });
});

test.each(['light', 'dark'] as const)('axe finds nothing in the error page on %s', async (colorScheme) => {
  const page = await openPage({ colorScheme });
  await page.route(/\/api\/session$/, problem);
  await page.goto(`${started.origin}/console/hits`);
  await page.getByRole('alert').getByText('The database is full.').waitFor();
  expect(await findViolations(page)).toEqual([]);
  // The router reports the planted error on the browser's console.
  const { complaints } = open.at(-1)!;
  complaints.splice(0, complaints.length, ...complaints.filter((text) => !text.includes('The database is full.')));
});

/** The sum of the page's layout shifts so far (the metric CLS, where up to 0.1 is good). A script as text: the browser's types are not Node's. */
const readLayoutShift = `new Promise((resolve) => {
  new PerformanceObserver((list, observer) => {
    observer.disconnect();
    const shifts = list.getEntries().filter(({ hadRecentInput }) => !hadRecentInput);
    resolve(shifts.reduce((sum, { value }) => sum + value, 0));
  }).observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => resolve(0), 500);
})`;
