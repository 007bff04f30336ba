import type { ApiCalls } from './api-calls.ts';

export async function useAgents({ get, put }: ApiCalls): Promise<void> {
  const { agents } = await get('/api/agents?limit=200');
  const builtIn = agents.find(
    (one: { builtInAgentType: string; isBuiltIn: boolean }) =>
      one.isBuiltIn && one.builtInAgentType === 'threat-research',
  );
  await get(`/api/agents/${builtIn.id}`);
  const { runs } = await get(`/api/agents/${builtIn.id}/runs`);
  await get(`/api/agents/${builtIn.id}/runs/${runs[0].id}/steps`);
  await put(`/api/agents/${builtIn.id}`, { detectionCadence: 'daily', enabled: false });
}

export async function useRuns({ get, post, put, remove }: ApiCalls): Promise<void> {
  await put('/api/entity-notes', { notes: [{ entity: 'walked', note: 'A walk.' }] });
  await get('/api/entity-notes?entity=WALKED');
  const profile = '/api/entities/user/walked';
  await post(`${profile}/aliases`, { alias: 'walked-adm', reason: 'The second account of the same person.' });
  await get(profile);
  await remove(`${profile}/aliases/walked-adm`);
  await put('/api/value-lists/walked', { columns: ['user', 'department'], rows: [['walked', 'research']] });
  await get('/api/value-lists');
  await get('/api/value-lists/walked');
  await remove('/api/value-lists/walked');
  const { hits } = await get('/api/hits?status=open');
  const hit = await get(`/api/hits/${hits[0].id}`);
  await get(`/api/hits/${hit.id}/context`);
  await get(`/api/hits/${hit.id}/evidence`);
  await post(`/api/detections/${hit.detectionId}/exceptions/preview`, { entity: 'walked' });
  await post(`/api/detections/${hit.detectionId}/exceptions/proposals`, { hitIds: [hit.id] });
  const { groups } = await get('/api/hit-groups');
  await get(`/api/hit-groups/${groups[0].id}`);
  const { change } = await post(`/api/hit-groups/${groups[0].id}/status`, { status: 'benign', reason: 'walked' });
  await post(`/api/hit-groups/${groups[0].id}/undo`, { change: change.id });
  await get(`/api/runs/${hit.runs[0]}`);
  await get(`/api/detections/${hit.detectionId}/runs?limit=2`);
  await get(`/api/detections/${hit.detectionId}/gaps`);
  await get(`/api/runs/${hit.runs[0]}/steps`);
  await post(`/api/runs/${hit.runs[0]}/replay`, { modelAlias: 'analyst' });
  const { runId } = await post(`/api/detections/${hit.detectionId}/run`, { customInstructions: 'Look twice.' });
  await post(`/api/runs/${runId}/cancel`);
}

export async function useReviewQueue({ get, post }: ApiCalls): Promise<void> {
  const { cases } = await get('/api/review-cases?kind=undecided&limit=1');
  await get(`/api/review-cases/${cases[0].id}`);
  await get(`/api/detections/${cases[0].detectionId}/dismissals`);
  await post(`/api/review-cases/${cases[0].id}/decision`, { decision: 'dismiss', reason: 'walked' });
}

/** Comments on a hit and decides about the calls that an agent proposed for it. */
export async function useProposals({ get, post }: ApiCalls): Promise<void> {
  const { calls } = await get('/api/agent-calls?state=waiting');
  const toApprove = calls.find(({ tool }: { tool: string }) => tool === 'set_hit_status');
  await post(`/api/hits/${toApprove.hitId}/comments`, { body: 'The user is on a business trip.' });
  await get(`/api/hits/${toApprove.hitId}/comments`);
  await post(`/api/agent-calls/${toApprove.id}/approve`, { inputHash: toApprove.inputHash });
  const toDecline = calls.find(({ tool }: { tool: string }) => tool === 'propose_exception');
  await post(`/api/agent-calls/${toDecline.id}/decline`);
}

/** Calls the operations for tests, exceptions, export and import. */
export async function useTesting({ get, post, put, remove }: ApiCalls, mark: string): Promise<void> {
  const { hits } = await get('/api/hits?limit=1');
  const url = `/api/detections/${hits[0].detectionId}`;
  await post(`/api/hits/${hits[0].id}/status`, { status: 'true_positive', reason: 'walked' });
  await get('/api/entities?limit=1');
  const { gaps } = await get(`${url}/gaps`);
  const open = gaps.find(({ state }: { state: string }) => state === 'open');
  await post(`${url}/backfill?estimate=true`, { from: open.from, to: open.to });
  await post(`${url}/backfill`, { from: open.from, to: open.to });
  await post(`${url}/snooze`, { until: '2999-01-01T00:00:00Z', entity: 'nobody' });
  const { id } = await post(`${url}/exceptions`, { field: 'user', value: 'nobody', reason: mark });
  await get(`${url}/exceptions?limit=1`);
  await remove(`${url}/exceptions/${id}`);
  const event = { timestamp: '2026-03-02T00:00:00Z', user: 'ada', action: 'x' };
  await put(`${url}/tests`, { tests: [{ name: 'walked', events: [event], expect: ['ada'] }] });
  await get(`${url}/tests`);
  const run = await post(`${url}/tests/run`);
  if (!run.passed) throw new Error(JSON.stringify(run));
  const now = Date.now();
  const range = { from: new Date(now - 7_200_000).toISOString(), to: new Date(now).toISOString() };
  await post(`${url}/backtest`, { ...range, promptVersion: 1 });
  const record = await get(url);
  const { name, detectionCategory, detectionQuery } = record;
  await post('/api/detections/preview', { name, detectionCategory, detectionQuery, systemPrompt: 'p', ...range });
  await post('/api/detections/estimate', { name, detectionCategory, detectionQuery, systemPrompt: 'p' });
  await post(`${url}/estimate`);
  await post('/api/detections/bulk', { action: 'tag', filter: {}, tags: ['walked'], dryRun: true });
  await get('/api/detections/library');
  await post('/api/detections/library/install', { ids: ['upload-to-new-domain'], dryRun: true });
  await post('/api/detections/library/update', { dryRun: true });
  await post('/api/detections/import?format=sigma', { dryRun: true, rules: 'title: t' });
  await post('/api/sigma/convert', {
    rules: 'title: t\nlogsource: {product: windows}\ndetection: {s: {f: 1}, condition: s}',
  });
  const { detections } = await get('/api/detections/export');
  await post('/api/detections/import', { detections, dryRun: true });
  await get('/api/privacy/retention');
  await post('/api/privacy/erase', { field: 'user', value: 'nobody at all' });
}
