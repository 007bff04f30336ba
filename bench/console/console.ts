import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { createCaller } from '../../test/support/api-client.ts';
import { launchBrowser } from '../../test/support/browser/launch-browser.ts';
import { apiKey, withRunningProgram, type RunningProgram } from '../../test/support/program-environment.ts';
import { root } from '../../test/support/program.ts';
import { median, type Benchmark, type BenchmarkRow } from '../benchmark.ts';
import { fillFeed } from '../feed-million/fill-feed.ts';
import { listApiRequests, measureRouteChange, measureScrolling } from './in-page.ts';

const rounds = 5;
const detectionCount = 10_000;
// 2,200 items of 2,000 entries, and copies of them.
const feed = { numbers: 2_000, copies: 46, organizations: 1, ownNumbers: 91 };
const [frames, pixelsPerFrame] = [300, 120];
/** A frame that takes longer than one and a half of 60 Hz has dropped at least one. */
const frameMsMax = 25;
const pages = [
  {
    name: 'Detections, 10,000',
    link: 'a[href="/console/detections"]',
    path: '/detections',
    ready: '[role=row]:nth-child(5)',
  },
  { name: 'Feed, 100,000 items', link: 'a[href="/console/feed"]', path: '/feed', ready: '[role=option]' },
  {
    name: 'Coverage',
    link: 'a[href="/console/coverage"]',
    path: '/coverage',
    ready: '[data-cell]',
  },
];

async function createDetections({ url }: RunningProgram, count: number): Promise<void> {
  const call = createCaller(url, apiKey);
  let next = 0;
  const create = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++)
      await call('POST', '/api/detections?validate=false', {
        name: `Sign-in without a second factor, ${n}`,
        detectionCategory: 'custom',
        systemPrompt: 'Judge whether a sign-in without a second factor is an account takeover.',
        detectionQuery: 'SELECT _id, _time, user FROM signins WHERE NOT mfa',
      });
  };
  await Promise.all(Array.from({ length: 8 }, create));
}

async function signIn(browser: Browser, url: string): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(`${url}/console/sign-in`);
  await page.getByLabel('API key').fill(apiKey);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((address) => !address.pathname.endsWith('/sign-in'));
  await page.close();
  return context;
}

async function open(context: BrowserContext, address: string, ready: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(address);
  await page.waitForSelector(ready);
  return page;
}

/** Opens a page as at a first visit and returns the milliseconds until it can be used, and the gzip bytes that it loaded. */
async function measureFirstView(
  context: BrowserContext,
  address: string,
  ready: string,
): Promise<{ ms: number; bytes: number }> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  const files = new Set<string>();
  page.on('response', (response) => files.add(new URL(response.url()).pathname));
  await page.goto(address);
  await page.waitForSelector(ready);
  const ms = await page.evaluate<number>('new Promise((done) => requestAnimationFrame(() => done(performance.now())))');
  await page.waitForLoadState('networkidle');
  await page.close();
  return { ms, bytes: [...files].reduce((sum, path) => sum + gzipBytes(path), 0) };
}

/** Returns the size of a built file as it travels: of its gzip copy, or of itself if it has none. */
function gzipBytes(path: string): number {
  if (!path.startsWith('/console/assets/')) return 0;
  const file = join(root, 'web/dist', path.replace('/console/', ''));
  return statSync(existsSync(`${file}.gz`) ? `${file}.gz` : file).size;
}

/** Returns the largest number of requests of which each began after the one before it had ended. */
function countSteps(requests: { startMs: number; endMs: number }[]): number {
  let [steps, endMs] = [0, -1];
  for (const request of requests.toSorted((a, b) => a.endMs - b.endMs))
    if (request.startMs >= endMs) [steps, endMs] = [steps + 1, request.endMs];
  return steps;
}

async function repeat(measure: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let round = 0; round < rounds; round += 1) values.push(await measure());
  return median(values);
}

async function measureConsole(running: RunningProgram, browser: Browser): Promise<BenchmarkRow[]> {
  const context = await signIn(browser, running.url);
  const at = (path: string): string => `${running.url}/console${path}`;
  const rows: BenchmarkRow[] = [];
  const add = (label: string, unit: string, tocsin: number): void => void rows.push({ label, unit, tocsin });
  const first = { path: '/detections', ready: pages[0]!.ready };
  add('first view, gzip with fonts', 'kB', (await measureFirstView(context, at('/'), 'h1')).bytes / 1_000);
  const usable = async (): Promise<number> => (await measureFirstView(context, at(first.path), first.ready)).ms;
  add('10,000 detections usable, no cache, processor slowed 4 times', 'ms', await repeat(usable));
  for (const { name, link, path, ready } of pages) {
    const away = path === '/coverage' ? '/feed' : '/coverage';
    const change = async (): Promise<number> => {
      const page = await open(context, at(path), ready);
      await page.waitForLoadState('networkidle');
      await page.click(`a[href="/console${away}"]`);
      await page.waitForLoadState('networkidle');
      const ms = await page.evaluate<number>(measureRouteChange(link, ready));
      await page.close();
      return ms;
    };
    add(`change to ${name}`, 'ms', await repeat(change));
    const page = await open(context, at(path), ready);
    await page.waitForLoadState('networkidle');
    add(`requests to the API one after another: ${name}`, 'requests', countSteps(await page.evaluate(listApiRequests)));
    await page.close();
  }
  for (const { name, path, ready } of pages.slice(0, 2)) {
    const dropped = async (): Promise<number> => {
      const page = await open(context, at(path), ready);
      const times = await page.evaluate<number[]>(
        measureScrolling('[role=row], [role=option]', frames, pixelsPerFrame),
      );
      await page.close();
      return (100 * times.filter((ms) => ms > frameMsMax).length) / times.length;
    };
    add(`frames over ${frameMsMax} ms while scrolling ${name}`, '%', await repeat(dropped));
  }
  await context.close();
  return rows;
}

export const consoleBenchmark: Benchmark = {
  title: 'The console in Chromium, with 10,000 detections and 100,000 items',
  run: (report) =>
    withRunningProgram({ TOCSIN_FETCH_ALLOW: '127.0.0.1' }, async (running) => {
      await createDetections(running, detectionCount);
      report(`${detectionCount.toLocaleString('en')} detections`);
      await fillFeed(running, feed, report);
      const browser = await launchBrowser();
      try {
        return await measureConsole(running, browser);
      } finally {
        await browser.close();
      }
    }),
};
