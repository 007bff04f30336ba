import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { atFileEnd } from '../../../test/support/at-file-end.ts';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { mispAttribute, mispEvent } from '../../../test/support/feed/misp-documents.ts';
import { startApp } from '../../../test/support/harness.ts';
import { startReceiver, type Received, type ReceiverReply } from '../../../test/support/platform/webhook-receiver.ts';
import { acrossOrgs } from '../../platform/db/db.ts';
import { reportDue } from './report-sightings.ts';
import { queueSightingsAcrossOrgs } from './report-sightings.store.ts';

const { deps, newOrg } = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1', TOCSIN_LOG_LEVEL: 'fatal' } });
const server = await startReceiver();
atFileEnd(() => server.close());
const base = new URL(server.url).origin;
const run = (statement: ReturnType<typeof sql>) => acrossOrgs(deps.db, (tx) => statement.execute(tx));

/** Queues and sends what is due, and what waits for another attempt. */
async function report(): Promise<void> {
  await queueSightingsAcrossOrgs(deps.db);
  await run(sql`update feed_sent_sightings set due_at = clock_timestamp()`);
  await reportDue(deps);
}

const json = (body: object, status = 200, type = 'application/json'): ReceiverReply => ({
  status,
  headers: { 'content-type': type },
  body: JSON.stringify(body),
});

/** Pulls a source whose documents `serve` returns, and sees all of its values in the logs. */
async function startSource(fields: object, serve: (received: Received) => ReceiverReply) {
  const org = await newOrg();
  server.reply(serve);
  const auth = { type: 'header', name: 'Authorization', value: 'secret-key' };
  const source = await callOk(org, 'POST', '/api/feed/sources', { name: 'S', auth, ...fields });
  const url = `/api/feed/sources/${source.id}`;
  await callOk(org, 'POST', `${url}/pull`);
  await run(sql`
    insert into feed_sightings (organization_id, item_id, connection_id, dataset, type, value, match, observed, event_key, event, found_at)
    select ${org.id}, i.id, ${org.id}, 'dns', 'domain', t.value, 'exact', 'ada-laptop', k, '{"user":"ada"}', '2026-01-05T09:00:00Z'
    from items i join item_terms t on t.item_id = i.id and t.kind = 'indicator', unnest(array['1', '2']) as k where i.source_id = ${source.id}`);
  const states = async (): Promise<string[]> => {
    const { rows } = await acrossOrgs(deps.db, (tx) =>
      sql<{
        line: string;
      }>`select value || ' ' || status || ' ' || state as line from feed_sent_sightings where source_id = ${source.id} order by 1`.execute(
        tx,
      ),
    );
    return rows.map(({ line }) => line);
  };
  return { org, source, url, states };
}

test('reports what was seen and what is a false positive to MISP, once each, within the marking that the setting permits', async () => {
  const { Event } = mispEvent('Campaign', {
    Tag: [{ name: 'tlp:amber' }],
    Object: [],
    Attribute: [mispAttribute('domain', 'seenbad.top'), mispAttribute('domain', 'gonebad.top')],
  });
  const added: object[] = [];
  let answer: ReceiverReply | undefined;
  const { org, url, states } = await startSource(
    { kind: 'misp', url: `${base}/events/view/1` },
    ({ path, body, headers }) => {
      if (path !== '/sightings/add') return json({ Event });
      expect(headers['authorization']).toBe('secret-key');
      if (answer) return answer;
      added.push(JSON.parse(body));
      // MISP refuses an unknown value with status 200.
      return JSON.parse(body).values[0].startsWith('gone')
        ? json({ message: 'Could not add the Sighting. Reason: No valid attributes found that match the criteria.' })
        : json({ message: 'Sighting added' });
    },
  );
  await report();
  expect(await states()).toEqual([]);

  await callOk(org, 'PUT', url, { sightings: { url: base } });
  await report();
  expect(await states()).toEqual(['gonebad.top seen withheld', 'seenbad.top seen withheld']);
  expect(added).toEqual([]);

  await callOk(org, 'PUT', url, { sightings: { url: base, tlpMax: 'AMBER' } });
  answer = { status: 503, headers: { 'retry-after': '900' } };
  await report();
  expect((await callOk(org, 'GET', url)).sightingsError).toContain('status 503');
  const waits = sql<{
    s: number;
  }>`select min(extract(epoch from due_at - clock_timestamp()))::int as s from feed_sent_sightings`;
  expect(((await run(waits)).rows[0] as { s: number }).s).toBeGreaterThan(890);
  answer = undefined;
  await report();
  await report();
  expect(await states()).toEqual(['gonebad.top seen refused', 'seenbad.top seen sent']);
  // Nothing from the log rows is sent, not even their number.
  expect(added).toContainEqual({ values: ['seenbad.top'], type: '0', source: 'Tocsin', timestamp: 1767603600 });
  expect(added).toHaveLength(2);
  expect((await callOk(org, 'GET', url)).sightingsError).toBeNull();

  const [item] = (await callOk(org, 'GET', '/items')).items;
  const indicators = [{ type: 'domain', value: 'seenbad.top', status: 'false_positive' }];
  await callOk(org, 'PUT', `/api/feed/items/${item.id}/override`, { indicators });
  await report();
  expect(added.at(-1)).toMatchObject({ values: ['seenbad.top'], type: '1' });
  const { entries } = await callOk(org, 'GET', '/api/audit?action=source.sightings_sent');
  expect(entries.map(({ after }: { after: object }) => after)).toMatchObject([{ sent: 1 }, { sent: 1, refused: 1 }]);
});

test('posts sightings to a TAXII collection that can be written, and asks for their status', async () => {
  const id = (n: number): string => `indicator--00000000-0000-4000-8000-00000000000${n}`;
  const objects = [1, 2].map((n) => ({
    type: 'indicator',
    spec_version: '2.1',
    id: id(n),
    created: '2025-12-01T00:00:00.000Z',
    modified: '2025-12-01T00:00:00.000Z',
    name: `Indicator ${n}`,
    pattern_type: 'stix',
    pattern: `[domain-name:value = 'd${n}bad.top']`,
    valid_from: '2025-12-01T00:00:00Z',
  }));
  const type = 'application/taxii+json;version=2.1';
  const posted: { id: string; sighting_of_ref: string }[][] = [];
  let canWrite = false;
  let refused = '';
  let status: object = {
    id: 'status-1',
    status: 'pending',
    total_count: 2,
    success_count: 0,
    failure_count: 0,
    pending_count: 2,
  };
  const collection = `${base}/api1/collections/c1/`;
  const { org, url, states } = await startSource(
    { kind: 'taxii', url: collection, tlp: 'CLEAR' },
    ({ method, path, headers, body }) => {
      // Servers refuse other media types, and addresses without a slash at their end.
      if (headers.accept !== type || (method === 'POST' && headers['content-type'] !== type)) return { status: 406 };
      if (path === '/api1/collections/c1/')
        return json({ id: 'c1', title: 'C', can_read: true, can_write: canWrite }, 200, type);
      if (path === '/api1/status/status-1/') return json(status, 200, type);
      if (!path.startsWith('/api1/collections/c1/objects/')) return { status: 404 };
      if (path.endsWith(`/${refused}/`)) return json({}, 200, type);
      if (method === 'GET') return json({ objects }, 200, type);
      posted.push(JSON.parse(body).objects);
      return json(status, 202, type);
    },
  );
  const elsewhere = { sightings: { url: 'https://taxii.invalid/api1/collections/c1/' } };
  expect((await org.call('PUT', url, elsewhere)).body.errors[0]).toMatchObject({
    pointer: '/sightings/url',
    code: 'other_host',
  });
  await callOk(org, 'PUT', url, { sightings: { url: collection } });
  await report();
  expect((await callOk(org, 'GET', url)).sightingsError).toBe('the collection does not accept objects');
  canWrite = true;
  await report();
  expect(posted).toHaveLength(1);
  expect(posted[0]!.map((one) => one.sighting_of_ref).toSorted()).toEqual([id(1), id(2)]);
  expect(posted[0]![0]).toEqual({
    type: 'sighting',
    spec_version: '2.1',
    id: expect.stringMatching(/^sighting--[0-9a-f-]{36}$/),
    created: '2026-01-05T09:00:00.000Z',
    modified: '2026-01-05T09:00:00.000Z',
    first_seen: '2026-01-05T09:00:00.000Z',
    sighting_of_ref: expect.any(String),
    object_marking_refs: ['marking-definition--94868c89-83c2-464b-929b-a1a8aa3c8487'],
  });
  await report();
  expect(await states()).toEqual(['d1bad.top seen posted', 'd2bad.top seen posted']);
  // Some servers refuse what they have already, which is no refusal.
  refused = posted[0]!.find((one) => one.sighting_of_ref === id(2))!.id;
  status = {
    id: 'status-1',
    status: 'complete',
    failures: posted[0]!.map((one) => ({ id: one.id, version: '', message: 'no' })),
  };
  await report();
  expect(await states()).toEqual(['d1bad.top seen sent', 'd2bad.top seen refused']);
  expect(posted).toHaveLength(1);
});
