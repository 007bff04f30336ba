import { beforeAll, expect, test } from 'vitest';
import { callOk, postDetection } from '../../../test/support/detection/detection-factory.ts';
import { startModelStandIn } from '../../../test/support/models/model-stand-in.ts';
import { createScriptedModels } from '../../../test/support/models/scripted-models.ts';
import { startApp, type TestApp, type TestOrg } from '../../../test/support/harness.ts';
import { sendEvents } from '../../../test/support/org-requests.ts';
import { selectIn } from '../../../test/support/select-rows.ts';
import { claimRunAcrossOrgs } from './hunt-runs.store.ts';
import { acrossOrgs } from '../../platform/db/db.ts';
import { runNextHunt } from './run-hunts.ts';

let now = new Date('2026-03-02T12:00:00Z');
const dayMs = 86_400_000;
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ clock: () => now });
});

async function work(): Promise<void> {
  while (await runNextHunt(app.deps, new AbortController().signal));
}

/** Runs a hunt to its end and returns the run. */
async function run(org: TestOrg, id: string) {
  const { id: runId } = await callOk(org, 'POST', `/api/hunts/${id}/run`);
  await work();
  return callOk(org, 'GET', `/api/hunt-runs/${runId}`);
}

const findingsOf = async (org: TestOrg, runId: string, change?: string) =>
  (await callOk(org, 'GET', `/api/hunt-runs/${runId}/findings${change ? `?change=${change}` : ''}`)).findings;

const log = (org: TestOrg, events: object[]) => sendEvents(org, 'auth', events, { isHistory: false });
const event = (id: string, at: string, more: object) => ({ _id: id, timestamp: `2026-03-0${at}`, ...more });
const failures = "SELECT _id, _time, user, src_ip FROM auth WHERE outcome = 'failure'";
const isFailure = { outcome: 'failure', src_ip: '198.51.100.7' };

test('compares a query with the last run, and its rows join an incident with its report and bundle', async () => {
  const [org, other] = [await app.newOrg(), await app.newOrg()];
  await log(org, [
    event('a', '1T10:00:00Z', { user: 'ada', ...isFailure }),
    event('b', '2T10:00:00Z', { user: 'bob', ...isFailure }),
    event('c', '2T11:00:00Z', { user: 'cy', outcome: 'success' }),
  ]);
  const input = { name: 'Failures', kind: 'sql', question: failures, span: { days: 2 } };
  const hunt = await callOk(org, 'POST', '/api/hunts', input);
  const first = await run(org, hunt.id);
  expect(first).toMatchObject({
    state: 'completed',
    findings: 2,
    newFindings: 2,
    goneFindings: 0,
    previousRunId: null,
  });
  expect(first).toMatchObject({ isComplete: true, queriesSent: 1, queries: [{ query: failures, findings: 2 }] });
  // A row that is deleted is gone. One that left the span is not.
  await log(org, [event('d', '2T11:30:00Z', { user: 'dee', ...isFailure })]);
  now = new Date('2026-03-03T11:00:00Z');
  await callOk(org, 'PUT', `/api/hunts/${hunt.id}`, { cadence: 'daily' });
  await work();
  const { lastRun, nextRunAt } = await callOk(org, 'GET', `/api/hunts/${hunt.id}`);
  expect(nextRunAt).toBe('2026-03-04T11:00:00.000Z');
  expect(lastRun).toMatchObject({
    isScheduled: true,
    findings: 2,
    newFindings: 1,
    goneFindings: 0,
    previousRunId: first.id,
  });
  const [found] = await findingsOf(org, lastRun.id, 'new');
  expect(found).toMatchObject({
    change: 'new',
    dataset: 'auth',
    rowId: expect.any(String),
    entity: 'dee',
    query: failures,
    incidentIds: [],
  });
  expect(found.fields).toMatchObject({ user: 'dee', src_ip: '198.51.100.7' });
  expect((await findingsOf(org, lastRun.id, 'same')).map((one: { entity: string }) => one.entity)).toEqual(['bob']);

  const path = `/api/hunt-runs/${lastRun.id}/incident`;
  const findingIds = (await findingsOf(org, lastRun.id)).map((one: { id: string }) => one.id);
  const incident = await callOk(org, 'POST', path, { findingIds: [findingIds[0]] });
  expect(incident).toMatchObject({
    title: 'dee: 1 row of the hunt Failures',
    severity: 'medium',
    hits: 0,
    revision: 1,
  });
  expect(incident).toMatchObject({
    firstAt: '2026-03-02T11:30:00.000Z',
    dueAt: expect.stringMatching(/^2026-03-0[4-9]/),
  });
  const join = (more: object) => org.call('POST', path, { findingIds, incidentId: incident.id, ...more });
  expect((await join({ expectedRevision: 0 })).status).toBe(409);
  expect((await join({ expectedRevision: 1 })).body).toMatchObject({ id: incident.id, revision: 2 });
  expect((await join({})).body).toMatchObject({ revision: 2 });
  expect((await findingsOf(org, lastRun.id))[0].incidentIds).toEqual([incident.id]);
  expect((await org.call('POST', path, { findingIds: [incident.id] })).body.errors[0].pointer).toBe('/findingIds/0');
  for (const url of [path, `/api/hunts/${hunt.id}/run`])
    expect((await other.call('POST', url, { findingIds })).status).toBe(404);

  // What joined stays when the hunt is deleted.
  await callOk(org, 'DELETE', `/api/hunts/${hunt.id}`);
  const { entries } = await callOk(org, 'GET', `/api/incidents/${incident.id}/timeline`);
  const rows = entries.filter(({ kind }: { kind: string }) => kind === 'finding');
  expect(rows.map((one: { text: string }) => one.text)).toEqual(['dee', 'bob']);
  expect(rows[0]).toMatchObject({
    text: 'dee',
    finding: { hunt: 'Failures', query: failures, dataset: 'auth', entity: 'dee' },
  });
  const report = await org.call('GET', `/api/incidents/${incident.id}/report?format=markdown`);
  expect(report.body).toMatch(/Findings of hunts[^]*bob[^]*auth[^]*198\.51\.100\.7/);
  await callOk(org, 'POST', '/api/privacy/erase', { field: 'user', value: 'dee' });
  expect(JSON.stringify(await callOk(org, 'GET', `/api/incidents/${incident.id}/timeline`))).not.toContain('dee');
});

test('finds gone rows and groups with other counts, indicators in any notation, and rows of detections of a technique', async () => {
  const org = await app.newOrg();
  now = new Date('2026-03-02T12:00:00Z');
  const events = ['ada', 'bob'].map((user, n) => event(`e${n}`, `2T1${n}:00:00Z`, { user, ...isFailure }));
  await log(org, [...events, event('x', '2T09:00:00Z', { user: 'eve', src_ip: '203.0.113.9', outcome: 'success' })]);
  const span = { from: '2026-03-02T00:00:00Z', to: '2026-03-03T00:00:00Z' };
  const create = (kind: string, question: string) =>
    callOk(org, 'POST', '/api/hunts', { name: kind, kind, question, span });

  // The list decides which events count, so that rows can disappear.
  await callOk(org, 'PUT', '/api/value-lists/watched', { values: ['ada', 'bob'] });
  const grouped =
    'SELECT user, count(*) AS events FROM auth WHERE user IN (SELECT value FROM lists.watched) GROUP BY user';
  const groups = await create('sql', grouped);
  await run(org, groups.id);
  await log(org, [event('e9', '2T11:59:00Z', { user: 'ada', ...isFailure })]);
  await callOk(org, 'PUT', '/api/value-lists/watched', { values: ['ada'] });
  const second = await run(org, groups.id);
  expect(second).toMatchObject({ findings: 1, newFindings: 0, goneFindings: 1 });
  expect(await findingsOf(org, second.id, 'same')).toMatchObject([{ entity: 'ada', fields: { events: '2' } }]);
  expect(await findingsOf(org, second.id, 'gone')).toMatchObject([{ change: 'gone', entity: 'bob' }]);

  const seen = await run(org, (await create('indicators', '203[.]0.113.9\n\n198.51.100.0/24\n')).id);
  expect(seen).toMatchObject({ state: 'completed', findings: 4 });
  const byRow = (await findingsOf(org, seen.id)).map((one: { entity: string; detail: string }) => [
    one.entity,
    one.detail,
  ]);
  expect(byRow).toContainEqual(['eve', expect.stringContaining('203.0.113.9')]);
  expect(byRow).toContainEqual(['bob', '198.51.100.0/24']);

  const tagged = { tags: ['attack.t1110.003'], entityField: 'user', enabled: false };
  await postDetection(org, { ...tagged, name: 'Sprays', detectionCategory: 'custom', detectionQuery: failures });
  await postDetection(org, {
    ...tagged,
    name: 'Broken',
    detectionCategory: 'custom',
    detectionQuery: 'SELECT nope(1) FROM auth',
  });
  await postDetection(org, {
    ...tagged,
    name: 'Learns',
    detectionCategory: 'first_occurrence',
    detectionQuery: failures,
  });
  const sprays = await run(org, (await create('technique', 'T1110')).id);
  expect(sprays).toMatchObject({ state: 'completed', findings: 3, isComplete: false });
  expect(sprays.warnings.join()).toMatch(/compare with what is normal: Learns[^]*Broken: /);
  expect((await findingsOf(org, sprays.id))[0]).toMatchObject({ detail: 'Sprays', query: failures });
});

test('refuses questions that cannot be asked, and runs one hunt of an organization at a time', async () => {
  const org = await app.newOrg();
  await log(org, [event('a', '1T10:00:00Z', { user: 'ada' })]);
  const hunt = { name: 'H', kind: 'sql', question: 'SELECT * FROM auth', span: { days: 1 } };
  const refused = async (more: object) =>
    (await org.call('POST', '/api/hunts', { ...hunt, ...more })).body.errors?.[0]?.pointer;
  expect(await refused({ question: 'SELECT FROM' })).toBe('/question');
  expect(await refused({ kind: 'indicators', question: '203.0.113.9\nhello world' })).toBe('/question');
  expect(await refused({ kind: 'technique', question: 'T9999' })).toBe('/question');
  expect(await refused({ kind: 'technique', question: 'T1078', words: 'x' })).toBe('/words');
  expect(await refused({ span: { from: '2026-03-02T00:00:00Z', to: '2026-03-01T00:00:00Z' } })).toBe('/span/to');
  expect(await refused({ span: { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' }, cadence: 'daily' })).toBe(
    '/cadence',
  );
  const { id } = await callOk(org, 'POST', '/api/hunts', hunt);
  expect(await refused({})).toBe('/name');
  const second = await callOk(org, 'POST', '/api/hunts', { ...hunt, name: 'I' });
  const queued = await callOk(org, 'POST', `/api/hunts/${id}/run`);
  expect((await callOk(org, 'POST', `/api/hunts/${id}/run`)).id).toBe(queued.id);
  now = new Date(now.getTime() + 1000);
  await callOk(org, 'POST', `/api/hunts/${second.id}/run`);

  const claim = () =>
    acrossOrgs(app.deps.db, (tx) => claimRunAcrossOrgs(tx, now, new Date(now.getTime() + dayMs / 24)));
  expect(await claim()).toMatchObject({ id: queued.id, attempts: 1 });
  expect(await claim()).toBeUndefined();
  // A process that stopped left it. After three attempts it is given up.
  await selectIn(app.deps.db, org.id)`update hunt_runs set attempts = 3 where id = ${queued.id}`;
  now = new Date(now.getTime() + dayMs);
  await work();
  expect(await callOk(org, 'GET', `/api/hunt-runs/${queued.id}`)).toMatchObject({
    state: 'failed',
    failure: expect.stringContaining('stopped 3 times'),
  });
});

test('lets a model write a query from words with tools that only read, and runs it without a model', async () => {
  const org = await app.newOrg();
  now = new Date('2026-03-02T12:00:00Z');
  await log(org, [event('a', '2T10:00:00Z', { user: 'ada', ssn: '078-05-1120', ...isFailure })]);
  now = new Date('2026-03-02T12:00:01Z');
  await callOk(org, 'PUT', '/api/agent-settings', { hiddenFields: ['ssn'] });
  const asks = { words: 'Who failed to sign in?', span: { days: 7 } };
  const propose = () => org.call('POST', '/api/hunts/propose', asks);
  expect(await propose()).toMatchObject({ status: 422, body: { errors: [{ pointer: '/words', code: 'no_model' }] } });

  const rowMeaning = 'A failed sign-in of the user.';
  const submit = (query: string) => ({ calls: [{ name: 'submit_query', input: { query, rowMeaning } }] });
  const replies = [
    {
      calls: [
        { name: 'describe_dataset', input: { dataset: 'auth' } },
        { name: 'http_get', input: { values: {} } },
      ],
    },
    submit('SELECT ssn FROM auth'),
    submit('SELECT usr FROM auth'),
    submit(failures),
  ];
  const model = await startModelStandIn('anthropic', (_asked, nth) => replies[nth - 1] ?? submit('DROP TABLE auth'));
  const noModels = { ...app.deps.models };
  Object.assign(app.deps.models!, createScriptedModels({ default: model.url }));
  const { body: proposed } = await propose();
  expect(proposed).toMatchObject({ question: failures, rowMeaning, rows: 1, tokens: 480 });
  expect(proposed.repairs).toEqual([expect.stringContaining('ssn'), expect.stringContaining('usr')]);
  const [first, looked, , last] = model.asked;
  expect(first!.raw).toContain('Who failed to sign in?');
  expect(looked!.raw).toContain('198.51.100.7');
  expect(looked!.raw).toContain('This tool is not allowed.');
  expect(last!.raw).not.toContain('078-05-1120');
  const hopeless = await propose();
  expect(hopeless).toMatchObject({ status: 422, body: { errors: [{ pointer: '/words', code: 'draft_failed' }] } });
  expect(model.asked).toHaveLength(8);

  Object.assign(app.deps.models!, noModels);
  const { words } = asks;
  const input = { name: 'Words', kind: 'sql', words, rowMeaning, question: failures, span: { days: 7 } };
  const hunt = await callOk(org, 'POST', '/api/hunts', input);
  expect(await run(org, hunt.id)).toMatchObject({ kind: 'sql', question: failures, findings: 1 });
  const edited = await callOk(org, 'PUT', `/api/hunts/${hunt.id}`, { rowMeaning: null });
  expect(edited).toMatchObject({ words, rowMeaning: null, question: failures });
  const other = { kind: 'indicators', question: '203.0.113.9' };
  expect(await callOk(org, 'PUT', `/api/hunts/${hunt.id}`, other)).toMatchObject({ words: null });
});
