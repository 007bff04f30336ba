import { afterAll, expect, test } from 'vitest';
import { newPage, openBrowser } from '../../support/browser/browser.ts';
import { signIn, startConsole } from '../../support/browser/console.ts';

const started = await startConsole();
const browser = await openBrowser();
const org = await started.newOrg();
const { page, context, complaints } = await newPage(browser, { viewport: { width: 1280, height: 800 } });
afterAll(() => context.close());

test('collapses to icons with tooltips, remembers that, and starts collapsed below 1024 px', async () => {
  await signIn(page, started.origin, org, '/hits');
  const sidebar = page.getByRole('banner').first();
  const width = async () => (await sidebar.boundingBox())?.width;
  await page.getByRole('button', { name: 'Collapse sidebar' }).waitFor();
  expect(await width()).toBe(208);
  await page.setViewportSize({ width: 900, height: 800 });
  await expect.poll(width).toBe(48);
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect.poll(width).toBe(208);
  await page.keyboard.press('[');
  await expect.poll(width).toBe(48);
  await page.reload();
  await page.getByRole('button', { name: 'Expand sidebar' }).waitFor();
  expect(await width()).toBe(48);
  const opacity = () =>
    page.evaluate(`getComputedStyle(document.querySelector('a[href$="/coverage"] > span')).opacity`);
  expect(await opacity()).toBe('0');
  await sidebar.getByRole('link', { name: 'Feed' }).focus();
  await page.keyboard.press('Tab');
  await expect.poll(opacity).toBe('1');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/coverage$/);
  await page.getByRole('button', { name: 'Expand sidebar' }).click();
  await expect.poll(width).toBe(208);
  expect(await page.evaluate('document.activeElement.textContent')).toContain('Collapse sidebar');
  expect(complaints).toEqual([]);
});
