import type { ApiCalls } from './api-calls.ts';

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
