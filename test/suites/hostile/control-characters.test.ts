import { expect, test } from 'vitest';
import { executeDueRuns } from '../../../src/detection/runs/workers/run-loops.ts';
import { callOk } from '../../support/detection/detection-factory.ts';
import { startApp } from '../../support/harness.ts';

const time = { now: new Date('2026-03-02T00:30:00Z') };
const { deps, newOrg } = await startApp({ clock: () => time.now });

test('an event with U+0000 becomes a hit that a person can judge and note', async () => {
  const org = await newOrg();
  await callOk(org, 'POST', '/api/detections', {
    name: 'Sign-in',
    detectionCategory: 'custom',
    systemPrompt: 'Judge\u0000 it.',
    detectionQuery: `SELECT "user", note, _id, _time, 'high' AS severity FROM signins`,
    detectionCadence: 'hourly',
  });
  const event = { '@timestamp': '2026-03-02T00:20:00Z', user: 'ad\u0000a', note: 'x\u0000y\ud800' };
  expect(await callOk(org, 'POST', '/api/logs/signins', JSON.stringify(event))).toMatchObject({ accepted: 1 });
  time.now = new Date('2026-03-02T01:00:00Z');
  await executeDueRuns(deps, time.now);
  const { hits } = await callOk(org, 'GET', '/api/hits');
  expect(hits).toHaveLength(1);
  const changed = await org.call('POST', `/api/hits/${hits[0].id}/status`, {
    status: 'false_positive',
    reason: 'seen\u0000',
  });
  expect(changed.body).toMatchObject({ id: hits[0].id });
  expect(JSON.stringify(await callOk(org, 'GET', `/api/hits/${hits[0].id}`))).not.toContain(String.raw`\u0000"`);
});
