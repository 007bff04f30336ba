import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import type { AgentTask } from '../built-in-agent.ts';
import { inOrg } from '../../platform/db/db.ts';
import { runDueAgents } from './run-due-agents.ts';

let now = new Date('2026-03-02T10:20:00.000Z');
const { deps, newOrg } = await startApp({ clock: () => now });
const { signal } = new AbortController();
const hour = 3_600_000;

const builtIn = async (org: TestOrg, type: string) =>
  (await org.call('GET', '/api/agents?limit=200')).body.agents.find(
    (one: { builtInAgentType: string }) => one.builtInAgentType === type,
  );
const runsOf = async (org: TestOrg, id: string) => (await org.call('GET', `/api/agents/${id}/runs`)).body.runs;

test('runs a built-in agent when it gets a schedule and then at its slots, in one process only', async () => {
  const org = await newOrg();
  expect(await runDueAgents(deps, signal)).toBe(0);
  const { id } = await builtIn(org, 'threat-research');
  await org.call('PUT', `/api/agents/${id}`, { detectionCadence: 'hourly' });
  const ran = await Promise.all([1, 2, 3].map(() => runDueAgents(deps, signal)));
  expect(ran.reduce((a, b) => a + b, 0)).toBe(1);
  expect(await builtIn(org, 'threat-research')).toMatchObject({
    lastDetectionRunAt: now.toISOString(),
    runs30d: 1,
    hits30d: 0,
  });
  expect(await runDueAgents(deps, signal)).toBe(0);
  now = new Date(now.getTime() + hour);
  expect(await runDueAgents(deps, signal)).toBe(1);
  const runs = await runsOf(org, id);
  expect(runs).toMatchObject([
    { status: 'completed', slotAt: '2026-03-02T11:00:00.000Z', model: null, outcome: { suggestions: [] } },
    { status: 'completed', slotAt: null, agentId: id, failure: null },
  ]);
});

test('does not run a disabled agent', async () => {
  const org = await newOrg();
  const { id } = await builtIn(org, 'threat-research');
  await org.call('PUT', `/api/agents/${id}`, { detectionCadence: 'hourly', enabled: false });
  const before = await runsOf(org, id);
  now = new Date(now.getTime() + hour);
  await runDueAgents(deps, signal);
  expect(await runsOf(org, id)).toEqual(before);
});

test('fails the run of a lost process and runs at the next slot', async () => {
  const org = await newOrg();
  const { id } = await builtIn(org, 'threat-research');
  await org.call('PUT', `/api/agents/${id}`, { detectionCadence: 'hourly' });
  await runDueAgents(deps, signal);
  await inOrg(deps.db, org.id, (tx) =>
    sql`update agent_runs set status = 'running', finished_at = null where agent_id = ${id}`.execute(tx),
  );
  now = new Date(now.getTime() + hour);
  await runDueAgents(deps, signal);
  expect(await runsOf(org, id)).toMatchObject([
    { status: 'completed' },
    { status: 'failed', failure: { kind: 'worker_lost', blame: 'service' } },
  ]);
});

test("stores the failure and cost of one organization's run and still runs the others", async () => {
  const [broken, fine] = [await newOrg(), await newOrg()];
  for (const org of [broken, fine]) {
    const { id } = await builtIn(org, 'threat-research');
    await org.call('PUT', `/api/agents/${id}`, { detectionCadence: 'daily' });
  }
  const works = {
    'threat-research': (_deps: unknown, { orgId, spent }: AgentTask) => {
      Object.assign(spent, { tokens: 7, costUsd: 0.5 });
      if (orgId === broken.id) return Promise.reject(new Error('a secret of the log'));
      return Promise.resolve({ outcome: {}, triggered: true });
    },
  };
  await runDueAgents(deps, signal, works);
  const lost = await builtIn(broken, 'threat-research');
  expect(await runsOf(broken, lost.id)).toMatchObject([
    { status: 'failed', failure: { kind: 'internal', blame: 'service' }, tokens: 7, costUsd: 0.5 },
  ]);
  expect(JSON.stringify(await runsOf(broken, lost.id))).not.toContain('secret');
  expect(lost).toMatchObject({ runs30d: 1, hits30d: 0 });
  const { id } = await builtIn(fine, 'threat-research');
  expect(await runsOf(fine, id)).toMatchObject([{ status: 'completed', tokens: 7, costUsd: 0.5 }]);
  expect(await builtIn(fine, 'threat-research')).toMatchObject({ runs30d: 1, hits30d: 1 });
});

test("returns 404 for another organization's agent and 409 for a detection", async () => {
  const [org, stranger] = [await newOrg(), await newOrg()];
  const { id } = await builtIn(org, 'threat-research');
  expect((await stranger.call('GET', `/api/agents/${id}/runs`)).status).toBe(404);
  const body = { name: 'd', detectionCategory: 'custom', systemPrompt: 'p', detectionQuery: 'select 1' };
  const detection = (await org.call('POST', '/api/detections', body)).body;
  expect((await org.call('GET', `/api/agents/${detection.id}/runs`)).status).toBe(409);
});
