import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { callOk, postDetection, postSuggestion } from '../../../test/support/detection/detection-factory.ts';
import { reportSource } from '../../../test/support/feed/report-source.ts';
import { startApp } from '../../../test/support/harness.ts';
import { inOrg } from '../../platform/db/db.ts';
import { combineWeights, weighDetection } from './detection-weight.ts';
import type { Coverage, CoveredTechnique } from './coverage.schema.ts';

let now = new Date('2024-01-05T10:00:00.000Z');
const app = await startApp({ clock: () => now });

const good = { health: 'healthy' as const, runs: 9, hasTests: true, reviewed: 0, truePositives: 0 };
test.each([
  [good, 1, 0],
  [{ ...good, health: 'disabled' as const }, 0, 1],
  [{ ...good, health: 'gap' as const }, 0.6, 1],
  [{ ...good, runs: 0 }, 0.5, 1],
  [{ ...good, hasTests: false }, 0.9, 1],
  [{ ...good, reviewed: 4, truePositives: 0 }, 1, 0],
  [{ ...good, reviewed: 5, truePositives: 0 }, 0.5, 1],
  [{ ...good, reviewed: 10, truePositives: 10 }, 1, 0],
  [{ ...good, health: 'failing' as const, hasTests: false, runs: 0 }, 0.135, 3],
])('weighs %j as %d', (detection, weight, reasons) => {
  const weighed = weighDetection(detection);
  expect([weighed.weight, weighed.reasons.length]).toEqual([weight, reasons]);
});

test('combines weights to at most 1, and nothing to 0', () => {
  expect([combineWeights([]), combineWeights([0.5, 0.5]), combineWeights([1, 0.2])]).toEqual([0, 0.75, 1]);
});

test('shows detections, threats and suggestions of each technique, and exports them', async () => {
  const org = await app.newOrg();
  const tested = await postDetection(org, {
    name: 'Tested',
    detectionCadence: 'hourly',
    tags: ['attack.t1490', 'attack.impact'],
  });
  await postDetection(org, { name: 'Off', tags: ['attack.t1490', 'attack.t1059.001'] });
  await postDetection(org, { name: 'Untagged', tags: ['t1490'] });
  const suggestion = await postSuggestion(org, { technique: 'T1059.001' });
  await inOrg(app.deps.db, org.id, async (tx) => {
    await sql`insert into run_days values (${org.id}, ${tested.id}, '2024-01-05', '', 5, 1, 0, 0)`.execute(tx);
    await sql`insert into detection_tests values (${org.id}, ${tested.id}, null, '[{}]', now())`.execute(tx);
  });
  const source = await reportSource(app, org);
  await source.write({ 1: {}, 2: {}, 3: { revoked: true } });
  await inOrg(app.deps.db, org.id, (tx) =>
    sql`insert into item_terms (organization_id, item_id, pool_id, kind, value)
      select organization_id, id, pool_id, 'technique', t from items join (values ('Report 1', 'T1059'), ('Report 1', 'T1059.001'), ('Report 1', 'T1566'),
        ('Report 2', 'T1566'), ('Report 3', 'T1566')) as v (title, t) using (title)`.execute(tx),
  );
  const coverage: Coverage = await callOk(org, 'GET', '/api/coverage');
  const find = (from: Coverage, id: string): CoveredTechnique => from.techniques.find((one) => one.id === id)!;
  expect(coverage.techniques.length).toBeGreaterThan(600);
  expect(coverage.tactics.map(({ shortName }) => shortName).slice(0, 3)).toEqual([
    'reconnaissance',
    'resource-development',
    'initial-access',
  ]);
  expect(find(coverage, 'T1490')).toMatchObject({
    score: 1,
    detectionCount: 2,
    detections: [
      { name: 'Tested', weight: 1, reasons: [] },
      { name: 'Off', weight: 0, health: 'disabled' },
    ],
    threats: null,
  });
  expect(find(coverage, 'T1059.001')).toMatchObject({
    score: 0,
    parentId: 'T1059',
    threats: { items: 1 },
    suggestionIds: [suggestion.id],
  });
  expect(find(coverage, 'T1059')).toMatchObject({ detectionCount: 0, threats: { items: 1 } });
  expect(find(coverage, 'T1566')).toMatchObject({
    score: 0,
    threats: { items: 2, latest: { title: expect.stringContaining('Report') } },
  });
  expect(coverage).toMatchObject({ profile: 'none', isComplete: true });

  const layer = await callOk(org, 'GET', '/api/coverage/navigator');
  expect(layer).toMatchObject({ domain: 'enterprise-attack', versions: { layer: '4.5' } });
  expect(
    layer.techniques.map(({ techniqueID, score, color }: Record<string, unknown>) => [
      techniqueID,
      score,
      color !== undefined,
    ]),
  ).toEqual([
    ['T1059', 0, true],
    ['T1059.001', 0, true],
    ['T1490', 100, false],
    ['T1566', 0, true],
  ]);

  const other: Coverage = await callOk(await app.newOrg(), 'GET', '/api/coverage');
  expect(other.techniques.every(({ detectionCount, threats }) => detectionCount === 0 && threats === null)).toBe(true);
  const noFeed: Coverage = await callOk(await app.newKey(org, ['detections:read']), 'GET', '/api/coverage');
  expect(find(noFeed, 'T1566').threats).toBeNull();
  now = new Date('2024-04-05T10:00:00.000Z');
  expect(find(await callOk(org, 'GET', '/api/coverage?days=30'), 'T1566').threats).toBeNull();
  expect((await org.call('GET', '/api/coverage?days=366')).status).toBe(400);
});
