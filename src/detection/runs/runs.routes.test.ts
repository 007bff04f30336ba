import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { selectIn } from '../../../test/support/select-rows.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { executeDueRuns } from './workers/run-loops.ts';

const time = { now: new Date('2026-03-02T00:30:00Z') };
const { deps, newOrg, newKey } = await startApp({ clock: () => time.now });
const hour = (n: number): string => new Date(Date.UTC(2026, 2, 2, n)).toISOString();

const input = {
  name: 'Root signs in',
  detectionCategory: 'custom',
  systemPrompt: 'Judge the sign-in.',
  detectionQuery: "SELECT * FROM signins WHERE userName = 'root'",
  detectionCadence: 'hourly',
  entityField: 'userName',
};
const signin = (id: string, at: string, userName = 'root') => ({
  eventID: `signin-2026-03-02-${id}`,
  timestamp: at,
  userName,
  sourceIP: '203.0.113.7',
  action: 'ConsoleLogin',
});

async function send(org: TestOrg, at: string, events: unknown[]): Promise<void> {
  time.now = new Date(at);
  const receipt = await callOk(org, 'POST', '/api/logs/signins', events);
  expect(receipt).toMatchObject({ accepted: events.length, rejected: [] });
}

async function runAt(at: string): Promise<void> {
  time.now = new Date(at);
  await executeDueRuns(deps, time.now);
}

async function startOrg(more = {}, at = '2026-03-02T00:30:00Z'): Promise<{ org: TestOrg; id: string }> {
  time.now = new Date(at);
  // Drop the runs that the previous test left due: they would only take time.
  await selectIn(deps.db)`update schedules set active = false`;
  const org = await newOrg();
  const { body } = await org.call('POST', '/api/detections', { ...input, ...more });
  return { org, id: body.id };
}

test('turns received events into a hit with its rows as evidence, through the real engine', async () => {
  const { org, id } = await startOrg();
  await send(org, '2026-03-02T00:40:00Z', [
    signin('e1', '2026-03-02T00:39:00Z'),
    signin('e2', '2026-03-02T00:39:30Z', 'ann'),
  ]);
  await runAt(hour(1));
  const { runs, nextCursor } = (await org.call('GET', `/api/detections/${id}/runs`)).body;
  expect(nextCursor).toBeNull();
  expect(runs).toHaveLength(1);
  const once = { windowFrom: hour(0), windowTo: hour(1), startedAt: hour(1), finishedAt: hour(1), slotAt: hour(1) };
  expect(runs[0]).toMatchObject({
    ...once,
    detectionId: id,
    trigger: 'schedule',
    status: 'completed',
    statusReason: null,
    clock: 'ingest',
    windows: [{ from: hour(0), to: hour(1), rowsTotal: 1, truncated: false }],
    attempt: 1,
    lagMs: 0,
    query: input.detectionQuery,
    rowsTotal: 1,
    truncated: false,
    triggered: true,
    hitCount: 1,
    revision: 1,
    promptVersion: 1,
    score: 100,
    scoreBasis: 'analyst',
    modelAlias: 'default',
    model: 'analyst',
    tokens: 0,
    costUsd: 0,
    warnings: [],
    failure: null,
  });
  expect(runs[0].entities).toMatchObject([{ entity: 'root', triggered: true }]);
  expect((await org.call('GET', `/api/runs/${runs[0].id}`)).body).toEqual(runs[0]);

  const { hits } = (await org.call('GET', `/api/hits?detection=${id}&severity=medium&status=open&entity=root`)).body;
  expect(hits).toMatchObject([
    { detectionId: id, entity: 'root', occurrenceCount: 1, windowFrom: hour(0), status: 'open' },
  ]);
  const hit = (await org.call('GET', `/api/hits/${hits[0].id}`)).body;
  expect(hit.runs).toEqual([runs[0].id]);
  expect(hit.rows).toMatchObject([
    { rowId: 'signin-2026-03-02-e1', fields: { userName: 'root', action: 'ConsoleLogin' } },
  ]);
  const { observations } = (await org.call('GET', `/api/hits/${hit.id}/evidence`)).body;
  const sources = [{ id: 'rows', rows: hit.rows }, ...observations];
  for (const { observation, rowId, field, value } of hit.evidence) {
    const { rows } = sources.find(({ id }) => id === observation);
    expect(rows.find((row: { rowId: string }) => row.rowId === rowId).fields[field]).toContain(value);
  }
  const figures = { runs30d: 1, hits30d: 1, avgEvalScore30d: 100, lastDetectionRunAt: hour(1) };
  expect((await org.call('GET', `/api/detections/${id}`)).body).toMatchObject(figures);
});

test('the built-in analyst asks its questions, and cites what it finds', async () => {
  const { org, id } = await startOrg({
    detectionQuery: "SELECT userName, _id, _time FROM signins WHERE userName = 'root'",
  });
  await org.call('PUT', '/api/agent-settings', { hiddenFields: ['secretPlan'] });
  const attempt = (n: number) => ({ ...signin(`a${n}`, `2026-03-02T00:1${n}:00Z`, `user${n}`), secretPlan: 'x' });
  await send(org, '2026-03-02T00:40:00Z', [
    ...[1, 2, 3].map(attempt),
    { ...signin('e1', '2026-03-02T00:39:00Z'), secretPlan: 'x' },
    { ...signin('e2', '2026-03-02T00:39:30Z'), action: 'DeleteTrail' },
  ]);
  await runAt(hour(1));
  const { hits } = (await org.call('GET', `/api/hits?detection=${id}`)).body;
  const hit = (await org.call('GET', `/api/hits/${hits[0].id}`)).body;
  const found = hit.claims.filter(({ cites }: { cites: { observation?: string }[] }) =>
    cites.some(({ observation }) => observation?.startsWith('o')),
  );
  expect(found.map(({ text, status }: { text: string; status: string }) => [status, text])).toEqual([
    ['cited', 'The whole event also has action “ConsoleLogin”, sourceIP “203.0.113.7”.'],
    ['cited', 'In the week before, sourceIP “203.0.113.7” also occurs with these users: “user1”, “user2” and “user3”.'],
    ['cited', 'The first events of user “root” in the week before are of 2026-03-02 00:00 UTC or soon after.'],
    ['cited', 'No item of the threat feed contains “203.0.113.7”.'],
  ]);
  expect(hit.summary).toContain('“user1”, “user2” and “user3”');
  const { observations } = (await org.call('GET', `/api/hits/${hit.id}/evidence`)).body;
  expect(observations.map(({ tool }: { tool: string }) => tool).join(' ')).toBe(
    'detection search_logs count_by count_by lookup_indicator',
  );
  const { steps } = (await org.call('GET', `/api/runs/${hit.runs[0]}/steps`)).body;
  expect(steps.map(({ kind, tool }: { kind: string; tool?: { name: string } }) => tool?.name ?? kind).join(' ')).toBe(
    'plan search_logs count_by count_by count_by entity_profile related_hits lookup_indicator plan',
  );
  expect(JSON.stringify([hit, observations, steps])).not.toContain('secretPlan');
  const { runs } = (await org.call('GET', `/api/detections/${id}/runs`)).body;
  expect(runs[0]).toMatchObject({ score: 100, scoreBasis: 'analyst', tokens: 0, costUsd: 0, warnings: [] });
});

test('examines each event in exactly one window, whenever it arrives, and asks nothing with planningMode never', async () => {
  const { org, id } = await startOrg({ planningMode: 'never' });
  await send(org, '2026-03-02T00:59:59.999Z', [signin('a', '2026-03-02T00:10:00Z')]);
  await runAt(hour(1));
  const { hits } = (await org.call('GET', `/api/hits?detection=${id}`)).body;
  expect((await org.call('GET', `/api/hits/${hits[0].id}/evidence`)).body).toMatchObject({
    observations: [{ id: 'rows' }],
  });
  // Its event time is in a window that was examined long ago, so it is found in the window of its arrival.
  await send(org, hour(1), [signin('late', '2026-02-28T00:00:00Z')]);
  await runAt(hour(2));
  await runAt(hour(3));
  const { runs } = (await org.call('GET', `/api/detections/${id}/runs`)).body;
  expect(runs.map((run: { rowsTotal: number }) => run.rowsTotal)).toEqual([0, 1, 1]);
});

test('runs a manual run over the last complete window or a requested one, without changing coverage', async () => {
  const { org, id } = await startOrg();
  await send(org, '2026-03-02T00:40:00Z', [signin('e1', '2026-03-02T00:05:00Z')]);
  time.now = new Date('2026-03-02T01:30:00Z');
  const first = (await org.call('POST', `/api/detections/${id}/run`, {})).body.runId;
  const again = await org.call('POST', `/api/detections/${id}/run`, {});
  expect(again).toMatchObject({ status: 409, body: { code: 'in_progress' } });
  await executeDueRuns(deps, time.now);
  const record = (await org.call('GET', `/api/runs/${first}`)).body;
  const window = { windowFrom: hour(0), windowTo: hour(1), clock: 'ingest', rowsTotal: 1 };
  expect(record).toMatchObject({ ...window, trigger: 'manual', status: 'completed', slotAt: null, triggered: true });

  const body = { from: '2026-03-02T00:00:00Z', to: '2026-03-02T00:04:00Z', customInstructions: 'Look at the address.' };
  const second = (await org.call('POST', `/api/detections/${id}/run`, body)).body.runId;
  await executeDueRuns(deps, time.now);
  expect((await org.call('GET', `/api/runs/${second}`)).body).toMatchObject({
    clock: 'event',
    rowsTotal: 0,
    windowTo: '2026-03-02T00:04:00.000Z',
    warnings: [{ code: 'instructions_unused' }],
  });
  // The scheduled run of the same window found the hit first, so the manual run joins it.
  const { hits } = (await org.call('GET', '/api/hits')).body;
  expect(hits).toHaveLength(1);
  const hit = (await org.call('GET', `/api/hits/${hits[0].id}`)).body;
  expect(hit.occurrenceCount).toBe(1);
  expect(hit.runs).toHaveLength(2);
  expect((await org.call('GET', `/api/detections/${id}`)).body).toMatchObject({ runs30d: 3, hits30d: 2 });
});

test('runs a manual run over the last complete hour without a schedule', async () => {
  const { org, id } = await startOrg({ detectionCadence: null }, '2026-03-02T07:15:00Z');
  const { runId } = (await org.call('POST', `/api/detections/${id}/run`)).body;
  expect((await org.call('GET', `/api/runs/${runId}`)).body).toMatchObject({
    status: 'queued',
    windowFrom: hour(6),
    windowTo: hour(7),
    startedAt: null,
  });
  const cancelled = await org.call('POST', `/api/runs/${runId}/cancel`);
  expect(cancelled).toMatchObject({ status: 200, body: { status: 'cancelled', statusReason: 'requested' } });
  expect((await org.call('POST', `/api/runs/${runId}/cancel`)).body).toEqual(cancelled.body);
  expect((await org.call('GET', `/api/detections/${id}`)).body).toMatchObject({ runs30d: 0, lastDetectionRunAt: null });
});

test('returns 400, 403, 404 or 409 for what cannot be requested, run, cancelled or found', async () => {
  const { org, id } = await startOrg();
  for (const [body, pointer] of [
    [{ from: hour(0) }, '/to'],
    [{ to: hour(0) }, '/from'],
    [{ from: hour(2), to: hour(1) }, '/to'],
    [{ from: 'yesterday', to: hour(1) }, '/from'],
    [{ customInstructions: 7 }, '/customInstructions'],
    [{ until: hour(1) }, '/until'],
  ] as const)
    expect(await org.call('POST', `/api/detections/${id}/run`, body)).toMatchObject({
      status: 400,
      body: { code: 'validation_failed', errors: [{ pointer }] },
    });
  const reader = await newKey(org, ['detections:read']);
  expect(await reader.call('POST', `/api/detections/${id}/run`)).toMatchObject({ status: 403 });
  expect(await reader.call('GET', '/api/hits')).toMatchObject({ status: 403 });
  expect(await reader.call('GET', `/api/detections/${id}/runs`)).toMatchObject({ status: 200 });
  const { id: suggestion } = (await org.call('POST', '/api/detections/suggestions', input)).body;
  expect((await org.call('POST', `/api/detections/${suggestion}/run`)).status).toBe(409);
  await runAt(hour(1));
  const [run] = (await org.call('GET', `/api/detections/${id}/runs`)).body.runs;
  expect(await org.call('POST', `/api/runs/${run.id}/cancel`)).toMatchObject({
    status: 409,
    body: { code: 'conflict' },
  });
  await org.call('DELETE', `/api/detections/${id}`);
  expect((await org.call('POST', `/api/detections/${id}/run`)).status).toBe(409);
  expect((await org.call('GET', `/api/detections/${id}/runs`)).body.runs).toHaveLength(1);
  for (const unknown of [uuidv7(), 'ffffffff-ffff-ffff-ffff-ffffffffffff', '00000000-0000-0000-0000-000000000000']) {
    expect((await org.call('GET', `/api/runs/${unknown}`)).status).toBe(404);
    expect((await org.call('POST', `/api/runs/${unknown}/cancel`)).status).toBe(404);
    expect((await org.call('GET', `/api/hits/${unknown}`)).status).toBe(404);
    for (const list of ['runs', 'gaps'])
      expect((await org.call('GET', `/api/detections/${unknown}/${list}`)).status).toBe(404);
    expect((await org.call('POST', `/api/detections/${unknown}/run`)).status).toBe(404);
  }
  expect(await org.call('GET', '/api/runs/nonsense')).toMatchObject({
    status: 400,
    body: { errors: [{ pointer: 'path/id' }] },
  });
});

test('pages runs, gaps and hits, newest first', async () => {
  const { org, id } = await startOrg({ suppressionMinutes: 0, lookbackMinutes: 120 });
  for (const n of [1, 2, 3]) {
    await send(org, `2026-03-02T0${n - 1}:40:00Z`, [signin(`e${n}`, hour(n))]);
    await runAt(hour(n));
  }
  for (const [path, list, time, hours] of [
    [`/api/detections/${id}/runs`, 'runs', 'slotAt', [3, 2, 1]],
    ['/api/hits', 'hits', 'windowFrom', [2, 1, 0]],
  ] as const) {
    const page = (await org.call('GET', `${path}?limit=2`)).body;
    const rest = (await org.call('GET', `${path}?limit=2&cursor=${page.nextCursor}`)).body;
    expect(rest.nextCursor).toBeNull();
    expect([...page[list], ...rest[list]].map((one) => one[time])).toEqual(hours.map(hour));
  }
  expect((await org.call('GET', `/api/hits?from=${hour(3)}`)).body.hits).toHaveLength(1);
  expect((await org.call('GET', `/api/hits?to=${hour(2)}`)).body.hits).toHaveLength(1);
  expect((await org.call('GET', '/api/hits?to=0000-01-01T00:00:00Z')).body.errors[0].pointer).toBe('query/to');
  expect((await org.call('GET', '/api/hits?severity=odd')).status).toBe(400);

  await runAt(hour(12));
  await org.call('PUT', `/api/detections/${id}`, { enabled: false });
  time.now = new Date('2026-03-02T15:30:00Z');
  await org.call('PUT', `/api/detections/${id}`, { enabled: true });
  expect((await org.call('GET', `/api/detections/${id}/gaps`)).body).toMatchObject({
    gaps: [
      { from: hour(12), to: hour(15), reason: 'disabled', state: 'open', detail: null },
      { from: hour(3), to: hour(9), reason: 'late', state: 'open' },
    ],
    nextCursor: null,
  });
});

test('blames the author when the engine rejects the query, and warns of a dataset that never received an event', async () => {
  const { org, id } = await startOrg({
    detectionQuery: "SELECT * FROM read_text('/etc/passwd')",
  });
  const empty = (await org.call('POST', '/api/detections', { ...input, detectionQuery: 'SELECT * FROM nowhere' })).body;
  await runAt(hour(1));
  const failure = { kind: 'query_not_allowed', blame: 'author', retryable: false };
  for (const [one, expected] of [
    [id, { status: 'failed', failure, score: null }],
    [empty.id, { status: 'completed', rowsTotal: 0, score: null, warnings: [{ code: 'no_data' }] }],
  ])
    expect((await org.call('GET', `/api/detections/${one}/runs`)).body.runs[0]).toMatchObject(expected);
});
