import { expect, test } from 'vitest';
import { scoreNextBatch } from '../../../src/feed/relevance/score-items.ts';
import { startConsole, startPages } from '../../support/browser/console.ts';
import { callOk } from '../../support/detection/detection-factory.ts';

const hash = '9f2b6c0a6c1d4e5f8a7b3c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f';
const reports = [
  ['Harbor News', '2026-03-02', 'Wiper at a shipping company', `A wiper with the SHA-256 ${hash} destroyed servers.`],
  ['Hafenblatt', '2026-03-03', 'Schadsoftware legt Reederei lahm', `Die Datei hat den Hash ${hash}.`],
  ['Bank Weekly', '2026-03-03', 'Emotet returns', 'Emotet sends mail again.'],
];

const started = await startConsole();
const { openPage } = await startPages(started);

test('shows what was relevant in a week, and leads to other weeks', async () => {
  const org = await started.newOrg();
  await callOk(org, 'PUT', '/api/feed/profile', { keywords: ['wiper'], timeZone: 'Europe/Oslo' });
  for (const [publisher, publishTime, title, text] of reports)
    await callOk(org, 'POST', '/api/feed/items', { publisher, publishTime, title, text });
  for (let step = 0; step < 100 && (await scoreNextBatch(started.deps)); step += 1);
  const page = await openPage(org, '/digest?week=current');
  await page.getByText('Why: keyword wiper').waitFor();
  expect(await page.getByRole('link', { name: 'Emotet returns' }).count()).toBe(0);
  await page.getByRole('button', { name: 'Previous week' }).click();
  await page.getByText('Nothing relevant happened in this week.').waitFor();
  expect(new URL(page.url()).search).toMatch(/^\?week=\d{4}-W\d\d$/);
});

test('lists reports of two sources about one event as one row, with its time line and the reason', async () => {
  const org = await started.newOrg();
  const ids: string[] = [];
  for (const [publisher, publishTime, title, text] of reports)
    ids.push((await callOk(org, 'POST', '/api/feed/items', { publisher, publishTime, title, text })).id);
  const page = await openPage(org, '/stories');
  const rows = page.getByRole('list', { name: 'Stories' }).getByRole('button');
  await expect.poll(() => rows.count()).toBe(2);
  const row = rows.filter({ hasText: 'Wiper at a shipping company' });
  expect(await row.textContent()).toContain('Hafenblatt · Harbor News');
  expect(await row.textContent()).toContain('2 reports');
  await row.click();
  const story = page.getByRole('article');
  await story.getByText(hash).waitFor();
  await expect
    .poll(() =>
      story
        .getByRole('listitem')
        .filter({ has: page.getByRole('link') })
        .count(),
    )
    .toBe(2);
  await story.getByRole('link', { name: 'Schadsoftware legt Reederei lahm' }).click();
  await page.getByRole('link', { name: 'Open the story' }).click();
  await expect.poll(() => new URL(page.url()).search).toBe(`?story=${ids[0]}`);
  await page.getByRole('searchbox').fill('emotet');
  await expect.poll(() => rows.count()).toBe(1);
  await page.getByRole('searchbox').fill('nobody');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect.poll(() => rows.count()).toBe(2);
});
