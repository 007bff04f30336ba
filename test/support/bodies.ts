const range = { from: '2026-03-02T00:00:00Z', to: '2026-03-02T01:00:00Z' };

/** Valid bodies by method and path, for routes that reject `{}`, so that a rejection is about the owner of the row. */
const bodies: Record<string, unknown> = {
  'POST /api/detections/{id}/backfill': range,
  'POST /api/detections/{id}/backtest': range,
  'POST /api/detections/{id}/exceptions': { entity: 'ada', reason: 'tried' },
  'POST /api/detections/{id}/exceptions/preview': { entity: 'ada' },
  'POST /api/agents/{id}/triggers': { source: 'hit.created' },
  'PUT /api/agents/{id}/schedule': { inputs: {} },
  'POST /api/detections/{id}/snooze': { until: '2999-01-01T00:00:00Z' },
  'POST /api/detections/{id}/prompts': { prompt: 'Judge it otherwise.' },
  'PUT /api/detections/{id}/tests': { tests: [] },
  'POST /api/feed/items/{id}/merge': { into: '00000000-0000-7000-8000-000000000009' },
  'POST /api/feed/items/{id}/retract': { reason: 'tried' },
  'PUT /api/feed/items/{id}/override': { note: 'tried' },
  'PUT /api/views/{id}': { name: 'tried', page: 'hits', query: '' },
  'POST /api/hits/{id}/status': { status: 'benign' },
  'POST /api/hits/{id}/comments': { body: 'tried' },
  'PATCH /api/incidents/{id}': { owner: 'tried' },
  'POST /api/incidents/{id}/merge': { incidentIds: ['00000000-0000-7000-8000-000000000009'] },
  'POST /api/incidents/{id}/split': { hitIds: ['00000000-0000-7000-8000-000000000009'] },
  'POST /api/incidents/{id}/hits': {},
  'POST /api/incidents/{id}/comments': { body: 'tried' },
  'POST /api/incidents/{id}/watch': { watching: true },
  'POST /api/incidents/bulk': { incidents: [{ id: '00000000-0000-7000-8000-000000000009', owner: 'tried' }] },
  'POST /api/agent-calls/{id}/approve': { inputHash: 'tried' },
  'POST /api/hunt-runs/{id}/incident': { findingIds: ['00000000-0000-7000-8000-000000000009'] },
  'POST /api/rule-sources/{id}/update': { version: '0123456789ab' },
  'POST /api/hit-groups/{id}/status': { status: 'benign' },
  'POST /api/review-cases/{id}/decision': { decision: 'dismiss', reason: 'tried' },
  'POST /api/hit-groups/{id}/undo': { change: '00000000-0000-4000-8000-000000000000' },
};

export function bodyFor(method: string, path: string): unknown {
  if (method === 'GET' || method === 'DELETE') return undefined;
  return bodies[`${method} ${path}`] ?? {};
}

/** Returns the path of a row. Version numbers are those that every detection has. */
export function urlFor(path: string, id: string): string {
  const url = path.replaceAll(/\{(?:version|revision)\}/g, '1').replaceAll(/\{\w+\}/g, id);
  return path.endsWith('/diff') ? `${url}?from=1&to=1` : url;
}
