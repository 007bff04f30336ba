import type { Page } from 'playwright-core';
import { afterEach, expect } from 'vitest';
import { startApp, type TestApp, type TestOrg } from '../harness.ts';
import { newPage, openBrowser, type Complaints } from './browser.ts';

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

/**
 * Returns functions that open pages: `openPage` signs in with the key of an organization, `openBlank` signs in nobody. After each test its pages are
 * closed, and it fails if one of them has complaints that are not expected. `open` has the pages of the current test.
 */
export async function startPages(
  { origin }: { origin: string },
  isExpected: (complaint: string) => boolean = () => false,
) {
  const browser = await openBrowser();
  const open: { complaints: Complaints; close: () => Promise<void> }[] = [];
  afterEach(async () => {
    for (const { complaints, close } of open.splice(0)) {
      await close();
      expect(complaints.filter((text) => !isExpected(text))).toEqual([]);
    }
  });
  async function openBlank(options: Parameters<typeof newPage>[1] = {}): Promise<Page> {
    const { page, context, complaints } = await newPage(browser, options);
    open.push({ complaints, close: () => context.close() });
    return page;
  }
  async function openPage(
    org: Pick<TestOrg, 'key'>,
    path = '/',
    options: Parameters<typeof newPage>[1] = {},
  ): Promise<Page> {
    const page = await openBlank(options);
    await signIn(page, origin, org, path);
    return page;
  }
  return { open, openBlank, openPage };
}
