import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { startConsole, startPages } from '../../support/browser/console.ts';
import { callOk, postSuggestion } from '../../support/detection/detection-factory.ts';
import { fileSource, kevCatalogue, kevRows } from '../../support/feed/kev-source.ts';

const started = await startConsole();
const { openPage } = await startPages(started);

/** Presses Tab until the focused element has a role or a name. */
async function tabTo(page: Page, wanted: { role?: string; name?: string }): Promise<void> {
  for (let presses = 0; presses < 40; presses += 1) {
    await page.keyboard.press('Tab');
    const [role, name] = await page.evaluate<[string | null, string]>(
      '((one) => [one.getAttribute("role"), one.ariaLabel ?? one.textContent.trim()])(document.activeElement)',
    );
    if (role === (wanted.role ?? role) && name === (wanted.name ?? name)) return;
  }
  throw new Error(`Tab never reached ${JSON.stringify(wanted)}.`);
}

const focusedRole = (page: Page) => page.evaluate<string | null>('document.activeElement.getAttribute("role")');

test('opens, pulls, edits and closes a source with the keyboard alone', async () => {
  const org = await started.newOrg();
  for (const name of ['First list', 'Second list']) {
    const source = await fileSource(started, org, { kind: 'kev', name, visibility: 'private' });
    await source.pull(kevCatalogue(1, kevRows(1)));
  }
  const page = await openPage(org, '/sources');
  const panel = page.getByRole('complementary');
  await page.getByRole('gridcell').first().waitFor();
  await tabTo(page, { role: 'grid' });
  await page.keyboard.press('ArrowDown');
  await panel.getByRole('heading', { name: 'Second list' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await panel.getByRole('heading', { name: 'First list' }).waitFor();
  await page.getByRole('row', { name: /^First list/, selected: true }).waitFor();
  await page.keyboard.press('ArrowUp');
  await panel.getByRole('heading', { name: 'Second list' }).waitFor();
  expect(await focusedRole(page)).toBe('grid');
  await tabTo(page, { name: 'Pull now' });
  await page.keyboard.press('Enter');
  await page.getByText('0 added, 0 corrected, 0 retracted, 1 unchanged').first().waitFor();
  await tabTo(page, { name: 'Edit' });
  await page.keyboard.press('Enter');
  await panel.getByRole('heading', { name: 'Edit Second list' }).waitFor();
  await page.keyboard.press('Escape');
  await panel.getByRole('heading', { name: 'Second list', exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  await expect.poll(() => focusedRole(page)).toBe('grid');
});

test('moves through items with the arrow keys, which scroll the panel while the focus is in it', async () => {
  const org = await started.newOrg();
  for (const text of ['Older report\nIt says nothing.', `Newer report\n${'It goes on.\n\n'.repeat(80)}`])
    await callOk(org, 'POST', '/api/feed/items', { text });
  const page = await openPage(org, '/feed');
  const panel = page.getByRole('complementary');
  await page.getByRole('option').first().waitFor();
  await tabTo(page, { role: 'option' });
  await page.keyboard.press('ArrowDown');
  await panel.getByRole('heading', { name: 'Newer report' }).waitFor();
  await panel.getByText('It goes on.').last().waitFor();
  await tabTo(page, { name: 'Describe your organization' });
  await page.keyboard.press('ArrowDown');
  const scroller = panel.locator('[data-scroll-restoration-id]');
  await expect.poll(() => scroller.evaluate((one) => one.scrollTop)).toBeGreaterThan(0);
  await panel.getByRole('heading', { name: 'Newer report' }).waitFor();
  await page.keyboard.press('j');
  await panel.getByRole('heading', { name: 'Older report' }).waitFor();
});

test('scrolls the panel to a passage, and not the page around it', async () => {
  const org = await started.newOrg();
  const filler = 'Nothing else of note happened at the bank during this long week.\n\n'.repeat(120);
  await callOk(org, 'POST', '/api/feed/items', { text: `Acme Bank hit\n${filler}It contacted evil-bank[.]top.` });
  const page = await openPage(org, '/feed');
  await page.setViewportSize({ width: 1280, height: 300 });
  await page.getByRole('option').first().waitFor();
  await page.keyboard.press('j');
  const panel = page.getByRole('complementary');
  await panel.getByText('It contacted').waitFor();
  await tabTo(page, { name: 'Show where the text mentions evil-bank[.]top' });
  await page.keyboard.press('Enter');
  await expect.poll(() => panel.locator('mark').evaluate((one) => one.getBoundingClientRect().top)).toBeLessThan(300);
  expect(await page.locator('main').evaluate((one) => one.getBoundingClientRect().top)).toBe(0);
});

test('filters the feed and deletes a source with the keyboard alone', async () => {
  const org = await started.newOrg();
  const source = await fileSource(started, org, { kind: 'kev', name: 'Old list', visibility: 'private' });
  await source.pull(kevCatalogue(1, kevRows(2)));
  await callOk(org, 'POST', '/api/feed/items', { text: 'Nothing happened.', publisher: 'Acme CERT' });
  const page = await openPage(org, '/feed');
  await page.getByText('3 items').waitFor();
  await tabTo(page, { name: 'Source' });
  await page.keyboard.press('ArrowDown');
  await page.getByRole('menuitemradio', { name: /^Acme CERT/ }).waitFor();
  await page.keyboard.type('acme');
  await page.keyboard.press('Enter');
  await page.getByText('1 item', { exact: true }).waitFor();
  await tabTo(page, { name: 'Remove the filter Source' });
  await page.keyboard.press('Enter');
  await page.getByText('3 items').waitFor();

  await page.goto(`${started.origin}/console/sources?source=${source.source.id}`);
  await page.getByRole('button', { name: 'Delete' }).waitFor();
  await tabTo(page, { name: 'Delete' });
  await page.keyboard.press('Enter');
  await page.getByText('Delete the source? Its items remain.').waitFor();
  await tabTo(page, { name: 'Cancel' });
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate<string>('document.activeElement.textContent')).toMatch(/^(Pull now|Delete)$/);
  await page.getByRole('button', { name: 'Delete' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('Delete the source? Its items remain.').waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('The source is deleted.').waitFor();
  await page.getByText('No sources yet').waitFor();
  expect((await callOk(org, 'GET', '/items')).total).toBe(3);
});

test('moves through looked-up values with the arrow keys', async () => {
  const page = await openPage(await started.newOrg(), '/indicators');
  await page.getByLabel(/^Paste addresses/).fill('evil-bank[.]top unseen.example');
  await page.keyboard.press('Control+Enter');
  await page.getByRole('gridcell').first().waitFor();
  await tabTo(page, { role: 'grid' });
  for (const value of ['evil-bank.top', 'unseen.example']) {
    await page.keyboard.press('ArrowDown');
    await page.getByRole('complementary').getByRole('heading', { name: value }).waitFor();
  }
});

test('accepts one suggestion and dismisses another with the keyboard alone', async () => {
  const org = await started.newOrg();
  await postSuggestion(org, { name: 'Keep this' });
  await postSuggestion(org, { name: 'Drop this' });
  const page = await openPage(org, '/suggestions');
  await page.getByRole('option').nth(1).waitFor();
  await tabTo(page, { role: 'option' });
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Drop this' }).waitFor();
  await page.keyboard.press('d');
  await page.getByLabel('Reason').waitFor();
  await page.keyboard.press('Escape');
  await page.getByLabel('Reason').waitFor({ state: 'detached' });
  await page.keyboard.press('d');
  await page.getByLabel('Reason').waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.type('we do not run it');
  await page.keyboard.press('Enter');
  await page.getByText('Dismissed “Drop this”').waitFor();
  await page.getByRole('heading', { name: 'Keep this' }).waitFor();
  await page.keyboard.press('a');
  await page.getByText('Accepted “Keep this”').waitFor();
  const { detections } = await callOk(org, 'GET', '/api/detections');
  expect(detections.map(({ name }: { name: string }) => name)).toEqual(['Keep this']);
  const { suggestions } = await callOk(org, 'GET', '/api/detections/suggestions/dismissed');
  expect(suggestions).toMatchObject([{ name: 'Drop this', dismissNote: 'we do not run it' }]);
});
