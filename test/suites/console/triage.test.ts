import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startConsole, startPages } from '../../support/browser/console.ts';
import { raiseHits } from '../../support/browser/raise-hits.ts';
import { callOk } from '../../support/detection/detection-factory.ts';
import type { TestOrg } from '../../support/harness.ts';

const started = await startConsole();
const { openPage } = await startPages(started);

async function openHits(users: readonly string[], path = '/hits') {
  const org = await started.newOrg();
  await raiseHits(started, org, users);
  const page = await openPage(org, path);
  await page.getByRole('listbox', { name: 'Hits' }).waitFor();
  return { org, page };
}

test('follows a hit from the list to the cells that prove it, by keyboard', async () => {
  const { page } = await openHits(['ada', 'grace']);
  await page.keyboard.press('j');
  const panel = page.getByRole('complementary');
  const evidence = panel.getByRole('group', { name: 'Evidence' });
  await evidence.getByText('203.0.113.7').waitFor();
  expect(await evidence.locator('.bg-mark').count()).toBeGreaterThan(0);
  const address = page.url();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/console\/hits\/[0-9a-f-]{36}$/);
  await page.goBack();
  expect(page.url()).toBe(address);
  await page.getByRole('option', { selected: true }).waitFor();
  await page.keyboard.press('e');
  await page.waitForURL(/\/console\/hits\/[0-9a-f-]{36}$/);
  await page.goBack();
  await page.getByRole('option', { selected: true }).waitFor();
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
});

test('shows what others do without a reload, and keeps the selection and the place in the list', async () => {
  const { org, page } = await openHits(Array.from({ length: 40 }, (_, n) => `user-${10 + n}`));
  await page.getByText('Live', { exact: true }).waitFor();
  for (const key of ['j', 'a']) await page.keyboard.press(key);
  await page.getByRole('toolbar', { name: '40 hits selected' }).waitFor();
  const address = page.url();
  const list = page.getByRole('listbox', { name: 'Hits' }).locator('..');
  const place = await list.evaluate((element) => (element.scrollTop = 400));
  // Only what is in view is on the page.
  const user = /user-\d+/.exec(await page.getByRole('option').nth(5).innerText())![0];
  const loads: string[] = [];
  page.on('framenavigated', (frame) => loads.push(frame.url()));
  const { hits } = await callOk(org, 'GET', `/api/hits?entity=${user}`);
  await callOk(org, 'POST', `/api/hits/${hits[0].id}/status`, { status: 'benign', reason: 'a test account' });
  await page
    .getByRole('option', { name: new RegExp(user) })
    .getByText('Benign')
    .waitFor();
  expect(await list.evaluate((element) => element.scrollTop)).toBe(place);
  await list.evaluate((element) => (element.scrollTop = 0));
  await raiseHits(started, org, ['grace']);
  await page.getByRole('option', { name: /grace/ }).waitFor();
  await page.getByRole('toolbar', { name: '40 hits selected' }).waitFor();
  expect([page.url(), loads]).toEqual([address, []]);
});

test('marks a hit with a key and a reason, and undoes it', async () => {
  const { org, page } = await openHits(['ada']);
  const readStatus = async () => (await callOk(org, 'GET', '/api/hits')).hits[0].status;
  const open = page.getByRole('navigation', { name: 'Pages' }).getByTitle('1 open hit');
  await open.waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('2');
  await page.getByLabel('Why? (optional)').fill('a test account');
  await page.keyboard.press('Enter');
  await page.getByText('Marked false positive.').waitFor();
  await expect.poll(readStatus).toBe('false_positive');
  await open.waitFor({ state: 'detached' });
  await page.keyboard.press('u');
  await expect.poll(readStatus).toBe('open');
  await open.waitFor();
  const [hit] = (await callOk(org, 'GET', '/api/hits')).hits;
  const { history } = await callOk(org, 'GET', `/api/hits/${hit.id}`);
  expect(history.map(({ to, reason }: { to: string; reason: string | null }) => [to, reason])).toEqual([
    ['open', null],
    ['false_positive', 'a test account'],
  ]);
});

async function countStatuses(org: TestOrg): Promise<Record<string, number>> {
  const { groups } = await callOk(org, 'GET', '/api/hit-groups');
  return groups[0].statuses;
}

test('marks a whole wave by keyboard, and undoes it', async () => {
  const users = ['ada', 'grace', 'alan', 'edsger', 'barbara'];
  const { org, page } = await openHits(users);
  await page.goto(`${started.origin}/console/hits?by=wave`);
  // The wave arrives long after its hits.
  await page.route(/\/api\/hit-groups\/[0-9a-f-]+$/, async (route) => {
    await setTimeout(1000);
    await route.continue();
  });
  await page.getByRole('button', { name: /5 open/ }).click();
  await page.getByRole('option').nth(4).waitFor();
  for (const key of ['a', '3']) await page.keyboard.press(key);
  await page.getByLabel('Why? (optional)').fill('a planned test');
  const requests: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && requests.push(new URL(request.url()).pathname));
  await page.keyboard.press('Enter');
  await expect.poll(() => countStatuses(org)).toEqual({ benign: 5 });
  expect(requests).toEqual([expect.stringMatching(/^\/api\/hit-groups\/[0-9a-f-]+\/status$/)]);
  await page.keyboard.press('u');
  await expect.poll(() => countStatuses(org)).toEqual({ open: 5 });
});

test('marks a wave of more hits than are loaded, and puts back only what it changed', async () => {
  const users = Array.from({ length: 105 }, (_, n) => `user-${String(n).padStart(3, '0')}`);
  const { org, page } = await openHits(users);
  const { hits } = await callOk(org, 'GET', '/api/hits?entity=user-104');
  await callOk(org, 'POST', `/api/hits/${hits[0].id}/status`, { status: 'false_positive' });
  await page.goto(`${started.origin}/console/hits?group=${hits[0].groupId}`);
  await page.getByRole('option').first().waitFor();
  await page.keyboard.press('a');
  await page.getByRole('toolbar', { name: '100 hits selected' }).waitFor();
  await page.getByRole('button', { name: 'Select all 105 hits of the wave' }).click();
  await page.getByRole('toolbar', { name: '105 hits selected' }).waitFor();
  for (const key of ['3', 'Enter']) await page.keyboard.press(key);
  await expect.poll(() => countStatuses(org)).toEqual({ benign: 105 });
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => countStatuses(org)).toEqual({ open: 104, false_positive: 1 });
});

test('creates an exception from a value after showing what it would have hidden, and undoes it', async () => {
  const { org, page } = await openHits(['ada', 'grace']);
  const [judged] = (await callOk(org, 'GET', '/api/hits?entity=grace')).hits;
  await callOk(org, 'POST', `/api/hits/${judged.id}/status`, { status: 'benign', reason: 'her new laptop' });
  const [hit] = (await callOk(org, 'GET', '/api/hits?entity=ada')).hits;
  const isActive = async () => {
    const { exceptions } = await callOk(org, 'GET', `/api/detections/${hit.detectionId}/exceptions`);
    return exceptions.map((exception: { active: boolean }) => exception.active);
  };
  await page.goto(`${started.origin}/console/hits?hit=${hit.id}`);
  await page.getByRole('link', { name: /her new laptop/ }).waitFor();
  await page.getByRole('button', { name: 'Create exception' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('What to hide').selectOption({ label: 'address = 203.0.113.7' });
  await dialog.getByText('Would have hidden 2 of 2 hits of the last 30 days').waitFor();
  await dialog.getByLabel('Only for ada').check();
  await dialog.getByText('Would have hidden 1 of 2 hits of the last 30 days').waitFor();
  await dialog.getByLabel('Reason').fill('a scanner of ours');
  await dialog.getByRole('button', { name: 'Create exception' }).click();
  await page.getByRole('button', { name: 'Undo' }).waitFor();
  expect(await isActive()).toEqual([true]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(isActive).not.toContain(true);
  await page.goto(`${started.origin}/console/detections/${hit.detectionId}?tab=exceptions`);
  await page.getByRole('button', { name: 'Find a threshold' }).click();
  await page.getByText(/It is quiet enough already/).waitFor();
});

test('proposes exceptions for false positives, and shows what each hides', async () => {
  const org = await started.newOrg();
  const scanners = Array.from({ length: 6 }, (_, n) => `scan-${n}`);
  const id = await raiseHits(started, org, ['ada', ...scanners], (user) =>
    user === 'ada' ? '203.0.113.7' : '198.51.100.9',
  );
  const page = await openPage(org, '/hits');
  for (const name of scanners)
    await page
      .getByRole('option', { name: new RegExp(name) })
      .locator('[data-select]')
      .click();
  await page.getByRole('toolbar', { name: '6 hits selected' }).waitFor();
  for (const key of ['2', 'Enter']) await page.keyboard.press(key);
  await page.getByRole('status').getByRole('button', { name: 'Hide similar?' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Hides the 6 false positives and nothing else.').waitFor();
  await dialog.getByText('Findings with another address are still raised: 1 of the 7').waitFor();
  await dialog.getByLabel('Reason').fill('a scanner of ours');
  await dialog.getByLabel('Owner').fill('grace');
  await dialog.getByRole('button', { name: 'Create exception' }).click();
  await page.getByText('The exception is created.').waitFor();
  const { exceptions } = await callOk(org, 'GET', `/api/detections/${id}/exceptions`);
  expect(exceptions).toMatchObject([{ field: 'address', value: '198.51.100.9', owner: 'grace', expiresSoon: false }]);
  expect(exceptions[0].hitIds).toHaveLength(6);
  await page.goto(`${started.origin}/console/detections/${id}?tab=exceptions`);
  await page.getByRole('cell', { name: 'address = 198.51.100.9' }).waitFor();
  await page.getByRole('cell', { name: 'a scanner of ours Owner: grace' }).waitFor();
  await page.getByRole('button', { name: 'Find exceptions' }).click();
  await dialog.getByText('that an exception does not cover already').waitFor();
});

test('filters by address, and clears the filters of an empty list', async () => {
  const { page } = await openHits(['ada']);
  await page.goto(`${started.origin}/console/hits?status=benign`);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByRole('option').first().waitFor();
  expect(new URL(page.url()).search).toBe('');
});

test('resizes the panel by keyboard and by dragging, and keeps the width', async () => {
  const { page } = await openHits(['ada']);
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.keyboard.press('j');
  const separator = page.getByRole('separator', { name: 'Width of the panel' });
  const panel = page.getByRole('complementary');
  const readWidths = async () => [
    await separator.getAttribute('aria-valuenow'),
    String(await panel.evaluate((element) => element.getBoundingClientRect().width)),
  ];
  await expect.poll(readWidths).toEqual(['480', '480']);
  await separator.focus();
  for (const key of ['ArrowLeft', 'Shift+ArrowLeft', 'ArrowRight']) await page.keyboard.press(key);
  await expect.poll(readWidths).toEqual(['544', '544']);
  const box = (await panel.boundingBox())!;
  await page.mouse.move(box.x, 400);
  await page.mouse.down();
  await page.mouse.move(box.x - 100, 420, { steps: 3 });
  await page.mouse.up();
  await expect.poll(readWidths).toEqual(['644', '644']);
  await page.reload();
  await expect.poll(readWidths).toEqual(['644', '644']);
  await page.setViewportSize({ width: 1024, height: 900 });
  await expect.poll(readWidths).toEqual(['495', '495']);
  await page.setViewportSize({ width: 900, height: 900 });
  expect(await separator.isVisible()).toBe(false);
  await page.setViewportSize({ width: 1440, height: 900 });
  await separator.dblclick();
  await expect.poll(readWidths).toEqual(['480', '480']);
});

test('saves the filters of the list as a view and opens it', async () => {
  const { org, page } = await openHits(['ada', 'grace']);
  const [hit] = (await callOk(org, 'GET', '/api/hits?entity=grace')).hits;
  await callOk(org, 'POST', `/api/hits/${hit.id}/status`, { status: 'benign' });
  await page.getByRole('button', { name: 'Status', exact: true }).click();
  await page.getByRole('menuitemradio', { name: 'Benign' }).click();
  await expect.poll(() => page.getByRole('option').count()).toBe(1);
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save this view' }).click();
  await page.getByLabel('Name of the view').fill('Benign ones');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Benign ones' }).waitFor();
  await page.goto(`${started.origin}/console/hits`);
  await expect.poll(() => page.getByRole('option').count()).toBe(2);
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitemradio', { name: 'Benign ones' }).click();
  await page.waitForURL(`${started.origin}/console/hits?status=benign`);
  await expect.poll(() => page.getByRole('option').count()).toBe(1);
});

test('shows hostile text of log rows as text', async () => {
  const hostile = ['<img src=x onerror=alert(1)>', '<script>alert(2)</script>', 'javascript:alert(3)'];
  const { page } = await openHits(hostile);
  let dialogs = 0;
  page.on('dialog', (dialog) => {
    dialogs += 1;
    void dialog.dismiss();
  });
  for (const _ of hostile) {
    await page.keyboard.press('j');
    await page.getByRole('group', { name: 'Evidence' }).waitFor();
    await page.getByRole('heading', { name: 'Facts' }).waitFor();
  }
  expect(await page.locator('img, main script').count()).toBe(0);
  expect(dialogs).toBe(0);
});

test('asks to sign in again when the session ends during work, and comes back to the open hit', async () => {
  const { org, page } = await openHits(['ada', 'grace'], '/hits?severity=high');
  await page.keyboard.press('j');
  await page.getByRole('complementary').getByRole('heading', { name: 'Facts' }).waitFor();
  const address = page.url();
  const { sessions } = await callOk(org, 'GET', '/api/sessions');
  await callOk(org, 'DELETE', `/api/sessions/${sessions[0].id}`);
  await page.keyboard.press('2');
  await page.getByLabel('Why? (optional)').fill('a test account');
  await page.keyboard.press('Enter');
  await page.getByLabel('API key').fill(org.key);
  await page.keyboard.press('Enter');
  await page.waitForURL(address);
  await page.getByRole('complementary').getByRole('heading', { name: 'Facts' }).waitFor();
});

test('asks to sign in again when the session ends, and comes back to the same address', async () => {
  const { org, page } = await openHits(['ada'], '/hits?severity=high');
  const { sessions } = await callOk(org, 'GET', '/api/sessions');
  await callOk(org, 'DELETE', `/api/sessions/${sessions[0].id}`);
  await page.reload();
  await page.getByLabel('API key').fill(org.key);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${started.origin}/console/hits?severity=high`);
});
