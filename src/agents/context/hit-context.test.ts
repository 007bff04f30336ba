import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { callOk, postDetection } from '../../../test/support/detection/detection-factory.ts';
import { reportSource } from '../../../test/support/feed/report-source.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { replaceHitValues } from '../../detection/hits/read-hits.store.ts';
import { inOrg } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { findIndicatorValues } from './read-context.ts';

const now = new Date('2024-01-05T10:00:00.000Z');
const app = await startApp({ clock: () => now });

type HitInput = { detectionId: string; entity?: string; fields?: Record<string, string>; at?: string };

const unproven = { text: 'It was root.', kind: 'fact', cites: [], status: 'unproven', reason: 'it cites nothing' };

/** Inserts a hit that cites every field of its row. */
async function insertHit(org: TestOrg, { detectionId, entity = 'ada', fields = {}, at = now.toISOString() }: HitInput) {
  const id = uuidv7();
  const rows = JSON.stringify([{ rowId: 'r1', time: at, fields }]);
  const evidence = JSON.stringify(
    Object.entries(fields).map(([field, value]) => ({ observation: 'rows', rowId: 'r1', field, value, why: 'w' })),
  );
  const claims = JSON.stringify([unproven]);
  await inOrg(app.deps.db, org.id, async (tx) => {
    await sql`insert into hits (organization_id, id, detection_id, key, entity, entity_type, kind, severity, confidence, headline, summary, next_step,
        evidence, rows, facts, claims, window_from, window_to, first_seen_at, last_seen_at, created_at, updated_at)
      values (${org.id}, ${id}, ${detectionId}, ${id}, ${entity}, 'user', 'custom', 'high', 50, ${`About ${entity}`}, 's', 'n', ${evidence}, ${rows}, '{}',
        ${claims}, ${at}, ${at}, ${at}, ${at}, ${at}, ${at})`.execute(tx);
    await replaceHitValues(tx, org.id, [{ id, entity, entityType: 'user', rows: [{ rowId: 'r1', time: at, fields }] }]);
  });
  return id;
}

test('returns what surrounds a hit', async () => {
  const org = await app.newOrg();
  await (await reportSource(app, org)).write({ 1: { words: 'first' }, 2: { revoked: true } });
  const { id: detectionId } = await postDetection(org, { name: 'One' });
  const other = await postDetection(org, { name: 'Other' });
  const hit = await insertHit(org, {
    detectionId,
    fields: { url: 'http://R1.example/a, r2.example', host: 'R1.EXAMPLE', tool: 'curl' },
  });
  const elsewhere = await insertHit(org, { detectionId: other.id });
  const sameTool = await insertHit(org, { detectionId, entity: 'bob', fields: { tool: 'curl' } });
  const sameEntity = await insertHit(org, { detectionId, fields: { tool: 'wget' } });
  await insertHit(org, { detectionId, entity: 'open', fields: { tool: 'curl' } });
  await callOk(org, 'POST', `/api/hits/${sameTool}/status`, { status: 'benign', reason: 'a backup' });
  await callOk(org, 'POST', `/api/hits/${sameEntity}/status`, { status: 'true_positive' });
  await callOk(org, 'POST', `/api/hits/${hit}/status`, { status: 'benign', reason: 'known' });

  const context = await callOk(org, 'GET', `/api/hits/${hit}/context`);
  expect(context.entityHits.map(({ id }: { id: string }) => id).toSorted()).toEqual([elsewhere, sameEntity].toSorted());
  expect(context.similar).toMatchObject([
    { id: sameEntity, sameEntity: true, sharedEvidence: [], status: 'true_positive', reason: null },
    { id: sameTool, sameEntity: false, sharedEvidence: [{ field: 'tool', value: 'curl' }], reason: 'a backup' },
  ]);
  expect(context.feedItems).toMatchObject([{ title: 'Report 1 first', values: ['R1.EXAMPLE'] }]);
  expect(context.timeline.map(({ kind, detail }: Record<string, string>) => [kind, detail])).toEqual([
    ['event', null],
    ['raised', 'About ada'],
    ['status', 'benign: known'],
  ]);
  const reader = await app.newKey(org, ['hits:read']);
  expect((await callOk(reader, 'GET', `/api/hits/${hit}/context`)).feedItems).toBeNull();
  expect((await callOk(org, 'GET', `/api/hits/${hit}`)).claims).toEqual([unproven]);

  const known = await callOk(org, 'GET', '/api/indicators/context?value=r1[.]EXAMPLE');
  expect(known).toMatchObject({
    feed: { normalizedValue: 'r1.example', total: 1 },
    sightings: [],
    hits: [{ id: hit }],
  });
  expect(
    (await callOk(await app.newKey(org, ['feed:read']), 'GET', '/api/indicators/context?value=bob')).hits,
  ).toBeNull();
  expect((await callOk(org, 'GET', '/api/indicators/context?value=bob')).hits).toMatchObject([{ id: sameTool }]);
});

test('previews an exception on the hits of 30 days without storing it', async () => {
  const org = await app.newOrg();
  const { id: detectionId } = await postDetection(org);
  const hidden = await insertHit(org, { detectionId, fields: { tool: 'CURL 8' } });
  await insertHit(org, { detectionId, fields: { tool: 'wget' } });
  await insertHit(org, { detectionId, fields: { tool: 'curl' }, at: '2023-12-01T00:00:00.000Z' });
  const url = `/api/detections/${detectionId}/exceptions/preview`;
  const preview = await callOk(org, 'POST', url, { field: 'tool', value: 'curl*' });
  expect(preview).toMatchObject({
    examined: 2,
    hidden: 1,
    hiddenByStatus: { open: 1 },
    isComplete: true,
    hits: [{ id: hidden }],
  });
  expect(await callOk(org, 'POST', url, { entity: 'ad*' })).toMatchObject({ hidden: 2 });
  expect((await callOk(org, 'GET', `/api/detections/${detectionId}/exceptions`)).exceptions).toEqual([]);
  expect((await org.call('POST', url, { field: 'tool' })).body.errors[0].pointer).toBe('/value');
  expect((await org.call('POST', url, { entity: '*' })).status).toBe(400);
});

test('finds indicators in fields and lists, and nothing in other text', () => {
  const rows = [
    {
      rowId: 'r',
      time: null,
      fields: {
        a: '["10.1.2.3", "evil.example"]',
        b: 'cmd.exe /c whoami',
        c: 'x'.repeat(5000),
        d: 'd41d8cd98f00b204e9800998ecf8427e',
      },
    },
  ];
  const values = [...findIndicatorValues(rows).values()];
  expect(values).toEqual(expect.arrayContaining(['10.1.2.3', 'evil.example', 'd41d8cd98f00b204e9800998ecf8427e']));
  expect(values).not.toContain('whoami');
});
