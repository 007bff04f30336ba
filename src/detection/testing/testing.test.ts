import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { createScriptedSiem } from '../../../test/support/detection/scripted-runs.ts';
import { acrossOrgs, inOrg, queryRows } from '../../platform/db/db.ts';
import { CreateDetection } from '../detections/record/detection-input.schema.ts';
import { operatorOf } from '../../platform/http/caller.ts';
import { executeDueRuns } from '../runs/workers/run-loops.ts';
import { describeMismatch } from './run-test-set.ts';
import { previewDetection } from './preview.ts';

const going = new AbortController().signal;
const time = { now: new Date('2026-03-02T12:00:00Z') };
const { deps, newOrg } = await startApp({ clock: () => time.now });
const at = (hour: number, minute = 0): string => new Date(Date.UTC(2026, 2, 2, hour, minute)).toISOString();
const login = (user: string, country: string, when: string) => ({ '@timestamp': when, user, country });

const detection = {
  name: 'New country',
  detectionCategory: 'first_occurrence',
  systemPrompt: 'Judge it.',
  detectionQuery: 'SELECT "user", country, _id, _time FROM logins',
  entityField: 'user',
  detectionCadence: 'hourly',
};
const send = (org: TestOrg, events: unknown[]) =>
  callOk(org, 'POST', '/api/logs/logins', events.map((event) => JSON.stringify(event)).join('\n'));

const tables = ['agents', 'runs', 'candidates', 'hits', 'memory', 'memory_windows', 'run_queue'];
const countRows = (orgId: TestOrg['id']) =>
  inOrg(deps.db, orgId, async (tx) => {
    const counts: number[] = [];
    for (const name of tables)
      counts.push((await queryRows<{ n: number }>(tx)`select count(*) as n from ${sql.table(name)}`)[0]!.n);
    return counts;
  });

test('a preview returns rows, candidates and verdicts with memory of the past, and stores nothing', async () => {
  const org = await newOrg();
  await send(org, [
    ...Array.from({ length: 9 }, (_, n) => login('ada', 'NO', at(n))),
    login('ada', 'NO', at(10)),
    login('ada', 'KP', at(10, 30)),
  ]);
  time.now = new Date(at(12, 1));
  const before = await countRows(org.id);
  const preview = await callOk(org, 'POST', '/api/detections/preview', { ...detection, from: at(10), to: at(12) });
  expect(preview).toMatchObject({ rowsTotal: 2, candidatesTotal: 1, hits: 1, complete: true, noData: false });
  expect(preview.windows.map(({ rowsTotal }: { rowsTotal: number }) => rowsTotal)).toEqual([2, 0]);
  expect(preview.candidates[0]).toMatchObject({ entity: 'ada', outcome: 'judged', verdict: { triggered: true } });
  expect(JSON.stringify(preview.candidates[0].facts.newValues)).toContain('KP');
  expect(await countRows(org.id)).toEqual(before);
  const wrong = await org.call('POST', '/api/detections/preview', {
    ...detection,
    detectionQuery: 'SELECT nation FROM logins',
    from: at(10),
    to: at(12),
  });
  expect([wrong.status, wrong.body.warnings[0].code]).toEqual([200, 'unknown_column']);
  const lenient = await org.call('POST', '/api/detections/preview?validate=false', {
    ...detection,
    detectionQuery: 'SELECT "user", contry FROM logins',
    from: at(10),
    to: at(12),
  });
  expect([lenient.status, lenient.body.rowsTotal]).toEqual([200, 2]);
  expect(lenient.body.warnings).toContainEqual({ code: 'unknown_column', detail: expect.stringContaining('country') });
  const long = await org.call('POST', '/api/detections/preview', { ...detection, from: at(0), to: at(400) });
  expect([long.status, long.body.errors[0].pointer]).toEqual([400, '/to']);
});

test('a preview warns about missing columns', async () => {
  const org = await newOrg();
  time.now = new Date(at(0, 30));
  await send(org, [login('ada', 'NO', at(0, 30))]);
  time.now = new Date(at(1));
  const preview = (changes: object) =>
    callOk(org, 'POST', '/api/detections/preview', { ...detection, ...changes, from: at(0), to: at(2) });
  expect(await preview({})).toMatchObject({ rowsTotal: 1, warnings: [] });
  expect((await preview({ entityField: 'usr', detectionCategory: 'sequence_pattern' })).warnings).toMatchObject([
    { code: 'no_entity_field', detail: expect.stringContaining('usr') },
    { code: 'no_steps' },
  ]);
});

test('a preview of wide rows contains as many candidates as its size allows', async () => {
  const org = await newOrg();
  const wide = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`field${n}`, 'x'.repeat(400)]));
  await send(
    org,
    Array.from({ length: 160 }, (_, n) => ({ ...login(`user${n % 8}`, 'NO', at(10, n % 60)), ...wide })),
  );
  time.now = new Date(at(12, 1));
  const input = { ...detection, detectionCategory: 'custom', detectionQuery: 'SELECT * FROM logins' };
  const preview = await callOk(org, 'POST', '/api/detections/preview', { ...input, from: at(10), to: at(11) });
  expect(preview).toMatchObject({ candidatesTotal: 8 });
  expect(preview.candidates.length).toBeGreaterThan(0);
  expect(preview.candidates.length).toBeLessThan(8);
});

test('a preview on a connection with a delay has the windows of scheduled runs', async () => {
  const org = await newOrg();
  const siem = {
    ...createScriptedSiem(() => []),
    delayMs: 5 * 60_000,
    firstEventAt: () => Promise.resolve(new Date(at(8))),
  };
  const siemDeps = { ...deps, connectionFor: () => Promise.resolve(siem) };
  const caller = operatorOf(org.id);
  const input = CreateDetection.parse(detection);
  const { windows } = await previewDetection(siemDeps, caller, { ...input, from: at(9, 55), to: at(11, 55) }, going);
  const spans = (list: { from: Date | string; to: Date | string }[]) =>
    list.map(({ from, to }) => [new Date(from).toISOString(), new Date(to).toISOString()]);
  expect(spans(windows)).toEqual([
    [at(9, 55), at(10, 55)],
    [at(10, 55), at(11, 55)],
  ]);
  expect(spans(siem.requests.slice(0, 3).map(({ window }) => window))).toEqual([
    [at(7, 55), at(8, 55)],
    [at(8, 55), at(9, 55)],
    [at(9, 55), at(10, 55)],
  ]);
});

test('a preview ends when its client disconnects', async () => {
  const org = await newOrg();
  const client = new AbortController();
  const siem = createScriptedSiem(() => (client.abort(), []));
  const siemDeps = { ...deps, connectionFor: () => Promise.resolve(siem) };
  const caller = operatorOf(org.id);
  const input = { ...CreateDetection.parse(detection), detectionCategory: 'custom' as const };
  const range = { from: at(1), to: at(11) };
  const preview = await previewDetection(siemDeps, caller, { ...input, ...range }, client.signal);
  expect(preview).toMatchObject({ complete: false });
  expect(siem.requests).toHaveLength(1);
});

test('a backtest counts hits per day and compares two versions with reviews', async () => {
  const org = await newOrg();
  time.now = new Date(at(0, 30));
  const created = await callOk(org, 'POST', '/api/detections', {
    ...detection,
    detectionCategory: 'custom',
    suppressionMinutes: 0,
  });
  await send(org, [login('ada', 'NO', at(0, 30)), login('bob', 'NO', at(0, 31)), login('eve', 'NO', at(0, 32))]);
  await executeDueRuns(deps, new Date(at(1)));
  time.now = new Date(at(1));
  const { hits } = await callOk(org, 'GET', '/api/hits');
  const review = (entity: string, status: string) => {
    const { id } = hits.find((hit: { entity: string }) => hit.entity === entity);
    return callOk(org, 'POST', `/api/hits/${id}/status`, { status });
  };
  await review('ada', 'true_positive');
  await review('eve', 'true_positive');
  await review('bob', 'false_positive');
  const backtest = (options: object) =>
    org.call('POST', `/api/detections/${created.id}/backtest`, { from: at(0), to: at(2), ...options });
  const { status: singleStatus, body: single } = await backtest({});
  expect(singleStatus).toBe(200);
  expect(single.versions).toMatchObject([{ hits: 3, reviewed: 3, precision: 0.667, recall: 1, costUsd: 0 }]);
  expect(single.versions[0].hitsPerDay).toEqual([{ day: '2026-03-02', hits: 3 }]);
  await callOk(org, 'PUT', `/api/detections/${created.id}`, {
    systemPrompt: 'Judge it twice.',
    detectionQuery: `${detection.detectionQuery} WHERE "user" = 'ada'`,
  });
  const { status: comparedStatus, body: compared } = await backtest({ promptVersion: 1 });
  expect(comparedStatus).toBe(200);
  expect(compared.versions).toMatchObject([
    { promptVersion: 2, hits: 1, precision: 1, recall: 0.5 },
    { promptVersion: 1, hits: 1 },
  ]);
  expect((await backtest({ promptVersion: 9 })).body.errors[0].pointer).toBe('/promptVersion');
  expect((await backtest({ modelAlias: 'nobody' })).body.errors[0].pointer).toBe('/modelAlias');
});

const cases = {
  tests: [
    {
      name: 'a new country',
      history: Array.from({ length: 9 }, (_, n) => login('ada', 'NO', at(n))),
      events: [login('ada', 'KP', at(10)), login('ada', 'NO', at(10, 1))],
      expect: ['ada'],
    },
    {
      name: 'the same country',
      history: { logins: [login('ada', 'NO', at(1))] },
      events: [login('ada', 'NO', at(10))],
      expect: [],
    },
  ],
};

test('test cases run query, analysis and verdict on their own events, and an update can require them to pass', async () => {
  const org = await newOrg();
  const { id } = await callOk(org, 'POST', '/api/detections', detection);
  const url = `/api/detections/${id}`;
  const refused = await org.call('PUT', `${url}?require=tests`, { name: 'Renamed' });
  expect([refused.status, refused.body.errors[0].code]).toEqual([422, 'no_tests']);
  await callOk(org, 'PUT', `${url}/tests`, cases);
  expect((await callOk(org, 'GET', `${url}/tests`)).tests).toEqual(cases.tests);
  const run = await callOk(org, 'POST', `${url}/tests/run`);
  expect(run).toMatchObject({ passed: true, queryTested: true });
  expect(run.results.map(({ found }: { found: string[] }) => found)).toEqual([['ada'], []]);
  expect(await countRows(org.id)).toEqual([3, 0, 0, 0, 0, 0, 0]);
  const broken = { detectionQuery: `${detection.detectionQuery} WHERE country = 'SE'` };
  const failed = await org.call('PUT', `${url}?require=tests`, broken);
  expect(failed.body.errors).toEqual([
    { pointer: '', code: 'test_failed', detail: 'Test "a new country": missing ada' },
  ]);
  expect((await callOk(org, 'GET', url)).detectionQuery).toBe(detection.detectionQuery);
  await callOk(org, 'PUT', `${url}?require=tests`, { name: 'Renamed' });
  await callOk(org, 'PUT', url, { detectionQuery: 'SELECT nation FROM logins' });
  const wrong = await callOk(org, 'POST', `${url}/tests/run`);
  expect(wrong.passed).toBe(false);
  expect(wrong.warnings).toContainEqual(expect.objectContaining({ detail: expect.stringContaining('nation') }));
});

test("uses events as the rows of another SIEM's query unless there is a local query", async () => {
  const org = await newOrg();
  const foreign = { ...detection, siemType: 'splunk', detectionQuery: 'index=auth | table user, country' };
  const { id } = await callOk(org, 'POST', '/api/detections', foreign);
  const url = `/api/detections/${id}/tests`;
  await callOk(org, 'PUT', url, { tests: [cases.tests[0]] });
  expect(await callOk(org, 'POST', `${url}/run`)).toMatchObject({ passed: true, queryTested: false });
  const localQuery = `${detection.detectionQuery} WHERE country = 'SE'`;
  await callOk(org, 'PUT', url, { tests: [cases.tests[0]], localQuery });
  expect(await callOk(org, 'POST', `${url}/run`)).toMatchObject({
    passed: false,
    queryTested: true,
    results: [{ missing: ['ada'] }],
  });
  const twice = await org.call('PUT', url, { tests: [cases.tests[1], cases.tests[1]] });
  expect([twice.status, twice.body.errors[0].pointer]).toEqual([400, '/tests']);
});

test('returns 400 that describes the expected events for a test case without events', async () => {
  const org = await newOrg();
  const { id } = await callOk(org, 'POST', '/api/detections', detection);
  const { body } = await org.call('PUT', `/api/detections/${id}/tests`, { tests: [{ name: 'a', expect: [] }] });
  expect(body.detail).toBe(
    '/tests/0/events: must be a list of at most 1000 events, or an object of such lists by dataset',
  );
});

test('a backtest proposes the smallest count that silences the noise and keeps the true positives', async () => {
  const org = await newOrg();
  time.now = new Date(at(100));
  const body = { ...detection, detectionCategory: 'custom', suppressionMinutes: 0 };
  const created = await callOk(org, 'POST', '/api/detections', body);
  for (let hour = 0; hour < 6; hour++) {
    time.now = new Date(at(100 + hour, 30));
    const rows = hour === 3 ? 5 : 1;
    await send(
      org,
      Array.from({ length: rows }, (_, n) => login(rows > 1 ? 'eve' : 'bot', 'NO', at(100 + hour, 20 + n))),
    );
    time.now = new Date(at(100 + hour + 1));
    await executeDueRuns(deps, time.now, { concurrency: 1 });
  }
  const { hits } = await callOk(org, 'GET', '/api/hits');
  const eve = hits.find(({ entity }: { entity: string }) => entity === 'eve');
  await callOk(org, 'POST', `/api/hits/${eve.id}/status`, { status: 'true_positive' });
  const backtest = () => callOk(org, 'POST', `/api/detections/${created.id}/backtest`, { from: at(100), to: at(106) });
  expect((await backtest()).proposal).toEqual({
    tuning: { minimumCount: 2 },
    candidatesPerWeekBefore: 5,
    candidatesPerWeekAfter: 0,
    truePositivesKept: 1,
  });
  await callOk(org, 'PUT', `/api/detections/${created.id}`, { tuning: { minimumCount: 2 } });
  expect(await backtest()).toMatchObject({
    proposal: null,
    versions: [{ candidates: 1, suppressed: { belowMinimum: 5, workingHours: 0 } }],
  });
  const tuned = { ...body, tuning: { minimumCount: 2, workingHours: { timeZone: 'UTC', from: '00:00', to: '23:59', effect: 'outside_only' } } }; // prettier-ignore
  const preview = await callOk(org, 'POST', '/api/detections/preview', { ...tuned, from: at(100), to: at(106) });
  expect(preview).toMatchObject({ candidatesTotal: 0, suppressed: { belowMinimum: 5, workingHours: 1 } });
});

test('a test result counts what the tuning leaves out, and reads the value lists of the organization', async () => {
  const org = await newOrg();
  await callOk(org, 'PUT', '/api/value-lists/allies', { values: ['SE'] });
  await callOk(org, 'PUT', '/api/value-lists/robots', { values: ['svc-*'] });
  const listed = `${detection.detectionQuery} WHERE country NOT IN (SELECT value FROM lists.allies)`;
  const tuned = {
    ...detection,
    detectionCategory: 'custom',
    detectionQuery: listed,
    tuning: { allowLists: ['robots'] },
  };
  const { id: tunedId } = await callOk(org, 'POST', '/api/detections', tuned);
  const events = [login('ada', 'NO', at(1)), login('bob', 'SE', at(1)), login('svc-1', 'NO', at(1))];
  await callOk(org, 'PUT', `/api/detections/${tunedId}/tests`, { tests: [{ name: 'lists', events, expect: ['ada'] }] });
  const tried = await callOk(org, 'POST', `/api/detections/${tunedId}/tests/run`, {});
  expect(tried.results).toMatchObject([{ passed: true, found: ['ada'], suppressed: { allowed: 1 } }]);

  const body = { ...detection, detectionCategory: 'custom', tuning: { minimumCount: 2 } };
  const { id } = await callOk(org, 'POST', '/api/detections', body);
  await callOk(org, 'PUT', `/api/detections/${id}/tests`, {
    tests: [{ name: 'one event', events: [login('ada', 'NO', at(1))], expect: ['ada'] }],
  });
  const run = await callOk(org, 'POST', `/api/detections/${id}/tests/run`, {});
  expect(run.results).toMatchObject([{ passed: false, missing: ['ada'], suppressed: { belowMinimum: 1 } }]);
  expect(describeMismatch(run.results[0])).toBe('missing ada; not judged (belowMinimum): 1');
});

test('previews, backtests and tests store no runs', async () => {
  const runs = await acrossOrgs(
    deps.db,
    (tx) => queryRows(tx)`select 1 from runs where trigger not in ('schedule', 'manual')`,
  );
  expect(runs).toEqual([]);
});
