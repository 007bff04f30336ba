import { expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';
import { postDetection } from '../../../test/support/detection/detection-factory.ts';
import { observationOf } from '../../../test/support/detection/verdict-examples.ts';
import { inOrg, queryRows } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { eraseFromHits } from './hit-retention.store.ts';

const app = await startApp();

test('returns the rows and the cited observations of a hit to its own organization, without an erased value', async () => {
  const org = await app.newOrg();
  const { id: detectionId } = await postDetection(org);
  const id = uuidv7();
  const rows = JSON.stringify([{ rowId: 'r1', time: null, fields: { user: 'ada', ip: '203.0.113.77' } }]);
  const observations = JSON.stringify([observationOf('o1', { user: 'mallory', ip: '203.0.113.77' })]);
  const claims = JSON.stringify([
    {
      text: 'mallory used 203.0.113.77 too.',
      kind: 'fact',
      cites: [{ observation: 'o1', rowId: 'r1', field: 'ip', value: '203.0.113.77' }],
      status: 'cited',
      reason: null,
    },
  ]);
  await inOrg(
    app.deps.db,
    org.id,
    (tx) =>
      queryRows(
        tx,
      )`insert into hits (organization_id, id, detection_id, key, entity, entity_type, kind, severity, confidence, headline, summary, next_step,
        evidence, claims, observations, rows, facts, window_from, window_to, first_seen_at, last_seen_at, created_at, updated_at)
      values (${org.id}, ${id}, ${detectionId}, ${id}, 'ada', 'user', 'custom', 'high', 50, 'h', 's', 'n', '[]', ${claims}, ${observations}, ${rows}, '{}',
        now(), now(), now(), now(), now(), now())`,
  );
  const url = `/api/hits/${id}/evidence`;
  const { body } = await org.call('GET', url);
  expect(body.observations).toMatchObject([
    { id: 'rows', rows: [{ rowId: 'r1', fields: { user: 'ada' } }], tool: 'detection' },
    { id: 'o1', query: 'SELECT * FROM signins', rows: [{ fields: { user: 'mallory' } }] },
  ]);
  expect((await (await app.newOrg()).call('GET', url)).status).toBe(404);
  await inOrg(app.deps.db, org.id, (tx) => eraseFromHits(tx, org.id, '203.0.113.77'));
  const erased = [await org.call('GET', url), await org.call('GET', `/api/hits/${id}`)].map((one) =>
    JSON.stringify(one.body),
  );
  for (const text of erased) expect(text).not.toContain('203.0.113.77');
  expect(erased[1]).toContain('mallory used [erased] too.');
});
