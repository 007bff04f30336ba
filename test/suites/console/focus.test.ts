import { afterAll, expect, test } from 'vitest';
import { newPage, openBrowser } from '../../support/browser/browser.ts';
import { signIn, startConsole } from '../../support/browser/console.ts';
import { fileSource } from '../../support/feed/kev-source.ts';
import { stixBundle } from '../../support/feed/stix-documents.ts';

const started = await startConsole();
const browser = await openBrowser();
const org = await started.newOrg();
const { page, context, complaints } = await newPage(browser, { viewport: { width: 1280, height: 800 } });
afterAll(() => context.close());

const focused = () => page.evaluate<string | null>('document.activeElement.getAttribute("role")');

test('returns the focus to the list when its panel closes', async () => {
  await (await fileSource(started, org, { kind: 'stix', visibility: 'private' })).pull(stixBundle(['bad-cdn.top']));
  await signIn(page, started.origin, org, '/feed');
  const row = page.getByRole('option').first();
  for (const width of [1280, 800]) {
    await page.setViewportSize({ width, height: 800 });
    await row.click();
    const panel = page.getByRole('complementary');
    await panel.getByRole('button', { name: 'Close' }).focus();
    await page.keyboard.press('Enter');
    await panel.waitFor({ state: 'detached' });
    await expect.poll(focused).toBe('option');
  }
  expect(complaints).toEqual([]);
});
