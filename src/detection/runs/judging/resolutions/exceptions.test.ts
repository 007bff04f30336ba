import { expect, test } from 'vitest';
import { testDatabase } from '../../../../../test/support/database.ts';
import { hour, startRuns } from '../../../../../test/support/detection/scripted-runs.ts';
import { detectionTexts } from '../../../../../test/support/detection/analysis-examples.ts';
import { createAnalyst } from '../judge.ts';
import {
  announceEndingExceptions,
  createException,
  getExceptions,
  removeException,
  snooze,
} from '../../../detections/exceptions/exceptions.ts';
import { getDetection } from '../../../detections/read-detections.ts';
import { getEntities } from '../../../hits/list-entities.ts';
import { getHit, getHits } from '../../../hits/read-hits.ts';
import { setHitStatus } from '../../../hits/set-status.ts';
import type { Candidate } from '../../../analysis/candidate.ts';
import { getValueList, putValueList } from '../../../value-lists/value-lists.ts';
import { getRuns } from '../../read-runs.ts';

const testDb = await testDatabase();

test('skips candidates under an exception or a snooze, counts them on the run, and judges them after it ends', async () => {
  const t = await startRuns(testDb, ({ window }) =>
    ['ada', 'bob', 'scanner'].map((user) => ({
      _id: `${user} ${window.from.toISOString()}`,
      user,
      ip: `ip of ${user}`,
    })),
  );
  const id = await t.newDetection({ suppressionMinutes: 0 });
  const judged: string[] = [];
  const judge = {
    model: 'counting',
    instant: true,
    judge: (candidate: Candidate, signal: AbortSignal) => {
      judged.push(candidate.entity);
      return createAnalyst(detectionTexts).judge(candidate, signal);
    },
  };
  const scanner = await createException(t.deps, t.caller, id, {
    field: 'IP',
    value: 'ip of scan*',
    reason: 'our own scanner',
    expiresAt: hour(2),
  });
  await snooze(t.deps, t.caller, id, { entity: 'bob', until: hour(3) });
  await t.runAt(hour(1), judge);
  // The run of the second hour is late. What applied to it then still does.
  await t.runAt(hour(3), judge);
  expect(judged).toEqual(['ada', 'ada', 'scanner', 'ada', 'bob', 'scanner']);
  const { runs } = await getRuns(t.deps, t.caller, id, {});
  expect(runs.map((run) => [run.suppressed, run.hitCount])).toEqual([
    [{ known: 0, exceptions: 0, snoozed: 1, allowed: 0, belowMinimum: 0, workingHours: 0 }, 5],
    [{ known: 0, exceptions: 0, snoozed: 0, allowed: 0, belowMinimum: 0, workingHours: 0 }, 0],
    [{ known: 0, exceptions: 1, snoozed: 1, allowed: 0, belowMinimum: 0, workingHours: 0 }, 1],
  ]);
  const listed = await getExceptions(t.deps, t.caller, id, {});
  expect(
    listed.exceptions.map(({ kind, active, matches, mutedRows, lastMatchedAt, examples }) => [
      kind,
      active,
      matches,
      mutedRows,
      lastMatchedAt !== null,
      examples.map(({ entity, windowTo }) => `${entity} ${windowTo}`),
    ]),
  ).toEqual([
    ['snooze', false, 2, 2, true, [`bob ${hour(2)}`, `bob ${hour(1)}`]],
    ['exception', false, 1, 1, true, [`scanner ${hour(1)}`]],
  ]);
  const { hits } = await getHits(t.deps, t.caller, {});
  const narrow = {
    entity: 'ada',
    conditions: [{ field: 'ip', value: 'ip of ada' }],
    reason: 'her own scripts',
    expiresAt: hour(100),
    owner: 'grace',
    hitIds: [hits[0]!.id],
  };
  expect(await createException(t.deps, t.caller, id, narrow)).toMatchObject({ ...narrow, expiresSoon: true });
  // Once, and not before half of its time is over.
  await t.select`insert into destinations (organization_id, id, kind, name, shown_url, sealed, event_types, created_at, updated_at)
    values (${t.orgId}, gen_random_uuid(), 'webhook', 'x', 'x', ''::bytea, ${['exception.ending']}::text[], now(), now())`;
  const announce = (at: string) => announceEndingExceptions({ db: t.db, clock: () => new Date(at) });
  await announce(hour(20));
  const listAnnounced = () => t.select<{ body: string }>`select body from outbox where type = 'exception.ending'`;
  expect(await listAnnounced()).toEqual([]);
  expect([await announce(hour(60)), await announce(hour(61))]).toEqual([false, false]);
  expect((await listAnnounced()).map(({ body }) => JSON.parse(body).data)).toMatchObject([
    { detectionId: id, owner: 'grace', expiresAt: hour(100), matches: 0 },
  ]);
  await expect(createException(t.deps, t.caller, id, { ...narrow, hitIds: [id] })).rejects.toMatchObject({
    errors: [{ pointer: '/hitIds' }],
  });
  await t.runAt(hour(4), judge);
  expect(judged.slice(6)).toEqual(['bob', 'scanner']);
  const mistyped = await createException(t.deps, t.caller, id, { entity: 'scaner', reason: 'our own scanner' });
  expect([mistyped.matches, mistyped.warnings?.[0]?.detail]).toEqual([
    0,
    expect.stringContaining('did you mean scanner?'),
  ]);
  await removeException(t.deps, t.caller, id, scanner.id);
  await expect(removeException(t.deps, t.caller, id, scanner.id)).rejects.toThrow('not found');
  await expect(snooze(t.deps, t.caller, id, { until: hour(3) })).rejects.toMatchObject({
    errors: [{ pointer: '/until' }],
  });
});

test('judges no candidate whose entity is in an allow-list, and shows their number', async () => {
  const t = await startRuns(testDb, ({ window }) =>
    ['ada', 'scan-1', 'scan-2', '10.0.0.7'].map((user) => ({ _id: `${user} ${window.from.toISOString()}`, user })),
  );
  const allowLists = ['scanners', 'lab', 'later'];
  const id = await t.newDetection({ suppressionMinutes: 0, entityField: 'user', tuning: { allowLists } });
  const list = (name: string, values: string[]) => putValueList(t.deps, t.caller, name, { description: '', values });
  await list('scanners', ['SCAN-*']);
  await list('lab', ['10.0.0.0/8']);
  await t.runAt(hour(1));
  await list('later', ['ada']);
  await t.runAt(hour(2));
  const { runs } = await getRuns(t.deps, t.caller, id, {});
  expect(runs.map(({ suppressed, hitCount, warnings }) => [suppressed.allowed, hitCount, warnings])).toEqual([
    [4, 0, expect.not.arrayContaining([expect.objectContaining({ code: 'unknown_list' })])],
    [3, 1, expect.arrayContaining([{ code: 'unknown_list', detail: expect.stringMatching(/: later\.$/) }])],
  ]);
});

test('sets the severity by a value list, and shows the rule with its cell as fact, claim and evidence', async () => {
  const t = await startRuns(testDb, ({ window }) =>
    ['ada', 'bob'].map((user) => ({ _id: `${user} ${window.from.toISOString()}`, user })),
  );
  const severityRules = [{ field: 'user', list: 'admins', severity: 'critical' as const }];
  const id = await t.newDetection({ entityField: 'user', tuning: { severityRules } });
  await t.runAt(hour(1));
  await putValueList(t.deps, t.caller, 'admins', { description: '', values: ['ADA'] });
  await t.runAt(hour(2));
  const { runs } = await getRuns(t.deps, t.caller, id, {});
  expect(runs.map(({ warnings }) => warnings.filter(({ code }) => code === 'unknown_list').length)).toEqual([0, 1]);
  expect((await getValueList(t.deps, t.caller, 'admins')).usedBy).toEqual([id]);
  const { hits } = await getHits(t.deps, t.caller, {});
  const raised = hits.find(({ severity }) => severity === 'critical')!;
  expect(hits.map(({ entity, severity }) => `${entity} ${severity}`).toSorted()).toEqual([
    'ada critical',
    'ada medium',
    'bob medium',
  ]);
  const { facts, rows, evidence, claims } = await getHit(t.deps, t.caller, raised.id);
  const why = 'The severity rule “user in lists.admins: critical” makes it critical instead of medium.';
  const cell = { observation: 'rows', rowId: rows[0]!.rowId, field: 'user', value: 'ada' };
  expect(facts).toMatchObject({ severityRule: 'user in lists.admins: critical', severityBefore: 'medium' });
  expect(evidence).toContainEqual({ ...cell, why });
  expect(claims.find(({ text }) => text === why)).toMatchObject({
    status: 'cited',
    cites: expect.arrayContaining([cell, { fact: 'severityRule' }]),
  });
});

test('keeps the history of hit reviews, shows them on the detection, and scores them from the tenth on', async () => {
  const t = await startRuns(testDb, ({ window }) =>
    Array.from({ length: 12 }, (_, n) => ({ _id: `${n} ${window.from.toISOString()}`, user: `u${n}` })),
  );
  const id = await t.newDetection({ suppressionMinutes: 0 });
  await t.runAt(hour(1));
  const { hits } = await getHits(t.deps, t.caller, {});
  const say = (n: number, status: 'true_positive' | 'false_positive' | 'benign' | 'open') =>
    setHitStatus(t.deps, t.caller, hits[n]!.id, { status, reason: `number ${n}` });
  for (let n = 0; n < 9; n++) await say(n, n < 3 ? 'true_positive' : 'false_positive');
  const selectivity = async (at: string) => {
    await t.runAt(at);
    const { runs } = await getRuns(t.deps, t.caller, id, {});
    return runs[0]!.scoreCriteria.find(({ name }) => name === 'selectivity')!.points;
  };
  expect(await selectivity(hour(2))).toBe(0);
  await say(9, 'true_positive');
  expect(await selectivity(hour(3))).toBeCloseTo(30 * 0.4);
  expect((await getDetection(t.deps, t.caller, id)).reviews).toEqual({
    truePositive: 4,
    benign: 0,
    falsePositive: 6,
    precision: 0.4,
  });
  await say(0, 'benign');
  await say(0, 'benign');
  const hit = await say(0, 'open');
  expect(hit.history.map(({ from, to, reason }) => [from, to, reason])).toEqual([
    ['benign', 'open', 'number 0'],
    ['true_positive', 'benign', 'number 0'],
    ['open', 'true_positive', 'number 0'],
  ]);
  expect((await getDetection(t.deps, t.caller, id)).reviews).toMatchObject({ truePositive: 3, benign: 0 });
  expect(await t.select`select 1 from audit where action = 'hit.status_changed'`).toHaveLength(12);
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await getEntities(t.deps, t.caller, { limit: '5', ...(cursor ? { cursor } : {}) });
    seen.push(...page.entities.map(({ entity, hits: n }) => `${entity} ${n}`));
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
  expect(new Set(seen)).toEqual(new Set(Array.from({ length: 12 }, (_, n) => `u${n} 3`)));
});
