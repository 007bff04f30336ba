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
const [hit] = (await callOk(org, 'GET', '/api/hits')).hits;
const [run] = (await callOk(org, 'GET', `/api/detections/${detection}/runs`)).runs;
const signedIn = await newPage(browser);
await signIn(signedIn.page, started.origin, org, '/hits');
const { cookies } = await signedIn.context.storageState();
await signedIn.context.close();

await callOk(org, 'PUT', '/api/value-lists/admins', { csv: 'value\nroot' });

const { open, openBlank } = await startPages(started);

/** Opens a page that is signed in. With options it is one of its own. */
async function openPage(options?: Parameters<typeof openBlank>[0]): Promise<Page> {
  const page = await openBlank(options);
  await page.context().addCookies(cookies);
  return page;
}

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

/** Visits the main pages one after the other, and says which one failed. */
async function walk(visit: (page: MainPage) => Promise<void>): Promise<void> {
  for (const one of pages)
    await visit(one).catch((cause: unknown) => {
      throw new Error(`${one[0]}: ${String(cause)}`, { cause });
    });
}

test('every page says what failed, with the request ID, and loads after a retry', async () => {
  const page = await openPage();
  await walk(async ([path, request, isComplete]) => {
    await page.route(request, problem);
    await page.goto(`${started.origin}/console${path}`);
    const alert = page.getByRole('alert').first();
    await alert.getByText('The database is full.').waitFor();
    await alert.getByText('r-17').waitFor();
    await page.unroute(request);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await isComplete(page);
  });
});

test('every page keeps its layout while it loads slowly, and shows times in the zone of the reader', async () => {
  const page = await openPage({ timezoneId: 'Europe/Berlin' });
  await page.addInitScript("localStorage.setItem('tocsin.timeZone', 'Asia/Tokyo')");
  await walk(async ([path, request, isComplete]) => {
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
    await page.getByRole('button', { name: 'Times are shown in Asia/Tokyo' }).waitFor();
    expect(await page.evaluate(listOtherTimes)).toEqual([]);
    await page.unroute(request);
  });
});

test('a page asks to sign in when the session has expired, and comes back', async () => {
  const page = await openBlank();
  for (const path of ['/hits?status=new', `/detections/${detection}`]) {
    await page.context().clearCookies();
    await page.goto(`${started.origin}/console${path}`);
    await page.getByLabel('API key').fill(org.key);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${started.origin}/console${path}`);
  }
});

/** A page, something that somebody else changes there, and what then appears. */
const changes: [path: string, change: () => Promise<unknown>, appears: string][] = [
  [
    `/hits?hit=${hit.id}`,
    () => callOk(org, 'POST', `/api/hits/${hit.id}/status`, { status: 'benign', reason: 'A scan of ours.' }),
    'A scan of ours.',
  ],
  [
    '/detections',
    () => callOk(org, 'PUT', `/api/detections/${detection}`, { name: 'Renamed meanwhile' }),
    'Renamed meanwhile',
  ],
  ['/suggestions', () => postSuggestion(org, { name: 'Suggested meanwhile' }), 'Suggested meanwhile'],
  [
    '/settings/keys',
    () => callOk(org, 'POST', '/api/keys', { name: 'Created meanwhile', scopes: ['hits:read'] }),
    'Created meanwhile',
  ],
  ['/settings/lists', () => callOk(org, 'PUT', '/api/value-lists/meanwhile', { csv: 'value\nada' }), 'meanwhile'],
  [
    `/hits/${hit.id}`,
    () => callOk(org, 'POST', `/api/hits/${hit.id}/comments`, { body: 'Said meanwhile' }),
    'Said meanwhile',
  ],
  [
    '/hits/entity?type=user&name=ada',
    () => callOk(org, 'POST', '/api/entities/user/ada/aliases', { alias: 'ada.meanwhile' }),
    'ada.meanwhile',
  ],
  [
    `/detections/${detection}?tab=exceptions`,
    () =>
      callOk(org, 'POST', `/api/detections/${detection}/exceptions`, {
        field: 'account',
        value: 'zoe',
        reason: 'Excepted meanwhile',
      }),
    'Excepted meanwhile',
  ],
];

test('pages show what others change without a click, and keep the selection and the scroll position', async () => {
  const page = await openPage({ viewport: { width: 1440, height: 500 } });
  for (const [path, change, appears] of changes) {
    await page.goto(`${started.origin}/console${path}`);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.waitForLoadState('networkidle');
    const panel = `document.querySelector('[data-scroll-restoration-id="${hit.id}"]')`;
    const isOpen = path.includes('hit=');
    if (isOpen) await page.evaluate(`${panel}.scrollTop = 120`);
    await change();
    await page.getByText(appears).first().waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(`/console${path}`);
    if (isOpen) expect(await page.evaluate(`${panel}.scrollTop`)).toBe(120);
  }
});

/** Forms of every kind: where they are, what opens them, and the field that is typed into. */
const forms: [path: string, open: string | undefined, field: string][] = [
  [`/hits/${hit.id}`, undefined, 'Comment (Markdown)'],
  ['/detections/new', undefined, 'Name'],
  ['/settings/keys', 'Create key', 'Name'],
  ['/settings/people', 'Invite', 'Name'],
  ['/settings/lists', 'New list', 'Name'],
  ['/settings/destinations', 'Add destination', 'Name'],
  ['/settings/connections', 'Add connection', 'Name'],
];

test('what was typed survives leaving the page, and a failed save says one thing and keeps it', async () => {
  const page = await openPage();
  const openForm = async ([path, open, label]: (typeof forms)[number]) => {
    await page.goto(`${started.origin}/console${path}`);
    if (open !== undefined) await page.getByRole('button', { name: open }).first().click();
    return page.getByLabel(label, { exact: true }).last();
  };
  for (const form of forms) await (await openForm(form)).fill(`typed in ${form[0]}`);
  for (const form of forms) {
    expect(await (await openForm(form)).inputValue()).toBe(`typed in ${form[0]}`);
    await page.getByText('You typed this earlier.').waitFor();
  }
  const field = await openForm(['/settings/keys', 'Create key', 'Name']);
  await page.route(/\/api\/keys$/, (route) =>
    route.request().method() === 'POST' ? problem(route) : route.continue(),
  );
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  await page.getByText('The database is full.').waitFor();
  expect(await page.getByText('The database is full.').count()).toBe(1);
  expect(await field.inputValue()).toBe('typed in /settings/keys');
  await page.unroute(/\/api\/keys$/);
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('dialog', { name: 'Create key' }).waitFor({ state: 'detached' });
  expect(await (await openForm(['/settings/keys', 'Create key', 'Name'])).inputValue()).toBe('');
});

test('a value of a row leads to its profile, its logs and its lists', async () => {
  const page = await openPage();
  await page.goto(`${started.origin}/console/hits/${hit.id}`);
  const menu = page.getByRole('button', { name: 'What to do with ada' }).first();
  await menu.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Add to the list admins' }).waitFor();
  await page.getByRole('menuitem', { name: 'Logs around this time' }).click();
  await page.waitForURL(/\/logs\?.*from=/);
  await page.goBack();
  await menu.click();
  await page.getByRole('menuitem', { name: 'Profile of the entity' }).click();
  await page.waitForURL(/\/hits\/entity\?.*name=ada/);
  // An address that only the rows show finds its hit, and is no entity.
  await page.goto(`${started.origin}/console/hits/${hit.id}`);
  await page.getByRole('button', { name: 'What to do with 203.0.113.7' }).first().click();
  await page.getByRole('menuitem', { name: 'Hits with this value' }).click();
  await page.waitForURL(/\/hits\?value=203\.0\.113\.7$/);
  await page.getByRole('option', { name: hit.headline }).waitFor();
});

test('asks to sign in when the session ends while a page is open', async () => {
  const page = await openBlank();
  await signIn(page, started.origin, org, '/hits');
  await page.getByRole('option').first().waitFor();
  await page.context().clearCookies();
  await page.getByRole('link', { name: 'Detections' }).click();
  await page.getByLabel('API key').fill(org.key);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${started.origin}/console/detections`);
  await page.getByRole('row').nth(1).waitFor();
});

test('what is sent after the session ended is kept, and can be sent after signing in', async () => {
  const page = await openBlank();
  await signIn(page, started.origin, org, `/hits/${hit.id}`);
  const comment = page.getByLabel('Comment (Markdown)');
  await comment.fill('typed before');
  await page.context().clearCookies();
  const send = page.getByRole('button', { name: 'Add comment' });
  await send.click();
  const question = page.getByRole('dialog', { name: 'Your session has ended' });
  await question.getByText('Nothing was saved.').waitFor();
  await question.getByLabel('API key').fill('wrong');
  await page.keyboard.press('Enter');
  await question.locator('[aria-invalid=true]').waitFor();
  await question.getByLabel('API key').fill(org.key);
  await page.keyboard.press('Enter');
  await question.waitFor({ state: 'detached' });
  expect(await comment.inputValue()).toBe('typed before');
  await send.click();
  await page.getByRole('list', { name: 'Comments' }).getByText('typed before').waitFor();
  expect(await comment.inputValue()).toBe('');
});

test('says since when a page is not up to date, and reads it again', async () => {
  const page = await openPage({});
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

/** Returns the exact times on the page that are not those of Tokyo. */
const listOtherTimes = `(() => {
  const format = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone: 'Asia/Tokyo' });
  return [...document.querySelectorAll('time')]
    .filter((node) => /^\\d{4}-\\d\\d-\\d\\d \\d\\d:/.test(node.textContent))
    .filter((node) => !format.format(new Date(node.dateTime)).startsWith(node.textContent))
    .map((node) => node.textContent);
})()`;

/** The sum of the page's layout shifts so far (the metric CLS, where up to 0.1 is good). A script as text: the browser's types are not Node's. */
const readLayoutShift = `new Promise((resolve) => {
  new PerformanceObserver((list, observer) => {
    observer.disconnect();
    const shifts = list.getEntries().filter(({ hadRecentInput }) => !hadRecentInput);
    resolve(shifts.reduce((sum, { value }) => sum + value, 0));
  }).observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => resolve(0), 500);
})`;
