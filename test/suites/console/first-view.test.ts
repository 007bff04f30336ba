import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Response } from 'playwright-core';
import { expect, test } from 'vitest';
import { newPage, openBrowser } from '../../support/browser/browser.ts';
import { signIn, startConsole } from '../../support/browser/console.ts';
import { raiseHits } from '../../support/browser/raise-hits.ts';

const started = await startConsole();
const browser = await openBrowser();
const dist = join(import.meta.dirname, '../../../web/dist');

/** Returns the size of a file of the console as it travels: its gzip copy, or itself if it has none. */
function gzipSize(address: string): number {
  const file = join(dist, new URL(address).pathname.replace('/console/', ''));
  return statSync(existsSync(`${file}.gz`) ? `${file}.gz` : file).size;
}

test('loads less than 200 kB for the first view, fonts included, from its own host and in two steps', async () => {
  const org = await started.newOrg();
  await raiseHits(started, org, ['ada']);
  const signedIn = await newPage(browser);
  await signIn(signedIn.page, started.origin, org, '/hits');
  const { page, context } = await newPage(browser, { storageState: await signedIn.context.storageState() });
  const responses: Response[] = [];
  page.on('response', (response) => responses.push(response));
  await page.goto(`${started.origin}/console/`);
  await page.getByRole('heading', { name: 'Open hits' }).waitFor();
  await page.waitForLoadState('networkidle');

  expect(new Set(responses.map((response) => new URL(response.url()).origin))).toEqual(new Set([started.origin]));
  const files = [...new Set(responses.map((response) => response.url()))].filter((url) => url.includes('/assets/'));
  expect(files.filter((url) => url.endsWith('.woff2')).length).toBeLessThanOrEqual(2);
  expect(files.reduce((sum, url) => sum + gzipSize(url), 0)).toBeLessThan(200_000);
  await Promise.all([context.close(), signedIn.context.close()]);
});

test('caches assets for good and asks for pages again, each compressed and under the policy of the console', async () => {
  const get = (url: string, encoding: string) => started.app.inject({ url, headers: { 'accept-encoding': encoding } });
  const page = await get('/console/hits', 'br');
  expect(page.headers).toMatchObject({
    'cache-control': 'no-cache',
    'content-encoding': 'br',
    'content-type': 'text/html; charset=utf-8',
  });
  expect(page.headers['content-security-policy']).toContain("script-src 'self';");
  const script = /src="([^"]+)"/.exec((await get('/console/hits', 'identity')).body)![1]!;
  for (const encoding of ['br', 'gzip'])
    expect((await get(script, encoding)).headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': encoding,
    });
  const missing = await get('/console/assets/missing.js', 'br');
  expect(missing.statusCode).toBe(404);
  expect(missing.headers['cache-control'] ?? '').not.toContain('immutable');
});

test('leads browsers from / to the console, and answers other clients as before', async () => {
  const get = (accept: string) => started.app.inject({ url: '/', headers: { accept } });
  expect((await get('text/html,*/*')).headers.location).toBe('/console/');
  expect((await get('application/json')).statusCode).toBe(401);
});
