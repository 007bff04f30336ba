import type { Browser, BrowserContext, Page } from 'playwright-core';
import { atFileEnd } from '../at-file-end.ts';
import { launchBrowser } from './launch-browser.ts';

const shared: { browser?: Promise<Browser> } = ((globalThis as { tocsinBrowser?: typeof shared }).tocsinBrowser ??= {});

/** Starts headless Chromium, once per worker: it ends with the worker. What a test file opened in it is closed after the file. */
export async function openBrowser(): Promise<Browser> {
  const browser = await (shared.browser ??= launchBrowser());
  atFileEnd(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
  });
  return browser;
}

/** Errors of a page that a test would not notice: script errors, messages of the console and blocked content. */
export type Complaints = string[];

export const defaultViewport = { width: 1440, height: 900 };

/** Opens a page that signs in nobody. `complaints` collects its errors; a test expects it to stay empty. */
export async function newPage(
  browser: Browser,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<{ context: BrowserContext; page: Page; complaints: Complaints }> {
  const context = await browser.newContext({
    viewport: defaultViewport,
    reducedMotion: 'reduce',
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const complaints: Complaints = [];
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    // The browser reports each failed request too. The tests look at what the page makes of it.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text());
  });
  return { context, page, complaints };
}
