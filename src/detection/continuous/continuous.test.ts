import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { selectIn } from '../../../test/support/select-rows.ts';
import { loadLibrary } from '../library/load-library.ts';
import { inspectQuery } from '../log-query/search/inspect-query.ts';
import { executeDueRuns } from '../runs/workers/run-loops.ts';
import { inOrg } from '../../platform/db/db.ts';
import { matchWaiting } from './match-loop.ts';
import { deleteMatchedWindows } from './matched-windows.store.ts';

const midnight = Date.parse('2026-03-02T00:00:00Z');
let now = new Date(midnight);
const { app, deps, newOrg } = await startApp({ clock: () => now });

/** Sets slot time to a number of minutes after midnight. */
const at = (minutes: number): Date => (now = new Date(midnight + minutes * 60_000));

const query = "SELECT _id, _time, user, action FROM auth WHERE action = 'grant-root'";

const create = (org: TestOrg, fields: object = {}) =>
  callOk(org, 'POST', '/api/detections', {
    name: 'Root granted',
    detectionCategory: 'custom',
    systemPrompt: 'Judge it.',
    detectionQuery: query,
    detectionCadence: 'hourly',
    entityField: 'user',
    continuous: true,
    suppressionMinutes: 0,
    enabled: true,
    ...fields,
  });

const event = (user: string, action = 'grant-root') => ({ user, action });
const send = (org: TestOrg, events: readonly object[]) => {
  const timed = events.map((one) => ({ time: now, ...one }));
  return callOk(org, 'POST', '/api/logs/auth', timed);
};
const sendAt = (minutes: number, org: TestOrg, events: readonly object[]) => (at(minutes), send(org, events));

// So that no test executes the slots of earlier ones.
afterEach(() => selectIn(deps.db)`update schedules set active = false`);

/** Matches what has arrived and executes the runs that follow. */
async function work(): Promise<void> {
  await matchWaiting(deps);
  await executeDueRuns(deps, now);
}
const workAt = (minutes: number): Promise<void> => (at(minutes), work());

/** An organization that has had an event before its detection is matched. */
async function start(fields: object = {}) {
  at(1);
  const org = await newOrg();
  await send(org, [event('old', 'none')]);
  const { id } = await create(org, fields);
  await work();
  const state = () => callOk(org, 'GET', `/api/detections/${id}/continuous`);
  const select = selectIn(deps.db, org.id);
  const hits = async () => {
    const list = await select<{ entity: string; occurrences: number }>`
      select h.entity, (select count(*) from hit_occurrences o where o.hit_id = h.id) as occurrences from hits h`;
    return list.map(({ entity, occurrences }) => `${entity} ${occurrences}`).toSorted();
  };
  return { org, id, state, hits, select };
}

test('the overview says since when events wait to be matched, until they are', async () => {
  const { org } = await start();
  const lateSince = async () => (await callOk(org, 'GET', '/api/overview')).lateMatchingSince;
  expect(await lateSince()).toBeNull();
  await sendAt(2, org, [event('ada')]);
  expect(await lateSince()).toBe(now.toISOString());
  await work();
  expect(await lateSince()).toBeNull();
});

test('turns a matching event into a hit before its slot, which finds it again and adds nothing', async () => {
  const { org, id, state, hits } = await start();
  expect(await state()).toMatchObject({ state: 'matching', dataset: 'auth', expensive: false, events: 0 });
  await sendAt(5, org, [event('ada'), event('ben', 'login')]);
  await work();
  expect(await hits()).toEqual(['ada 1']);
  // The matching continues where it ended.
  await sendAt(6, org, [event('cyn'), event('ada')]);
  await work();
  expect(await hits()).toEqual(['ada 1', 'ada 1', 'cyn 1']);
  expect(await state()).toMatchObject({ events: 3, missed: 0, waitingSince: null });
  await workAt(60);
  await workAt(120);
  expect([await hits(), await state()]).toMatchObject([['ada 1', 'ada 1', 'cyn 1'], { events: 3, missed: 0 }]);
  const { runs } = await callOk(org, 'GET', `/api/detections/${id}/runs`);
  const ended = runs.map((run: Record<string, unknown>) => `${run['trigger']} ${run['status']} ${run['hitCount']}`);
  const expected = ['continuous completed 1', 'continuous completed 2', 'schedule completed 0'];
  expect(ended).toEqual(expect.arrayContaining(expected));
});

test('a hit says how long after the arrival of its events it was found, unless its slot found it', async () => {
  const { org, state } = await start();
  await sendAt(5, org, [event('ada')]);
  await sendAt(6, org, [event('ben')]);
  // Both batches are matched together, a minute after the second.
  await workAt(7);
  expect(await state()).toMatchObject({ latencyMs: 120_000 });
  await sendAt(8, org, [event('cyn')]);
  await executeDueRuns(deps, at(60));
  await work();
  const { hits } = await callOk(org, 'GET', '/api/hits');
  const latencies = hits.map((hit: { entity: string; latencyMs: number | null }) => [hit.entity, hit.latencyMs]);
  expect(Object.fromEntries(latencies)).toEqual({ ada: 120_000, ben: 120_000, cyn: null });
});

test('events are stored as fast while a matcher hangs as while none waits, and the lag is shown', async () => {
  const { org, state } = await start();
  const perRound = 10;
  let sent = 0;
  const store = async (): Promise<number> => {
    const began = performance.now();
    for (let n = 0; n < perRound; n += 1) await send(org, [event(`user-${(sent += 1)}`, 'login')]);
    return performance.now() - began;
  };
  const readLag = async (): Promise<number> => {
    const { payload } = await app.inject('/metrics');
    return Number(/^tocsin_match_lag_seconds (\S+)$/m.exec(payload)?.[1]);
  };
  let [alone, behind] = [Infinity, Infinity];
  at(5);
  await store();
  // Load can only add time.
  for (let round = 0; round < 10 && !(behind / alone < 2); round += 1) {
    await work();
    alone = Math.min(alone, await store());
    await work();
    at(10 + round);
    await inOrg(deps.db, org.id, async (tx) => {
      // A matcher that neither continues nor dies. If storing waited for it, this would never end.
      await sql`select from match_positions where dataset = 'auth' for update`.execute(tx);
      await store();
      behind = Math.min(behind, await store());
    });
    expect(await state()).toMatchObject({ waitingSince: now.toISOString() });
  }
  expect(behind / alone).toBeLessThan(2);
  expect(await readLag()).toBeGreaterThan(0);
});

test('matches late events when they arrive, and those of a repeated batch once', async () => {
  const { org, hits, state } = await start();
  at(30);
  const batch = [{ ...event('ada'), time: new Date(midnight - 20 * 86_400_000) }, event('ben')];
  await send(org, batch);
  await send(org, batch);
  await work();
  expect(await hits()).toEqual(['ada 1', 'ben 1']);
  for (const minutes of [60, 120]) await workAt(minutes);
  expect([await hits(), await state()]).toMatchObject([['ada 1', 'ben 1'], { events: 2, missed: 0 }]);
});

test('leaves to the slot what was not matched, and counts what should have been', async () => {
  const { org, hits, state, select } = await start();
  await sendAt(5, org, [event('ada')]);
  // The slot comes before the matcher, which then finds nothing new.
  await executeDueRuns(deps, at(60));
  expect(await hits()).toEqual(['ada 1']);
  await work();
  expect([await hits(), await state()]).toMatchObject([['ada 1'], { events: 1, missed: 0 }]);
  await sendAt(65, org, [event('ben')]);
  // A matcher that skips events must be found out.
  await select`update match_positions set matched_to = ${new Date(now.getTime() + 1000)} where dataset = 'auth'`;
  await workAt(120);
  expect([await hits(), await state()]).toMatchObject([['ada 1', 'ben 1'], { events: 1, missed: 1 }]);
  const warnings = await select<{ warnings: string }>`select warnings from runs where warnings like '%stream_missed%'`;
  expect(warnings).toHaveLength(1);
});

test('leaves what a continuous run could not examine to the slot, which has not missed it', async () => {
  const { org, id, hits, state } = await start();
  await sendAt(5, org, [event('ada')]);
  await matchWaiting(deps);
  await inOrg(deps.db, org.id, (tx) => deleteMatchedWindows(tx, { orgId: org.id, detectionId: id }));
  await executeDueRuns(deps, now);
  expect(await hits()).toEqual([]);
  await workAt(60);
  expect([await hits(), await state()]).toMatchObject([['ada 1'], { events: 1, missed: 0 }]);
  // The position of the dataset outlives a time without detections.
  at(65);
  await callOk(org, 'PUT', `/api/detections/${id}`, { enabled: false });
  await send(org, [event('ben')]);
  await work();
  await callOk(org, 'PUT', `/api/detections/${id}`, { enabled: true });
  await work();
  await send(org, [event('cyn')]);
  await work();
  expect(await hits()).toContain('cyn 1');
});

test('goes back to its slots when too many events match, which then find them all', async () => {
  const { org, id, hits, state, select } = await start();
  await select`
    insert into destinations (organization_id, id, kind, name, shown_url, sealed, event_types, created_at, updated_at)
    values (${org.id}, gen_random_uuid(), 'webhook', 'x', 'x', ''::bytea, ${['continuous.paused']}::text[], now(), now())`;
  at(5);
  const users = Array.from({ length: deps.config.continuousPerMinute + 1 }, (_, n) => event(`user-${n}`));
  await send(org, users);
  await work();
  expect([await hits(), await state()]).toMatchObject([[], { state: 'paused', events: users.length }]);
  expect(await select`select body::json->'data'->>'detectionId' as id from outbox`).toEqual([{ id }]);
  await workAt(60);
  expect(await hits()).toHaveLength(users.length);
  expect(await state()).toMatchObject({ state: 'paused', missed: 0 });
  // A change makes it continuous again.
  await callOk(org, 'PUT', `/api/detections/${id}`, { description: 'Changed' });
  await workAt(61);
  await send(org, [event('ada')]);
  await work();
  expect(await hits()).toContain('ada 1');
});

test('uses the present query for events that an earlier one matched, and has a slot find what only the new one matches', async () => {
  const { org, id, hits, state } = await start();
  await sendAt(5, org, [event('ada'), event('ben', 'revoke-root')]);
  await matchWaiting(deps);
  await callOk(org, 'PUT', `/api/detections/${id}`, { detectionQuery: query.replace('grant', 'revoke') });
  await executeDueRuns(deps, now);
  expect(await hits()).toEqual(['ben 1']);
  await workAt(60);
  expect([await hits(), await state()]).toMatchObject([['ben 1'], { missed: 0 }]);
  // Without matching, windows that wait are left to the slot.
  await sendAt(65, org, [event('cyn', 'revoke-root')]);
  await matchWaiting(deps);
  await callOk(org, 'PUT', `/api/detections/${id}`, { continuous: false });
  await executeDueRuns(deps, now);
  expect([await hits(), await state()]).toMatchObject([['ben 1'], { state: 'off' }]);
  await workAt(120);
  expect(await hits()).toEqual(['ben 1', 'cyn 1']);
});

test('matchers side by side, and one that died, store an event once', async () => {
  const { org, hits, select } = await start();
  await sendAt(5, org, [event('ada')]);
  // A matcher that died has a lease and a place in no queue.
  await select`update match_positions set worker = gen_random_uuid(), lease_until = clock_timestamp() + interval '1 hour'`;
  await work();
  expect(await hits()).toEqual([]);
  await select`update match_positions set lease_until = clock_timestamp() - interval '1 second'`;
  await send(org, [event('ben')]);
  await Promise.all([matchWaiting(deps), matchWaiting(deps), matchWaiting(deps)]);
  await executeDueRuns(deps, now, { concurrency: 4 });
  expect(await hits()).toEqual(['ada 1', 'ben 1']);
  // Nor does a position that was lost, as after a restore of an older backup, make hits twice.
  await select`update match_positions set matched_to = ${new Date(midnight)}`;
  await work();
  expect(await hits()).toEqual(['ada 1', 'ben 1']);
  expect(await select`select 1 as one from matched_windows`).toEqual([]);
});

test('matches with the condition of the query what only the query can decide', async () => {
  const { org, hits, state } = await start({
    detectionQuery: `WITH grants AS (SELECT _id, _time, user, action, detail->>'$.role' AS role FROM auth WHERE action ILIKE 'grant%')
      SELECT _id, _time, user, role FROM grants WHERE len(role) > 3 UNION ALL
      SELECT _id, _time, user, item FROM (SELECT _id, _time, user, unnest(['a', 'b']) AS item FROM grants) WHERE user = 'ben'`,
  });
  at(5);
  const withRole = (user: string, role: string) => ({ ...event(user), detail: { role } });
  await send(org, [withRole('ada', 'admin'), withRole('cyn', 'all'), withRole('ben', 'none'), event('dan', 'login')]);
  await work();
  expect(await hits()).toEqual(['ada 1', 'ben 1']);
  await workAt(60);
  expect(await hits()).toEqual(['ada 1', 'ben 1']);
  expect(await state()).toMatchObject({ state: 'matching', events: 2, missed: 0, expensive: false });
});

test('says why the events of a detection cannot be matched when they arrive', async () => {
  const detectionQuery = 'SELECT user, count(*) AS n FROM auth GROUP BY user';
  const detail = 'The query groups events (GROUP BY).';
  const { org, id, state } = await start({ detectionQuery });
  expect(await state()).toMatchObject({ state: 'not_possible', reason: detail });
  const warning = { code: 'not_continuous', field: 'continuous', detail };
  const { warnings } = await callOk(org, 'PUT', `/api/detections/${id}?validate=true`, { description: 'Changed' });
  expect(warnings).toContainEqual(warning);
  const definition = { name: 'P', detectionCategory: 'custom', systemPrompt: 'Judge it.', detectionCadence: 'hourly' };
  const range = { from: new Date(midnight).toISOString(), to: new Date(midnight + 3_600_000).toISOString() };
  const preview = (fields: object) =>
    callOk(org, 'POST', '/api/detections/preview', { ...definition, ...range, ...fields });
  expect((await preview({ detectionQuery })).continuous).toEqual({ possible: false, reason: detail });
  expect((await preview({ detectionQuery: query })).continuous).toEqual({ possible: true, reason: null });
  const unscheduled = await preview({ detectionQuery: query, detectionCadence: undefined });
  const reason = 'The detection has no schedule, which proves that nothing was missed.';
  expect(unscheduled.continuous).toEqual({ possible: false, reason });
});

test('could match the events of most shipped detections of single events when they arrive', async () => {
  const { id: organization } = await newOrg();
  const bodies = [...loadLibrary().values()].map(({ body }) => body);
  const categories = ['custom', 'privilege_escalation'];
  const ofEvents = bodies.filter(({ detectionCategory }) => categories.includes(detectionCategory));
  const parts: (string | null)[] = [];
  for (const { detectionQuery } of ofEvents)
    parts.push((await inspectQuery(deps, organization, detectionQuery)).inspection.crossEventPart);
  expect(parts.filter((part) => part === null).length).toBeGreaterThan(ofEvents.length / 2);
});
