import { afterAll, expect, test } from 'vitest';
import { newPage, openBrowser } from '../../support/browser/browser.ts';
import { signIn, startConsole } from '../../support/browser/console.ts';
import { callOk } from '../../support/detection/detection-factory.ts';
import { fileSource } from '../../support/feed/kev-source.ts';
import { stixBundle } from '../../support/feed/stix-documents.ts';

const started = await startConsole();
const browser = await openBrowser();
const org = await started.newOrg();
await callOk(org, 'POST', '/api/keys', { name: 'spare', scopes: ['feed:read'] });
const { page, context, complaints } = await newPage(browser, { viewport: { width: 1280, height: 800 } });
afterAll(() => context.close());

const name = () => page.evaluate<string>('document.activeElement.ariaLabel ?? document.activeElement.textContent');
const focused = () => page.evaluate<string | null>('document.activeElement.getAttribute("role")');

test('returns the focus to the list when its panel closes', async () => {
  await (await fileSource(started, org, { kind: 'stix', visibility: 'private' })).pull(stixBundle(['bad-cdn.top']));
  await callOk(org, 'POST', '/api/feed/items', { text: 'A second report\nEmotet again.' });
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

test('moves the focus to the entry that a key opens, so that Tab continues into its panel', async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${started.origin}/console/feed`);
  const rows = page.getByRole('option');
  await rows.first().waitFor();
  for (const row of [rows.first(), rows.nth(1)]) {
    await page.keyboard.press('j');
    await expect.poll(() => row.evaluate((one) => one.matches(':focus-visible'))).toBe(true);
  }
  await page.keyboard.press('Tab');
  await expect.poll(focused).toBe('separator');
  await page.goto(`${started.origin}/console/entities`);
  await page.getByRole('gridcell').first().waitFor();
  await page.keyboard.press('j');
  await expect.poll(focused).toBe('grid');
});

test('scrolls the list with the keyboard, also after the page of an entry', async () => {
  for (let count = 0; count < 10; count += 1)
    await callOk(org, 'POST', '/api/feed/items', { text: `Report ${count} describes nothing of interest.` });
  await page.setViewportSize({ width: 1280, height: 300 });
  await page.goto(`${started.origin}/console/feed`);
  const rows = page.getByRole('option');
  const isInView = () =>
    page.evaluate<boolean>(
      '((row) => row && row.bottom <= innerHeight && row.top > 0)(document.querySelector("[role=option][aria-selected=true]")?.getBoundingClientRect())',
    );
  await rows.first().waitFor();
  let opened: string | null = null;
  for (let count = 0; count < 9; count += 1) {
    await page.keyboard.press('j');
    await page.waitForURL((url) => url.searchParams.get('item') !== opened);
    opened = new URL(page.url()).searchParams.get('item');
    await expect.poll(isInView).toBe(true);
  }
  await page.keyboard.press('Enter');
  await page.waitForURL(/feed\/[\da-f-]+$/);
  await page.goBack();
  await expect.poll(isInView).toBe(true);
  await page.keyboard.press('j');
  await page.waitForURL((url) => url.searchParams.get('item') !== opened);
  await expect.poll(isInView).toBe(true);
});

test('scrolls a table to the row that a key opens', async () => {
  const cves = Array.from({ length: 9 }, (_, index) => `CVE-2024-1000${index}`);
  await callOk(org, 'POST', '/api/feed/items', { text: `Attackers exploited ${cves.join(', ')}.` });
  await page.setViewportSize({ width: 1280, height: 260 });
  await page.goto(`${started.origin}/console/entities`);
  await page.getByRole('gridcell').first().waitFor();
  let opened: string | null = null;
  for (const _ of cves) {
    await page.keyboard.press('j');
    await page.waitForURL((url) => url.searchParams.get('name') !== opened);
    opened = new URL(page.url()).searchParams.get('name');
    const row = page.getByRole('row', { name: opened!, selected: true });
    await expect.poll(() => row.evaluate((one) => one.getBoundingClientRect().bottom)).toBeLessThanOrEqual(260);
  }
});

const scrolled = () =>
  page.evaluate<number[]>(
    '[...document.querySelectorAll("main *")].map((one) => one.scrollTop).filter((top) => top > 0)',
  );

test('shows the next entry and the next page from their tops, and goes back to the same place', async () => {
  await page.setViewportSize({ width: 1280, height: 260 });
  await page.goto(`${started.origin}/console/feed`);
  await page.getByRole('option').first().click();
  const panel = page.getByRole('complementary');
  await panel.getByRole('heading', { name: 'Versions' }).waitFor();
  await panel.hover();
  await page.mouse.wheel(0, 200);
  await expect.poll(scrolled).toEqual([200]);
  await page.getByRole('option').nth(1).click();
  await panel.getByRole('heading', { name: 'Versions' }).waitFor();
  await expect.poll(scrolled).toEqual([]);
  await panel.hover();
  await page.mouse.wheel(0, 120);
  await expect.poll(scrolled).toEqual([120]);
  await page.keyboard.press('Enter');
  await page.waitForURL(/feed\/[\da-f-]+$/);
  await page.getByRole('heading', { name: 'Versions' }).waitFor();
  await expect.poll(scrolled).toEqual([]);
  await page.goBack();
  await expect.poll(scrolled).toEqual([120]);
  await page.setViewportSize({ width: 1280, height: 800 });
});

test('returns the focus when a view is saved', async () => {
  await page.goto(`${started.origin}/console/feed?severity=none`);
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save this view' }).click();
  await page.getByRole('textbox', { name: 'Name of the view' }).fill('Unrated');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Unrated' }).waitFor();
  await expect.poll(name).toBe('Unrated');
});

test.each([
  ['the command palette', 'Create key', 'Control+k'],
  ['the sheet of shortcuts', 'Create key', 'Shift+?'],
  ['a dialog', 'Create key', 'Enter'],
  ['a menu', 'Actions for the key spare', 'Enter'],
])('returns the focus when %s closes', async (_, button, key) => {
  await page.goto(`${started.origin}/console/settings/keys`);
  await page.getByRole('button', { name: button }).focus();
  await page.keyboard.press(key);
  await page.locator('[role=dialog], [role=menu]').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('[role=dialog], [role=menu]').waitFor({ state: 'detached' });
  await expect.poll(name).toBe(button);
});

test('returns the focus to the button of the menu that opened a dialog', async () => {
  await page.goto(`${started.origin}/console/settings/keys`);
  await page.getByRole('button', { name: 'Actions for the key spare' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Revoke key' }).press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await expect.poll(name).toBe('Actions for the key spare');
});

test('moves the focus to what follows when a row is deleted in a dialog', async () => {
  await page.goto(`${started.origin}/console/settings/keys`);
  await page.getByRole('button', { name: 'Actions for the key spare' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Revoke key' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).press('Enter');
  await page.getByRole('button', { name: 'Actions for the key spare' }).waitFor({ state: 'detached' });
  await expect.poll(name).toMatch(/^Actions for the key/);
});

test('moves the focus to what follows when a row is removed', async () => {
  const other = await newPage(browser);
  await signIn(other.page, started.origin, org, '/feed');
  await other.context.close();
  await page.goto(`${started.origin}/console/settings/sessions`);
  await page.getByRole('button', { name: 'End session' }).press('Enter');
  await page.getByRole('button', { name: 'End session' }).waitFor({ state: 'detached' });
  await expect.poll(name).toBe('Sign out');
});
