import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { callOk, postDetection, postSuggestion } from '../../../test/support/detection/detection-factory.ts';
import { startApp } from '../../../test/support/harness.ts';
import { createScriptedModels } from '../../../test/support/models/scripted-models.ts';
import { inOrg } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';

const now = new Date('2026-03-04T10:20:30.400Z');
const models = createScriptedModels({ m: 'http://127.0.0.1:1' }, { budgets: { tokensPerOrganizationMonth: 1000 } });
const { newOrg, newKey, deps } = await startApp({ clock: () => now, deps: { models } });

test('is empty for a new organization', async () => {
  const overview = await callOk(await newOrg(), 'GET', '/api/overview');
  expect(overview).toMatchObject({
    at: now.toISOString(),
    hits: { open: 0, undecided: 0, bySeverity: [] },
    detections: { total: 0, byHealth: {}, attention: [] },
    gaps: { open: 0, detections: 0, oldestFrom: null, hours: 0 },
    suggestions: { open: 0, newestAt: null },
    budgets: [],
    feed: { sources: 0, failingSources: [], silentSources: [] },
  });
  expect(overview.days).toHaveLength(30);
  expect(overview.days.at(-1)).toEqual({
    day: '2026-03-04',
    runs: 0,
    triggered: 0,
    hits: 0,
    reviewed: 0,
    precision: null,
  });
});

test('counts what needs a person, of this organization only, and hides what the key may not read', async () => {
  const org = await newOrg();
  const { id } = await postDetection(org, { name: 'Late', detectionCadence: 'hourly' });
  const stopped = await postDetection(org, { name: 'Stopped' });
  await postSuggestion(org);
  await inOrg(deps.db, org.id, async (tx) => {
    for (const [at, status, severity, verdict] of [
      ['2026-03-04T10:00:00Z', 'open', 'high', 'undecided'],
      ['2026-03-01T10:00:00Z', 'open', 'high', 'raise'],
      ['2026-02-01T10:00:00Z', 'open', 'critical', 'raise'],
      ['2026-03-04T09:00:00Z', 'true_positive', 'high', 'undecided'],
      ['2026-03-04T08:00:00Z', 'false_positive', 'high', 'raise'],
    ] as const)
      await sql`insert into hits (organization_id, id, detection_id, key, entity, entity_type, kind, severity, confidence, headline, summary, next_step,
          evidence, rows, facts, status, verdict, window_from, window_to, first_seen_at, last_seen_at, created_at, updated_at)
        values (${org.id}, ${uuidv7()}, ${id}, ${uuidv7()}, 'ada', 'user', 'custom', ${severity}, 50, 'h', 's', 'n', '[]', '[]', '{}', ${status}, ${verdict},
          ${at}, ${at}, ${at}, ${at}, ${at}, ${at})`.execute(tx);
    await sql`insert into run_days values (${org.id}, ${id}, '2026-03-04', '', 5, 2, 0, 0)`.execute(tx);
    await sql`insert into gaps (organization_id, detection_id, gap_from, gap_to, id, reason, created_at, updated_at)
      values (${org.id}, ${id}, '2026-03-01', '2026-03-01T06:00Z', ${uuidv7()}, 'late', now(), now())`.execute(tx);
    await sql`update agents set disabled_reason = 'query_failed' where id = ${stopped.id}`.execute(tx);
    await sql`insert into model_usage values (${org.id}, ${id}, 'm', '2026-03-02', 3, 900, 0), (${org.id}, ${id}, 'm', '2026-02-28', 3, 900, 0)`.execute(
      tx,
    );
    await sql`insert into model_pauses values (${org.id}, 'm', 'timeout', 'slow', now(), now())`.execute(tx);
    await sql`insert into feed_sources (organization_id, id, visibility, pool_id, kind, name, url, failures, last_error, cursor, created_at, updated_at)
      select ${org.id}, gen_random_uuid(), 'private', p.id, 'rss', n, 'x', f, e, c, now(), now() from (select id from feed_pools limit 1) p,
        (values ('quiet', 0, null, '{"silentSince":"2026-02-01T00:00:00.000Z"}'), ('broken', 3, 'refused', '{}'), ('fine', 0, null, '{}')) as s (n, f, e, c)`.execute(
      tx,
    );
  });
  const overview = await callOk(org, 'GET', '/api/overview');
  expect(overview.hits).toEqual({
    open: 3,
    undecided: 1,
    bySeverity: [
      { severity: 'critical', open: 1, newToday: 0, newThisWeek: 0, older: 1, oldestAt: '2026-02-01T10:00:00.000Z' },
      { severity: 'high', open: 2, newToday: 1, newThisWeek: 1, older: 0, oldestAt: '2026-03-01T10:00:00.000Z' },
    ],
  });
  expect(overview.detections).toEqual({
    total: 2,
    byHealth: { gap: 1, stopped: 1 },
    attention: [
      { id: stopped.id, name: 'Stopped', health: 'stopped', reason: 'query_failed' },
      { id, name: 'Late', health: 'gap', reason: 'late' },
    ],
  });
  expect(overview).toMatchObject({
    gaps: { open: 1, detections: 1, oldestFrom: '2026-03-01T00:00:00.000Z', hours: 6 },
    suggestions: { open: 1 },
    budgets: [{ alias: 'm', tokens: 900, tokensMax: 1000, share: 0.9 }],
    pausedModels: [{ id: 'm', kind: 'timeout' }],
    feed: {
      sources: 3,
      failingSources: [{ name: 'broken', failures: 3, lastError: 'refused' }],
      silentSources: [{ name: 'quiet', silentSince: '2026-02-01T00:00:00.000Z' }],
    },
  });
  expect(overview.days.at(-1)).toEqual({
    day: '2026-03-04',
    runs: 5,
    triggered: 2,
    hits: 3,
    reviewed: 2,
    precision: 0.5,
  });
  const { sources } = await callOk(org, 'GET', '/api/feed/sources');
  expect(
    sources
      .map((source: { silentSince: string | null }) => source.silentSince)
      .toSorted()
      .at(0),
  ).toBe('2026-02-01T00:00:00.000Z');
  const limited = await callOk(await newKey(org, ['detections:read']), 'GET', '/api/overview');
  expect(limited).toMatchObject({ hits: null, feed: null, detections: { total: 2 } });
  expect(limited.days.at(-1)).toMatchObject({ runs: 5, hits: null, reviewed: null, precision: null });
  expect(await callOk(await newOrg(), 'GET', '/api/overview')).toMatchObject({ detections: { total: 0 }, budgets: [] });
});
