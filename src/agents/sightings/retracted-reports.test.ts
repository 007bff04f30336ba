import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { fileSource } from '../../../test/support/feed/kev-source.ts';
import { startApp } from '../../../test/support/harness.ts';
import { sendEvents } from '../../../test/support/org-requests.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import { acrossOrgs } from '../../platform/db/db.ts';
import { syncSweepsAcrossOrgs } from './sightings.store.ts';
import { sweepDue } from './sweep.ts';

let now = new Date('2024-01-10T10:20:30.000Z');
const app = await startApp({ clock: () => now });

/** Searches the logs for changed items. */
async function sweep(): Promise<void> {
  now = new Date(now.getTime() + 60_000);
  await syncSweepsAcrossOrgs(app.deps.db);
  await acrossOrgs(app.deps.db, (tx) => sql`update feed_sweeps set due_at = clock_timestamp()`.execute(tx));
  for (let step = 0; step < 50 && (await sweepDue(app.deps, new AbortController().signal)); step += 1);
}

test('a retraction of the publisher retracts the item in every export and ends its sightings', async () => {
  const org = await app.newOrg();
  const feed = (text: string): string => `<rss version="2.0"><channel><title>Acme Labs</title><item>
    <title>The Bluefin campaign</title><guid isPermaLink="false">bluefin</guid><description>${text}</description></item></channel></rss>`;
  await sendEvents(org, 'proxy', [{ _id: '1', timestamp: '2024-01-10T10:00:00Z', dest_ip: '185.100.87.60' }], {
    isHistory: false,
  });
  await sweep();
  const body = 'The loader Bluefin connects to its C2 servers at 185.100.87.60 and bluefin-panel[.]top.';
  const source = await fileSource(app, org, { kind: 'rss', tlp: 'CLEAR', name: 'Acme Labs' });
  await source.pull(feed(body));
  const [item] = (await org.call('GET', '/items')).body.items as FeedItem[];
  const listSightings = async () => (await org.call('GET', `/api/feed/items/${item!.id}/sightings`)).body.sightings;
  const readBlocklist = async (): Promise<string[]> =>
    String((await org.call('GET', '/api/feed/export/blocklist?type=ipv4,domain&minConfidence=0')).body)
      .trim()
      .split('\n');
  await sweep();
  expect(await listSightings()).toHaveLength(1);
  // A partial retraction ends the values that it names, and their sightings.
  expect(await source.pull(feed(`${body} Update: 185.100.87.60 is not malicious.`))).toMatchObject({ corrected: 1 });
  await sweep();
  expect([await listSightings(), await readBlocklist()]).toEqual([[], ['bluefin-panel.top']]);
  expect(await source.pull(feed(`We withdraw our report of 20 November. ${body}`))).toMatchObject({ retracted: 1 });
  const retracted = (await org.call('GET', `/items/${item!.id}`)).body;
  expect(retracted.event.status).toBe('retracted');
  expect(JSON.stringify(retracted.provenance)).toContain('We withdraw our report');
  expect(await readBlocklist()).toEqual(['']);
  const found = (await org.call('GET', '/api/indicators?value=bluefin-panel.top')).body;
  expect(found.items).toMatchObject([{ status: 'revoked', why: 'its item was retracted' }]);
  expect((await org.call('GET', '/api/feed/export/csv')).body).toMatch(/bluefin-panel\.top,domain,revoked,/);
  const { objects } = (await org.call('GET', '/api/feed/export/stix')).body;
  const indicators = objects.filter(({ type }: { type: string }) => type === 'indicator');
  expect(indicators.map(({ revoked }: { revoked?: boolean }) => revoked)).not.toContain(undefined);
  const { Event } = (await org.call('GET', `/api/feed/export/misp/${item!.id}.json`)).body;
  expect([Event.deleted, Event.info]).toEqual([true, '[retracted] The Bluefin campaign']);
  const taxii = (await org.call('GET', '/taxii2/root/collections/all/objects')).body;
  expect(taxii.objects.find(({ type }: { type: string }) => type === 'report')).toMatchObject({ revoked: true });
});
