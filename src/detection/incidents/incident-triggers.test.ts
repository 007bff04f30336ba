import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startHits, type RaisedHit } from '../../../test/support/detection/raised-hits.ts';
import { startApp } from '../../../test/support/harness.ts';

const app = await startApp();
const hit = (name: string, severity: NonNullable<RaisedHit['severity']> = 'medium'): RaisedHit => ({
  name,
  at: 0,
  entity: 'ada',
  severity,
});

/** Starts an organization with a response agent that has these triggers. */
async function start(...triggers: Record<string, unknown>[]) {
  const org = await app.newOrg();
  const hits = await startHits(app.deps.db, org.id);
  const inputs = [{ type: 'text', name: 'title' }];
  const agent = await callOk(org, 'POST', '/api/agents', { name: 'Look', systemPrompt: 'Look.', inputs });
  for (const trigger of triggers) await callOk(org, 'POST', `/api/agents/${agent.id}/triggers`, trigger);
  const raise = async (...list: RaisedHit[]): Promise<string[]> => {
    const ids = await hits.raise(list);
    await hits.place();
    return ids;
  };
  const listEvents = async () =>
    (await callOk(org, 'GET', `/api/agents/${agent.id}/runs`)).runs.map(
      ({ outcome }: { outcome: { event: unknown } }) => outcome.event,
    );
  return { org, raise, listEvents };
}

test('a new incident starts one run, on its most severe hit, and a change by a person none', async () => {
  const { org, raise, listEvents } = await start(
    { source: 'incident.created', inputs: { title: { from: '/title' } } },
    { source: 'incident.updated' },
  );
  const [, severe] = await raise(hit('a'), hit('b', 'high'));
  const [incident] = (await callOk(org, 'GET', '/api/incidents')).incidents;
  expect(await listEvents()).toEqual([
    {
      source: 'incident.created',
      triggerId: expect.any(String),
      hitId: severe,
      incidentId: incident.id,
      inputs: { title: 'ada: 2 hits of 1 detection' },
    },
  ]);
  await callOk(org, 'PATCH', `/api/incidents/${incident.id}`, { state: 'in_progress' });
  expect(await listEvents()).toHaveLength(1);
});

test('an incident with another hit starts a run of each trigger whose filter one of its hits meets', async () => {
  const { raise, listEvents } = await start(
    { source: 'incident.updated', filter: { severity: 'high' } },
    { source: 'incident.updated', filter: { detections: ['00000000-0000-4000-8000-000000000000'] } },
  );
  await raise(hit('a'), hit('b'));
  await raise(hit('c'));
  expect(await listEvents()).toEqual([]);
  const [critical] = await raise(hit('d', 'critical'));
  expect(await listEvents()).toMatchObject([{ source: 'incident.updated', hitId: critical }]);
  await raise();
  expect(await listEvents()).toHaveLength(1);
});
