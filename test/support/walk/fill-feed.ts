import { queueNextItems } from '../../../src/feed/reading/process-readings.ts';
import { setReaderAlias } from '../../../src/feed/reading/readings.store.ts';
import { whileServing } from '../listen.ts';
import { sql } from 'kysely';
import { acrossOrgs, inOrg } from '../../../src/platform/db/db.ts';
import { syncSweepsAcrossOrgs } from '../../../src/agents/sightings/sightings.store.ts';
import { sweepDue } from '../../../src/agents/sightings/sweep.ts';
import type { Deps } from '../../../src/app/deps.ts';
import { saveJudgmentRow } from '../../../src/agents/threat-relevancy/judgments.store.ts';
import { insertObjectItems } from '../../../src/feed/taxii/manifest-objects.store.ts';
import { scoreNextBatch } from '../../../src/feed/relevance/score-items.ts';
import { kevCatalogWith } from '../feed/kev-document.ts';
import type { TestOrg } from '../harness.ts';
import { callsOf } from './api-calls.ts';

/** Runs the sweep of the newest items, as its loop would later. */
async function sweepLogs(deps: Deps): Promise<void> {
  await syncSweepsAcrossOrgs(deps.db);
  await acrossOrgs(deps.db, (tx) => sql`update feed_sweeps set due_at = clock_timestamp()`.execute(tx));
  for (let round = 0; round < 20; round += 1) await sweepDue(deps, new AbortController().signal);
}

/** Creates a source with items, an override, a profile with scores, and sightings. Returns the ids of the source and the items. */
export async function fillFeed(deps: Deps, org: TestOrg, mark: string): Promise<string[]> {
  const { get, post, put } = callsOf(org);
  return whileServing(kevCatalogWith(mark), async (url) => {
    const source = await post('/api/feed/sources', { kind: 'kev', name: mark, url, publisher: mark });
    const pulled = await post(`/api/feed/sources/${source.id}/pull`);
    if (pulled.added !== 3) throw new Error(`the pull added nothing: ${JSON.stringify(pulled)}`);
    await sweepLogs(deps);
    // Previous states of items have their own rows.
    await put(`/api/feed/sources/${source.id}`, { tlp: 'AMBER+STRICT' });
    await post(`/api/feed/sources/${source.id}/pull`);
    await post('/api/feed/items', { text: `${mark} was hit from evil-host[.]top.` });
    for (const name of ['all', 'relevant']) await get(`/taxii2/root/collections/${name}/objects/`);
    await inOrg(deps.db, org.id, (tx) => setReaderAlias(tx, org.id, 'm', deps.clock()));
    while (await queueNextItems(deps, ['m']));
    const { items } = await get('/items?perPage=100');
    // Items that share a STIX object have rows of their own.
    const shared = { objectId: `indicator--${mark}`, itemId: items[0].id };
    await inOrg(deps.db, org.id, (tx) => insertObjectItems(tx, 'all', [shared]));
    // An override with a previous state, and a profile with scores.
    for (const note of [mark, `${mark} again`])
      await put(`/api/feed/items/${items[0].id}/override`, { note, severity: 'low' });
    const profile = await put('/api/feed/profile', { keywords: [mark] });
    const judged = { itemId: items[0].id, itemVersion: items[0].version, profileVersion: profile.version };
    await inOrg(deps.db, org.id, (tx) => saveJudgmentRow(tx, { orgId: org.id, ...judged, at: deps.clock() }));
    for (let round = 0; round < 10; round += 1) await scoreNextBatch(deps);
    await sweepLogs(deps);
    const seen = await Promise.all(items.map(({ id }: { id: string }) => get(`/api/feed/items/${id}/sightings`)));
    if (!seen.some(({ sightings }) => sightings.length > 0)) throw new Error('no item is exposed');
    await inOrg(deps.db, org.id, (tx) =>
      sql`insert into feed_sent_sightings (organization_id, source_id, item_id, value, status, id, at, state)
        values (${org.id}, ${source.id}, ${items[0].id}, ${mark}, 'seen', gen_random_uuid(), now(), 'sent')`.execute(
        tx,
      ),
    );
    return [source.id, ...items.map(({ id }: { id: string }) => id)];
  });
}
