import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { pullOnce } from '../../../test/support/feed/grouped-reports.ts';
import { kevCatalogue, kevRow } from '../../../test/support/feed/kev-source.ts';
import { rssFeed, sentences } from '../../../test/support/feed/rss-documents.ts';
import { startApp } from '../../../test/support/harness.ts';
import { sendEvents } from '../../../test/support/org-requests.ts';
import { matchWaiting } from '../../detection/continuous/match-loop.ts';
import { executeDueRuns } from '../../detection/runs/workers/run-loops.ts';
import { acrossOrgs } from '../../platform/db/db.ts';
import { sweepDue } from '../sightings/sweep.ts';
import { syncSweepsAcrossOrgs } from '../sightings/sightings.store.ts';

let now = new Date('2026-02-01T10:20:30.000Z');
const app = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' }, clock: () => now });
const { db } = app.deps;

/** Searches the logs for the indicators of items that are new since the last search. */
async function sweep(): Promise<void> {
  now = new Date(now.getTime() + 60_000);
  await syncSweepsAcrossOrgs(db);
  await acrossOrgs(db, (tx) => sql`update feed_sweeps set due_at = clock_timestamp()`.execute(tx));
  while (await sweepDue(app.deps, new AbortController().signal));
}

const host = (name: string): string => `${name}.evil-host.top`;

test('says what a source brings that the others do not, and what of it was seen and judged', async () => {
  const [org, stranger] = [await app.newOrg(), await app.newOrg()];
  await callOk(org, 'POST', '/api/detections/library/install', { ids: ['feed-indicator-sighted'] });
  await matchWaiting(app.deps);
  await sweep();
  const pull = (name: string, hosts: string[], owner = org) => {
    now = new Date(now.getTime() + 60_000);
    return pullOnce(app, owner, { kind: 'csv', name, reliability: 1, content: hosts.map(host).join('\n') });
  };
  const entries = [{ id: 'one', title: 'A report', html: `<p>${sentences(20).join(' ')}</p>` }];
  await pullOnce(app, org, { kind: 'rss', name: 'Blog', content: rssFeed(entries) });
  await pull('Early', ['shared', 'mine', 'seen', 'office']);
  await pull('Late', ['shared', 'seen']);
  await pullOnce(app, org, { kind: 'kev', name: 'Vulnerabilities', content: kevCatalogue(1, [kevRow(1)]) });
  // Nobody else sees what an organization keeps to itself.
  await pull('Private', ['mine'], stranger);
  const indicators = [{ type: 'domain', value: host('office'), status: 'false_positive' }];
  const { items } = await callOk(org, 'GET', '/items');
  const early = items.find(({ source }: { source: { name: string } }) => source.name === 'Early');
  expect((await org.call('PUT', `/api/feed/items/${early.id}/override`, { indicators })).status).toBe(200);

  await sendEvents(org, 'dns', [{ timestamp: now, dns: { question: { name: host('seen') } } }], { isHistory: false });
  await sweep();
  await matchWaiting(app.deps);
  await executeDueRuns(app.deps, now, { skipWaiting: true });
  const { hits } = await callOk(org, 'GET', '/api/hits');
  expect(hits).toHaveLength(1);
  await callOk(org, 'POST', `/api/hits/${hits[0].id}/status`, { status: 'true_positive', reason: 'A test.' });

  const list = async (query = '') => {
    const { sources } = await callOk(org, 'GET', `/api/feed/sources/worth${query}`);
    return Object.fromEntries(sources.map(({ name, ...worth }: { name: string }) => [name, worth]));
  };
  const worth = await list();
  expect(Object.keys(worth)).toEqual(['Vulnerabilities', 'Late', 'Early', 'Blog']);
  expect(worth['Vulnerabilities']).toMatchObject({ values: 1, ownValues: 1, falseValues: 0, addsNothing: false });
  const seen = { seenValues: 1, truePositives: 1, falsePositives: 0, addsNothing: false };
  expect(worth['Early']).toMatchObject({ values: 4, ownValues: 2, firstValues: 2, confirmedValues: 2, falseValues: 1 });
  expect(worth['Early']).toMatchObject(seen);
  expect(worth['Late']).toMatchObject({ values: 2, ownValues: 0, firstValues: 0, confirmedValues: 2, ...seen });
  expect(worth['Blog']).toMatchObject({ reports: 1, ownReports: 1, seenValues: 0, addsNothing: false });
  now = new Date(now.getTime() + 3 * 86_400_000);
  await pull('Copy', ['shared']);
  expect((await list('?days=2'))['Early']).toMatchObject({ items: 0, addsNothing: true });
  expect((await list())['Copy']).toMatchObject({ items: 1, confirmedValues: 1, addsNothing: true });
  const refused = await org.call('GET', '/api/feed/sources/worth?days=366');
  expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, 'query/days']);
});
