import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import bundledChromium from '@sparticuz/chromium';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll } from 'vitest';

/**
 * Starts headless Chromium for a test file: the one inside `@sparticuz/chromium` on Linux, elsewhere an installed Chrome. It is unpacked at
 * the first use on a machine.
 */
export async function openBrowser(): Promise<Browser> {
  const isBundled = process.platform === 'linux';
  const browser = await chromium.launch({
    ...(isBundled ? { executablePath: await unpackOnce() } : { channel: 'chrome' }),
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'],
  });
  afterAll(() => browser.close());
  return browser;
}

/** Unpacks the browser. Test files run side by side, so that a folder serves as a lock. */
async function unpackOnce(): Promise<string> {
  const lock = join(tmpdir(), 'tocsin-chromium.lock');
  for (let waits = 0; ; waits += 1) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      // A run that was killed leaves its lock behind.
      if (waits > 300) rmSync(lock, { recursive: true, force: true });
      await sleep(200);
    }
  }
  try {
    return await bundledChromium.executablePath();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

/** What went wrong in a page without the test noticing: script errors, messages of the console and blocked content. */
export type Complaints = string[];

/** Opens a page that signs in nobody. `complaints` collects its errors; a test expects it to stay empty. */
export async function newPage(
  browser: Browser,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<{ context: BrowserContext; page: Page; complaints: Complaints }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const complaints: Complaints = [];
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    // The browser reports each failed request too. The tests look at what the page makes of it.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      complaints.push(message.text());
  });
  return { context, page, complaints };
}
