import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { ModelError } from '../../../src/platform/models/model-error.ts';
import { runDueAgents } from '../../../src/agents/runs/run-due-agents.ts';
import { pauseConnection } from '../../../src/detection/connections/connection-pauses.ts';
import { inOrg } from '../../../src/platform/db/db.ts';
import { listReaders } from '../../../src/detection/detections/detection-views.store.ts';
import { checkLogHealth } from '../../../src/detection/log-query/datasets/check-log-health.ts';
import { checkQuotas } from '../../../src/app/usage/usage-loops.ts';
import type { Deps } from '../../../src/app/deps.ts';
import { eventTypes } from '../../../src/platform/notifications/event-types.ts';
import { applyPack } from '../../../src/detection/packs/apply-pack.ts';
import { changeQuotas } from '../../../src/platform/orgs/limits/quotas.ts';
import { operatorOf } from '../../../src/platform/http/caller.ts';
import { createSignInLink } from '../../../src/platform/orgs/sessions/sessions.ts';
import { uuidv7 } from '../../../src/platform/lib/ids.ts';
import { pauseModel } from '../../../src/platform/models/model-pauses.ts';
import { insertReview, writeGrade, insertShadowVerdicts } from '../../../src/detection/runs/reviews/reviews.store.ts';
import { executeDueRuns } from '../../../src/detection/runs/workers/run-loops.ts';
import { insertStep } from '../../../src/detection/runs/run-model/run-results.store.ts';
import { countUsage, storeReservation } from '../../../src/platform/models/model-usage.store.ts';
import { enqueueDueRunsAcrossOrgs } from '../../../src/detection/scheduling/enqueue-runs.ts';
import type { TestOrg } from '../harness.ts';
import { callsOf, readOk } from './api-calls.ts';
import { fillFeed } from './fill-feed.ts';
import { fillProof, openReviewCase } from './fill-decisions.ts';
import { fillLogFolder } from './fill-log-folder.ts';

export type FilledOrganization = {
  /** Ids of all records of the organization. */
  ids: string[];
  /** The same, with at most two runs, a gap and a hit. */
  samples: string[];
  /** A text that the names of its detections, its dataset and its items contain. */
  mark: string;
};

const hourMs = 3_600_000;

/**
 * Creates rows in every tenant table through the API and the scheduler: detections, suggestions, a run with a hit, a gap, a queued run,
 * logs, and a feed source with items. The settings must allow requests to 127.0.0.1 (TOCSIN_FETCH_ALLOW).
 */
export async function fillOrganization(deps: Deps, org: TestOrg): Promise<FilledOrganization> {
  const mark = `mark${randomBytes(6).toString('hex')}`;
  const first = [
    ...(await fillKeys(org)),
    ...(await fillSessions(deps, org)),
    ...(await fillDestinations(deps, org, mark)),
    ...(await fillViews(org, mark)),
    ...(await fillDetections(org, mark)),
  ];
  const ofRuns = await fillRuns(deps, org, mark);
  const samples = [
    ...first,
    ...ofRuns.samples,
    ...(await fillProof(deps, org, mark)),
    ...(await fillFeed(deps, org, mark)),
    ...(await fillAgentLoop(deps, org, mark)),
    ...(await fillAgentRuns(deps, org)),
    ...(await fillConnections(deps, org, mark)),
  ];
  await fillLogFolder(deps, org);
  await fillLimits(deps, org);
  const rules = 'title: Walked rule\nlogsource: {product: windows}\ndetection: {s: {f: 1}, condition: s}';
  await readOk(org.call('POST', '/api/detections/import?format=sigma', { rules }));
  const withoutRepeats = [...new Set(samples)];
  return { ids: [...new Set([...withoutRepeats, ...ofRuns.ids])], samples: withoutRepeats, mark };
}

/** Sets a quota that is used up, and raises it again, so that the walk may go on. Chooses a retention, and counts what was used. */
async function fillLimits(deps: Deps, org: TestOrg): Promise<void> {
  const set = (feedSources: number) =>
    changeQuotas(deps, { id: org.id }, { changes: { feedSources }, operator: 'the operator of the walk' });
  await set(0);
  await checkQuotas(deps);
  await set(100_000);
  const caller = { orgId: org.id, keyId: null, scopes: new Set<string>(), expiresAt: null };
  const inPack = { name: 'of a pack', detectionCategory: 'custom', systemPrompt: 'p', detectionQuery: 'SELECT 1' };
  await applyPack(deps, caller, { pack: 'walked', version: '1', detections: { 'one.yaml': inPack } });
  await readOk(org.call('PUT', '/api/privacy/retention', { rowsDays: 20 }));
  await readOk(org.call('PUT', '/api/agent-settings', { hiddenFields: ['of_a_secret'] }));
  deps.usage.add(org.id, { requests: 1 });
  await deps.usage.flush();
}

async function fillKeys(org: TestOrg): Promise<string[]> {
  const made = await readOk(org.call('POST', '/api/keys', { name: 'filled' }, { 'idempotency-key': 'fill-1' }));
  return [made.id];
}

async function fillSessions({ db }: Deps, org: TestOrg): Promise<string[]> {
  await readOk(org.call('POST', '/api/session', { key: org.key }));
  await createSignInLink(db, operatorOf(org.id), ['hits:read']);
  const person = await readOk(org.call('POST', '/api/persons', { name: 'ada@example.com', role: 'analyst' }));
  const { sessions } = await readOk(org.call('GET', '/api/sessions'));
  return [person.id, ...sessions.map(({ id }: { id: string }) => id)];
}

/** Creates a destination before anything else, so that it receives every event. Nothing is sent, because only explicit tests deliver. */
async function fillDestinations({ db }: Deps, org: TestOrg, mark: string): Promise<string[]> {
  const { post } = callsOf(org);
  const body = { kind: 'webhook', name: mark, url: `https://hooks.example.com/${mark}`, eventTypes };
  const { id } = await post('/api/destinations', body);
  await inOrg(db, org.id, (tx) =>
    sql`insert into tickets (organization_id, destination_id, resource_id, reference, state, revision, updated_at)
      values (${org.id}, ${id}, ${mark}, ${mark}, 'open', 1, clock_timestamp())`.execute(tx),
  );
  return [id];
}

async function fillViews(org: TestOrg, mark: string): Promise<string[]> {
  const { id } = await callsOf(org).post('/api/views', { name: mark, page: 'hits', query: 'status=open' });
  return [id];
}

/** The look-back keeps few windows for the run after many hours. */
const definition = { systemPrompt: 'Judge it.', detectionCadence: 'hourly', entityField: 'user', lookbackMinutes: 120 };
const queryOf = (mark: string): string => `SELECT _id, _time, "user", action FROM ${mark}`;

async function fillDetections(org: TestOrg, mark: string): Promise<string[]> {
  const { post, remove } = callsOf(org);
  const base = { ...definition, name: mark, detectionQuery: queryOf(mark) };
  const bodies = [
    { ...base, detectionCategory: 'custom' },
    { ...base, detectionCategory: 'first_occurrence' },
    {
      ...base,
      detectionCategory: 'baseline_anomaly',
      detectionQuery: `SELECT "user", count(*) AS count FROM ${mark} GROUP BY 1`,
    },
  ];
  const ids: string[] = [];
  for (const body of bodies) ids.push((await post('/api/detections', body)).id);
  const gone = await post('/api/detections', bodies[0]);
  await post('/api/detections/library/install', { ids: ['upload-to-new-domain'], datasets: { proxy: 'walked_proxy' } });
  await remove(`/api/detections/${gone.id}`);
  const suggestion = { ...base, detectionCategory: 'privilege_escalation', rationale: mark };
  const open = await post('/api/detections/suggestions', suggestion);
  const dismissed = await post('/api/detections/suggestions', {
    ...suggestion,
    detectionQuery: `${queryOf(mark)} WHERE true`,
  });
  await post(`/api/detections/${dismissed.id}/dismiss`, { reason: 'noisy' });
  const agent = await post('/api/agents', { name: mark, systemPrompt: 'Look into it.' });
  const trigger = await post(`/api/agents/${agent.id}/triggers`, { source: 'hit.created' });
  return [...ids, gone.id, open.id, dismissed.id, agent.id, trigger.id];
}

/** Runs a built-in agent once. Afterwards it has no schedule, as before. */
async function fillAgentRuns(deps: Deps, org: TestOrg): Promise<string[]> {
  const { get, put } = callsOf(org);
  const { agents } = await get('/api/agents?limit=200');
  const { id } = agents.find(
    (one: { builtInAgentType: string; isBuiltIn: boolean }) =>
      one.isBuiltIn && one.builtInAgentType === 'threat-research',
  );
  await put(`/api/agents/${id}`, { detectionCadence: 'hourly' });
  await runDueAgents(deps, new AbortController().signal);
  await put(`/api/agents/${id}`, { detectionCadence: null });
  const { runs } = await get(`/api/agents/${id}/runs`);
  if (runs.length === 0) throw new Error('the built-in agent did not run');
  return [id, runs[0].id];
}

/** Inserts the rows that a model would create. */
async function fillAgentLoop(deps: Deps, org: TestOrg, mark: string): Promise<string[]> {
  const { get, put } = callsOf(org);
  const { detections } = await get('/api/detections?limit=1');
  const detectionId: string = detections[0].id;
  await put(`/api/detections/${detectionId}/shadow`, { modelAlias: 'analyst' });
  await put(`/api/detections/${detectionId}/tools/http_get`, { url: 'https://intel.example/{entity}' });
  const failure = { kind: mark, blame: 'upstream', retryable: false, message: mark } as const;
  await pauseModel(deps, org.id, 'm', new ModelError(failure, true));
  const now = deps.clock();
  const review = {
    orgId: org.id,
    runId: uuidv7(now),
    detectionId,
    dueAt: now,
    day: '2026-01-01',
    failures: 0,
    kind: 'grade' as const,
  };
  const compared = { before: null, after: null, failure: null, differs: ['triggered'] };
  await inOrg(deps.db, org.id, async (tx) => {
    await countUsage(tx, review, { alias: 'm', calls: 1, tokens: 1, costUsd: 0 }, now);
    await storeReservation(
      tx,
      { ...review, conversation: uuidv7(now), alias: 'm' },
      { tokens: 1, costUsd: 0, forMs: 60_000 },
    );
    const claim = {
      ...review,
      kind: 'schedule',
      attempt: 1,
      retries: 0,
      worker: mark,
      modelAlias: null,
      resumed: false,
    };
    await insertStep(tx, claim, {
      kind: 'call',
      entity: mark,
      at: now.toISOString(),
      ms: 1,
      model: 'm',
      tokens: { input: 1, output: 0 },
      costUsd: 0,
    });
    await insertReview(tx, review, now);
    await insertShadowVerdicts(tx, review, {
      compared: [{ ...compared, candidateId: review.runId, entity: mark }],
      now,
    });
    const acceptance = [{ criterion: mark, gradedBy: 'judge' as const, isMet: true, reason: mark }];
    await writeGrade(tx, review, { score: { score: null, basis: 'judge', criteria: [] }, acceptance });
  });
  return [];
}

/** Creates a paused connection, a window that waits for its second examination, and an MCP server. */
async function fillConnections(deps: Deps, org: TestOrg, mark: string): Promise<string[]> {
  const { get, post } = callsOf(org);
  const { detections } = await get('/api/detections?limit=1');
  const url = `https://${mark}.example.com/`;
  const settings = { url, index: mark };
  const credentials = { user: mark, password: mark };
  const one = await post('/api/connections', { kind: 'opensearch', name: mark, settings, credentials });
  const failure = { kind: mark, blame: 'upstream', retryable: false, message: mark } as const;
  await pauseConnection(deps, { orgId: org.id, connectionId: one.id }, failure, mark);
  const server = await post('/api/mcp-servers', { name: mark.slice(0, 12), url });
  await inOrg(deps.db, org.id, (tx) =>
    sql`insert into rechecks (organization_id, detection_id, window_from, window_to, generation, due_at)
      values (${org.id}, ${detections[0].id}, now(), now() + interval '1 hour', ${mark}, 'infinity')`.execute(tx),
  );
  return [one.id, server.id];
}

async function fillRuns(deps: Deps, org: TestOrg, mark: string): Promise<Pick<FilledOrganization, 'ids' | 'samples'>> {
  const { get, post } = callsOf(org);
  const now = deps.clock();
  const events = ['ada', 'bob', 'eve'].map((user, index) => ({
    _id: `${mark}-${index}`,
    timestamp: new Date(now.getTime() - 60_000).toISOString(),
    user,
    action: `DeleteTrail by ${user}`,
    domain: 'evil-host.top',
  }));
  const { batchId } = await readOk(
    org.call('POST', `/api/logs/${mark}`, events.map((event) => JSON.stringify(event)).join('\n'), {
      'content-type': 'application/x-ndjson',
    }),
  );
  const identified = JSON.stringify({ index: { _index: mark, _id: `${mark}-bulk` } });
  await org.call('POST', '/elasticsearch/_bulk', `${identified}\n${JSON.stringify({ message: mark })}\n`);
  const { detections } = await get('/api/detections');
  const custom = detections.find((one: { detectionCategory: string }) => one.detectionCategory === 'custom');
  const range = { from: new Date(now.getTime() - hourMs).toISOString(), to: now.toISOString() };
  const { runId } = await post(`/api/detections/${custom.id}/run`, range);
  const at = (hours: number): Date => new Date(now.getTime() + hours * hourMs);
  // An hour later the events are in a window. After sixty more hours, older windows exceed the look-back and become a gap.
  await executeDueRuns(deps, at(1));
  while (await checkLogHealth({ ...deps, listReaders }, new Date(0)));
  await executeDueRuns(deps, at(61));
  await enqueueDueRunsAcrossOrgs(deps.db, { now: at(62), spreadMs: 0, limit: 100 });
  const { runs } = await get(`/api/detections/${custom.id}/runs?limit=200`);
  const { gaps } = await get(`/api/detections/${custom.id}/gaps`);
  const { hits } = await get('/api/hits');
  for (const [what, list] of Object.entries({ runs, gaps, hits })) if (list.length === 0) throw new Error(`no ${what}`);
  const group = uuidv7(now);
  await inOrg(deps.db, org.id, async (tx) => {
    const statements = [
      sql`insert into hit_groups (organization_id, id, detection_id, window_from, window_to, hits, created_at, updated_at)
      select organization_id, ${group}, detection_id, window_from, window_to, 1, created_at, updated_at from hits limit 1`,
      sql`update hits set group_id = ${group} where id = ${hits[0].id}`,
      sql`insert into match_positions (organization_id, dataset, reader, matched_to) values (${org.id}, ${mark}, 'detections', now())`,
      sql`insert into continuous_detections (organization_id, detection_id, revision, obstacle) values (${org.id}, ${custom.id}, 0, ${mark})`,
      sql`insert into matched_windows values (${org.id}, ${custom.id}, now(), now() + interval '1 second', now(), 1)`,
      sql`insert into dataset_manifests (organization_id, dataset) select organization_id, name from datasets limit 1`,
    ];
    for (const statement of statements) await statement.execute(tx);
  });
  const caseId = await openReviewCase(deps, org);
  const lists: { id: string }[][] = [runs, gaps, hits];
  const idsOf = (ofEach: number): string[] => [
    batchId,
    runId,
    group,
    caseId,
    ...lists.flatMap((list) => list.slice(0, ofEach).map(({ id }) => id)),
  ];
  return { ids: idsOf(Infinity), samples: idsOf(1) };
}
