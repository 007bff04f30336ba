import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import {
  dismissalOn,
  listRunRows,
  login,
  startJudgedRuns,
  verdictOn,
} from '../../../../test/support/detection/judged-runs.ts';
import { countCandidates, hour, type ScriptedSearch } from '../../../../test/support/detection/scripted-runs.ts';
import { readDetection } from '../../detections/read-detections.ts';
import { inOrg } from '../../../platform/db/db.ts';
import { expireCasesAcrossOrgs } from './settle-case.ts';
import { decideCase, getCase, getCases } from './review-cases.ts';

const testDb = await testDatabase();

/** Sign-ins of root in every window. */
const hourly: ScriptedSearch = ({ window: { from } }) => [
  { ...login('root'), _id: from.toISOString(), _time: from.toISOString() },
];

/** Starts runs whose model decides nothing, of a detection that lets a person review it. */
async function startUndecided(answer?: ScriptedSearch) {
  const started = await startJudgedRuns(testDb, (asked) => verdictOn(asked, { verdict: 'undecided', confidence: 40 }), {
    ...(answer ? { answer } : {}),
    detection: { onUndecided: 'review' },
  });
  const { t, id } = started;
  const person = { ...t.caller, subject: 'kim@example.com' };
  const hits30d = async () =>
    (await inOrg(t.db, t.orgId, (tx) => readDetection(tx, { orgId: t.orgId, now: t.time.now }, id))).hits;
  return { ...started, person, hits30d, list: async () => (await getCases(t.deps, t.caller, {})).cases };
}

test('an undecided candidate waits in the queue with its question and evidence, and is no hit', async () => {
  const { t, list, hits30d } = await startUndecided();
  await t.runAt(hour(1));
  expect(await t.select`select 1 from hits`).toEqual([]);
  expect([await countCandidates(t), await hits30d()]).toEqual([{ review: 2 }, 0]);
  expect((await listRunRows(t))[0]).toMatchObject({ status: 'completed', hit_count: 0 });
  const cases = await list();
  expect(cases).toMatchObject([
    { kind: 'undecided', state: 'open', verdict: 'undecided', openQuestion: 'Ask.', expiresAt: hour(25) },
    { state: 'open', claims: [{ text: 'It signed in.', status: 'supported' }] },
  ]);
  const { id } = cases.find(({ entity }) => entity === 'root')!;
  expect(await getCase(t.deps, t.caller, id)).toMatchObject({
    facts: { windowFrom: hour(0) },
    observations: [{ id: 'rows', query: 'logins', rows: [{ rowId: 'e-root-0' }] }],
    testCase: null,
  });
  const first = await getCases(t.deps, t.caller, { limit: '1' });
  const second = await getCases(t.deps, t.caller, { limit: '1', cursor: first.nextCursor! });
  expect([...first.cases, ...second.cases].map((one) => one.id)).toEqual(cases.map((one) => one.id));
  expect((await getCases(t.deps, t.caller, { entity: 'bob' })).cases).toMatchObject([{ entity: 'bob' }]);
  expect((await getCases(t.deps, t.caller, { state: 'dismissed' })).cases).toEqual([]);
});

test('a person raises a case: it is a hit with every window that waits with it, counted in their runs', async () => {
  const { t, stand, person, list, hits30d } = await startUndecided(hourly);
  await t.runAt(hour(1));
  await t.runAt(hour(2));
  // The second window waits with the case of the first. Nobody asks about it.
  expect([stand.asked.length, await countCandidates(t)]).toEqual([1, { review: 2 }]);
  const [one] = await list();
  const decided = await decideCase(t.deps, person, one!.id, { decision: 'raise', reason: 'Nobody knows it.' });
  expect(decided).toMatchObject({ state: 'raised', actor: 'kim@example.com', reason: 'Nobody knows it.' });
  expect(await t.select`select id, status, verdict, open_question, occurrences from hits`).toEqual([
    { id: decided.hitId, status: 'open', verdict: 'raise', open_question: null, occurrences: 2 },
  ]);
  expect(await t.select`select actor, reason, to_status from hit_changes`).toEqual([
    { actor: 'kim@example.com', reason: 'Nobody knows it.', to_status: 'open' },
  ]);
  expect((await listRunRows(t)).map((run) => run['hit_count'])).toEqual([1, 1]);
  expect(await hits30d()).toBe(2);
  await expect(decideCase(t.deps, person, one!.id, { decision: 'dismiss', reason: 'No.' })).rejects.toMatchObject({
    code: 'conflict',
  });
  await t.runAt(hour(3));
  expect(await t.select`select occurrences from hits`).toEqual([{ occurrences: 3 }]);
});

test('a person dismisses a case: later windows are dropped, and a later verdict can cite it', async () => {
  const { t, id, stand, person, list } = await startUndecided(hourly);
  await t.runAt(hour(1));
  const [one] = await list();
  await decideCase(t.deps, person, one!.id, { decision: 'dismiss', reason: 'A planned drill.' });
  await t.runAt(hour(2));
  expect(await countCandidates(t)).toEqual({ judged: 1, suppressed: 1 });
  expect([stand.asked.length, (await list()).length]).toEqual([1, 0]);
  stand.think((asked) => {
    const claim = { text: 'A person explained it.', kind: 'fact', cites: [{ hit: `review:${one!.id}` }] };
    return dismissalOn(asked, { claims: [claim] });
  });
  // Beyond the six hours in which the decision holds for equal candidates.
  await t.runAt(hour(12));
  expect(stand.asked.at(-1)!.raw).toContain('A planned drill.');
  expect(await t.select`select count(*) as n from candidates where verdict::json ->> 'verdict' = 'dismiss'`).toEqual([
    { n: 1 },
  ]);
  expect(await t.select`select 1 from hits where detection_id = ${id}`).toEqual([]);
});

test('a case that nobody decides becomes an undecided hit after a day, once for any number of workers', async () => {
  const { t, list, hits30d } = await startUndecided();
  await t.runAt(hour(1));
  t.time.now = new Date(hour(24.9));
  expect(await expireCasesAcrossOrgs(t.deps)).toBe(false);
  t.time.now = new Date(hour(25));
  await Promise.all(Array.from({ length: 4 }, () => expireCasesAcrossOrgs(t.deps)));
  expect(await expireCasesAcrossOrgs(t.deps)).toBe(false);
  expect(await list()).toEqual([]);
  expect(await t.select`select entity, verdict, open_question, occurrences, revision from hits order by 1`).toEqual(
    ['bob', 'root'].map((entity) => ({
      entity,
      verdict: 'undecided',
      open_question: 'Ask.',
      occurrences: 1,
      revision: 1,
    })),
  );
  expect(await t.select`select 1 from hit_changes`).toEqual([]);
  expect([(await listRunRows(t))[0]!['hit_count'], await hits30d()]).toEqual([2, 1]);
});

test('a case whose window no longer contains it ends without a hit', async () => {
  const { t, list } = await startUndecided();
  await t.runAt(hour(1));
  await t.select`update candidates set state = 'outdated' where entity = 'root'`;
  expect((await list()).map(({ entity }) => entity)).toEqual(['bob']);
  t.time.now = new Date(hour(25));
  await expireCasesAcrossOrgs(t.deps);
  expect(await t.select`select entity from hits`).toEqual([{ entity: 'bob' }]);
  expect((await getCases(t.deps, t.caller, { state: 'outdated' })).cases).toMatchObject([{ entity: 'root' }]);
});
