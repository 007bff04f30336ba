import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser } from '../../test/support/browser/launch-browser.ts';
import { documented, shots, type Ids, type Shot } from './pages.ts';
import { withService } from './with-service.ts';

/**
 * Takes screenshots of every page of the console, filled with the demo's data and empty, in light and dark, at 1,440 and 390 pixels, into
 * `screenshots/`. With `--docs` it also renews the images in `docs/images/`. With page names it takes only those.
 * Usage: `npm run screenshots [-- --docs] [-- PAGE…]`
 */
const { values, positionals } = parseArgs({ options: { docs: { type: 'boolean' } }, allowPositionals: true });
const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'screenshots');
const images = join(root, 'docs/images');
const sizes = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];
const themes = ['light', 'dark'] as const;
type SignedIn = { origin: string; options: BrowserContextOptions };

async function signIn(browser: Browser, link: string): Promise<SignedIn> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.waitForURL((url) => !url.pathname.endsWith('/sign-in'));
  const { origin } = new URL(link);
  const options = { storageState: await context.storageState() };
  await context.close();
  return { origin, options };
}

/** Finds records that show each page at its best: a run and a detection with hits, and an item with indicators. */
async function findIds(read: <T>(path: string) => Promise<T>): Promise<Ids> {
  await waitForSuggestions(read);
  const { hits } = await read<{ hits: { id: string; detectionId: string }[] }>('/api/hits?severity=high');
  const detection = hits[0]!.detectionId;
  const { runs } = await read<{ runs: { id: string; hitCount: number }[] }>(
    `/api/detections/${detection}/runs?limit=100`,
  );
  const { items } = await read<{ items: { id: string }[] }>('/items?severity=high');
  return { hit: hits[0]!.id, detection, run: runs.find(({ hitCount }) => hitCount > 0)!.id, item: items[0]!.id };
}

/** The demo's agent makes its suggestions in the first minutes. */
async function waitForSuggestions(read: <T>(path: string) => Promise<T>): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    const { suggestions } = await read<{ suggestions: unknown[] }>('/api/detections/suggestions');
    if (suggestions.length > 0) return;
    await sleep(1_000);
  }
  throw new Error('The demo made no suggestions within five minutes.');
}

/** Waits until the page has loaded: no skeletons are left and no animation runs. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('load');
  await page.waitForTimeout(500);
  await page.waitForSelector('[data-loading]', { state: 'detached', timeout: 20_000 });
  await page.waitForTimeout(300);
}

async function shoot(
  browser: Browser,
  state: string,
  signedIn: SignedIn,
  list: { shot: Shot; path: string }[],
): Promise<void> {
  for (const theme of themes)
    for (const viewport of sizes) {
      const context = await browser.newContext({ ...signedIn.options, viewport, colorScheme: theme });
      for (const { shot, path } of list) {
        const page = await context.newPage();
        await page.goto(`${signedIn.origin}/console${path}`);
        await settle(page);
        await shot.act?.(page);
        await settle(page);
        await page.screenshot({ path: join(folder, `${shot.name}-${state}-${theme}-${viewport.width}.png`) });
        await page.close();
      }
      await context.close();
      console.error(`${state}, ${theme}, ${viewport.width} pixels: ${list.length} pages`);
    }
}

const chosen = shots.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
if (chosen.length === 0) throw new Error(`No page has this name. Pages: ${shots.map(({ name }) => name).join(', ')}.`);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const browser = await launchBrowser();
try {
  await withService('demo', async (service) => {
    const ids = await findIds(service.read);
    const list = chosen.map((shot) => ({ shot, path: shot.path(ids) }));
    await shoot(browser, 'filled', await signIn(browser, service.signInLink), list);
  });
  await withService('all', async (service) => {
    const list = chosen.flatMap((shot) => (shot.emptyPath === undefined ? [] : [{ shot, path: shot.emptyPath }]));
    await shoot(browser, 'empty', await signIn(browser, service.signInLink), list);
  });
} finally {
  await browser.close();
}
if (values.docs) {
  mkdirSync(images, { recursive: true });
  for (const { name, themes } of documented)
    for (const theme of themes)
      copyFileSync(join(folder, `${name}-filled-${theme}-1440.png`), join(images, `${name}-${theme}.png`));
}
