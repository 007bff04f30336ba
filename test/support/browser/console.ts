import type { Page } from 'playwright-core';
import { afterEach, expect } from 'vitest';
import { startApp, type TestApp, type TestOrg } from '../harness.ts';
import { defaultViewport, newPage, openBrowser } from './browser.ts';

/** The whole program with the built console, listening on a free port. */
export type TestConsole = TestApp & { origin: string };

export async function startConsole(options: Parameters<typeof startApp>[0] = {}): Promise<TestConsole> {
  const started = await startApp(options);
  const origin = await started.app.listen({ port: 0, host: '127.0.0.1' });
  return { ...started, origin };
}

/** Signs in with the key of an organization, without the form, and opens a page of the console. */
export async function signIn(page: Page, origin: string, { key }: Pick<TestOrg, 'key'>, path = '/'): Promise<void> {
  const answer = await page.request.post(`${origin}/api/session`, {
    headers: { 'x-tocsin-console': '1' },
    data: { key },
  });
  expect(answer.status()).toBe(200);
  await page.goto(`${origin}/console${path}`);
}

type OpenPage = Awaited<ReturnType<typeof newPage>>;

/**
 * Returns functions that open pages: `openPage` signs in with the key of an organization, `openBlank` signs in nobody. After each test its pages are
 * closed, and it fails if one of them has complaints that are not expected. `open` has the pages of the current test. A page without options of its
 * own is emptied and serves the next test, because a new one takes three times the processor time of a test's first look.
 */
export async function startPages(
  { origin }: { origin: string },
  isExpected: (complaint: string) => boolean = () => false,
) {
  const browser = await openBrowser();
  const open: OpenPage[] = [];
  const kept: { page?: OpenPage } = {};
  afterEach(async () => {
    const complaints = open.flatMap((opened) => opened.complaints.splice(0));
    for (const opened of open.splice(0))
      if (opened === kept.page) await emptyPage(opened.page, origin);
      else await opened.context.close();
    expect(complaints.filter((text) => !isExpected(text))).toEqual([]);
  });
  async function openBlank(options?: Parameters<typeof newPage>[1]): Promise<Page> {
    const isFree = !options && !open.some((opened) => opened === kept.page);
    const opened = (isFree && kept.page) || (await newPage(browser, options));
    if (isFree) kept.page = opened;
    open.push(opened);
    return opened.page;
  }
  async function openPage(
    org: Pick<TestOrg, 'key'>,
    path = '/',
    options?: Parameters<typeof newPage>[1],
  ): Promise<Page> {
    const page = await openBlank(options);
    await signIn(page, origin, org, path);
    return page;
  }
  return { open, openBlank, openPage };
}

/** Removes what a test left in a page: its listeners, routes, cookies, stored values and size. Scripts added by a test stay, so those need a page of their own. */
async function emptyPage(page: Page, origin: string): Promise<void> {
  for (const event of ['dialog', 'request', 'response'] as const) page.removeAllListeners(event);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  // Leaving the page stores its drafts.
  await page.goto(`${origin}/healthz`);
  await page.evaluate('localStorage.clear(); sessionStorage.clear()');
  await page.context().clearCookies();
  await page.setViewportSize(defaultViewport);
}
