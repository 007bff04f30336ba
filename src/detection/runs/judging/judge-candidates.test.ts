import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import {
  countCandidates,
  hour,
  startRuns,
  type RunsTest,
  type ScriptedSearch,
} from '../../../../test/support/detection/scripted-runs.ts';
import { dismissed, judgedAs, listJudgedHits, slowJudge } from '../../../../test/support/detection/slow-judge.ts';
import { budgetExceededError, upstreamModelError } from '../../../platform/models/model-error.ts';
import type { QueryRow } from '../../siem/connector.ts';
import type { Judge } from './judge.ts';
import { requestRun } from '../request-run.ts';

const testDb = await testDatabase();
const users = (n: number, at = 'x'): QueryRow[] =>
  Array.from({ length: n }, (_, i) => ({
    _id: `${at}-${i}`,
    user: `user${String(i).padStart(4, '0')}`,
    action: 'login',
  }));

test('reuses the verdicts of an earlier attempt', async () => {
  const t = await startRuns(testDb, () => users(5));
  await t.newDetection();
  const dying = slowJudge(3);
  await t.tryAt(hour(1), dying);
  expect(await countCandidates(t)).toEqual({ judged: 3, pending: 2 });
  expect(await t.select`select count(*) as n from candidates where verdict is not null`).toEqual([{ n: 3 }]);
  await t.select`update run_queue set retry_at = null`;
  const second = slowJudge();
  await t.runAt(hour(1), second);
  expect([...dying.asked, ...second.asked]).toEqual(users(5).map((row) => row['user']));
  expect((await listJudgedHits(t)).map((hit) => [hit.occurrences, hit.judged, hit.confidence])).toEqual(
    Array.from({ length: 5 }, () => [1, true, 42]),
  );
  const [run] = await t.select<{
    attempt: number;
    hit_count: number;
    entities: string;
  }>`select attempt, hit_count, entities from runs`;
  expect(run).toMatchObject({ attempt: 2, hit_count: 5 });
  expect(JSON.parse(run!.entities)).toHaveLength(5);
});

const firstHourOnly =
  (rows: QueryRow[]): ScriptedSearch =>
  ({ window }) =>
    window.from.toISOString() === hour(0) ? rows : [];
/** Returns the detail of the first run's warning about candidates without a verdict. */
async function readUnjudgedWarning(t: RunsTest): Promise<string | undefined> {
  const [run] = await t.select<{ warnings: string }>`select warnings from runs order by due_at, id limit 1`;
  const warnings = JSON.parse(run!.warnings) as { code: string; detail: string }[];
  return warnings.find(({ code }) => code === 'raised_unjudged')?.detail;
}

test('raises every candidate of a window at its slot, and asks questions about few', async () => {
  const t = await startRuns(testDb, firstHourOnly(users(620)));
  await t.newDetection();
  await t.runAt(hour(1));
  const steps = await t.select<{ body: string }>`select body from run_steps`;
  expect(new Set(steps.map(({ body }) => (JSON.parse(body) as { entity: string }).entity)).size).toBe(5);
  const [run] = await t.select<{ warnings: string }>`select warnings from runs`;
  expect(run!.warnings).toContain('follow_ups_limited');
  expect(await countCandidates(t)).toEqual({ judged: 620 });
  expect(await t.select`select status, hit_count, triggered from runs`).toEqual([
    { status: 'completed', hit_count: 620, triggered: true },
  ]);
});

/** A judge whose budget allows `budget` verdicts. `dismisses` lists entities that it calls harmless. */
function budgetedJudge(budget: number, dismisses: string[] = []): Judge & { asked: string[] } {
  const asked: string[] = [];
  return {
    model: 'scripted',
    instant: false,
    entitiesAtOnce: 3,
    asked,
    judge: async (candidate) => {
      if (asked.length >= budget) throw budgetExceededError('The budget of 9 tokens per run is used up.');
      asked.push(candidate.entity);
      const conclusion = dismisses.includes(candidate.entity) ? dismissed : {};
      return judgedAs(candidate, { ...conclusion, confidence: 42, summary: 'As planned.' });
    },
  };
}

const severityRows = ['low', 'high', 'medium', 'critical', 'medium'].map((severity, i) => ({
  _id: `s${i}`,
  user: `${severity}${i}`,
  action: 'login',
  severity,
}));

test('spends a budget on the most severe candidates, raises the others unjudged, and judges them in a later run', async () => {
  const t = await startRuns(testDb, firstHourOnly(severityRows));
  await t.newDetection();
  const first = budgetedJudge(2);
  await t.runAt(hour(1), first);
  expect(first.asked).toEqual(['critical3', 'high1']);
  const listHits = () =>
    t.select`select entity, judged, unjudged_reason as reason, status, confidence = 42 as model from hits order by entity`;
  const unjudged = { judged: false, reason: 'budget_exceeded', status: 'open', model: false };
  const judged = { judged: true, reason: null, status: 'open', model: true };
  expect(await listHits()).toEqual([
    { entity: 'critical3', ...judged },
    { entity: 'high1', ...judged },
    { entity: 'low0', ...unjudged },
    { entity: 'medium2', ...unjudged },
    { entity: 'medium4', ...unjudged },
  ]);
  expect(await t.select`select status, hit_count from runs`).toEqual([{ status: 'completed', hit_count: 5 }]);
  expect(await readUnjudgedWarning(t)).toMatch(/^3 candidates were raised .*tokens per run/);
  await t.select`update hits set status = 'true_positive' where entity = 'low0'`;
  const second = budgetedJudge(9, ['medium4']);
  await t.runAt(hour(2), second);
  // A hit that a person has reviewed is not judged any more.
  expect(second.asked).toEqual(['medium2', 'medium4']);
  expect(await listHits()).toMatchObject([
    judged,
    judged,
    { entity: 'low0', ...unjudged, status: 'true_positive' },
    { entity: 'medium2', ...judged },
    { entity: 'medium4', judged: true, reason: null, status: 'outdated' },
  ]);
  expect(await t.select`select model_disagrees as why, revision from hits where entity = 'medium4'`).toEqual([
    { why: 'As planned.', revision: 2 },
  ]);
  expect(await t.select`select from_status, to_status, key_id, reason from hit_changes`).toEqual([
    { from_status: 'open', to_status: 'outdated', key_id: null, reason: 'Judged later: As planned.' },
  ]);
  const third = budgetedJudge(9);
  await t.runAt(hour(3), third);
  expect(third.asked).toEqual([]);
});

test('judges the later occurrences of a hit that a later verdict dismisses', async () => {
  let rows = 2;
  const t = await startRuns(testDb, ({ window }) =>
    Array.from({ length: rows }, (_, i) => ({
      _id: `${window.from.toISOString()}-${i}`,
      user: 'ann',
      action: 'login',
    })),
  );
  await t.newDetection();
  await t.runAt(hour(1), budgetedJudge(0));
  await t.runAt(hour(2), budgetedJudge(0));
  rows = 20;
  await t.runAt(hour(3), budgetedJudge(0));
  expect(await t.select`select judged, occurrences from hits`).toEqual([{ judged: false, occurrences: 3 }]);
  rows = 0;
  const counts: number[] = [];
  const judge: Judge = {
    model: 'scripted',
    instant: false,
    judge: async (candidate) => {
      counts.push(candidate.rows.length);
      return judgedAs(candidate, candidate.rows.length > 10 ? {} : dismissed);
    },
  };
  await t.runAt(hour(4), judge);
  // The second window is no stronger than the dismissed one. The third is.
  expect(counts).toEqual([2, 20]);
  expect(await t.select`select judged, status, window_from from hits order by window_from`).toEqual([
    { judged: true, status: 'outdated', window_from: new Date(hour(0)) },
    { judged: true, status: 'open', window_from: new Date(hour(2)) },
  ]);
  expect(await countCandidates(t)).toEqual({ judged: 2, suppressed: 1 });
});

test.each(['invalid_verdict', 'model_refused', 'model_bad_request', 'too_many_steps'])(
  'raises a candidate from its facts after %s and judges the others',
  async (kind) => {
    const t = await startRuns(testDb, firstHourOnly(users(7)));
    await t.newDetection();
    const good = budgetedJudge(99);
    const judge: Judge = {
      ...good,
      judge: async (candidate, signal) => {
        if (candidate.entity.endsWith('3'))
          throw upstreamModelError(kind, `It is ${kind}.`, { retryable: false, pauses: false });
        return good.judge(candidate, signal);
      },
    };
    await t.runAt(hour(1), judge);
    expect(await t.select`select entity, unjudged_reason from hits where not judged`).toEqual([
      { entity: 'user0003', unjudged_reason: kind },
    ]);
    expect(await t.select`select status, hit_count, attempt from runs`).toEqual([
      { status: 'completed', hit_count: 7, attempt: 1 },
    ]);
    expect(await readUnjudgedWarning(t)).toContain(`It is ${kind}.`);
    await t.runAt(hour(2), good);
    expect(good.asked).toHaveLength(6);
  },
);

test('gives up on a candidate that fails twice while the judge responds, without waiting for it', async () => {
  const t = await startRuns(testDb, firstHourOnly(users(5)));
  await t.newDetection();
  let tries = 0;
  const good = budgetedJudge(99);
  const judge: Judge = {
    ...good,
    responds: () => Promise.resolve(true),
    judge: async (candidate, signal) => {
      if (!candidate.entity.endsWith('2')) return good.judge(candidate, signal);
      tries += 1;
      throw upstreamModelError('model_timeout', 'No answer in time.', { retryable: true, pauses: true });
    },
  };
  await t.tryAt(hour(1), judge);
  expect(await countCandidates(t)).toEqual({ judged: 4, pending: 1 });
  await t.select`update run_queue set retry_at = null`;
  await t.runAt(hour(1), judge);
  expect(tries).toBe(2);
  expect(await t.select`select status, hit_count from runs`).toEqual([{ status: 'completed', hit_count: 5 }]);
  expect(await t.select`select unjudged_reason from hits where not judged`).toEqual([
    { unjudged_reason: 'model_timeout' },
  ]);
});

test('stops asking a judge that is unavailable, and raises all candidates when the run has no attempt left', async () => {
  const t = await startRuns(testDb, firstHourOnly(users(130)));
  await t.newDetection();
  let tries = 0;
  const judge: Judge = {
    model: 'scripted',
    instant: false,
    judge: () => {
      tries += 1;
      return Promise.reject(upstreamModelError('model_unavailable', 'No route.', { retryable: true, pauses: true }));
    },
  };
  for (let attempt = 1; attempt <= 5; attempt++) {
    await t.tryAt(hour(1), judge);
    expect(await countCandidates(t)).toEqual({ pending: 130 });
    await t.select`update run_queue set retry_at = null`;
  }
  await t.tryAt(hour(1), judge);
  expect(tries).toBe(18);
  expect(await countCandidates(t)).toEqual({ raised: 130 });
  expect(await t.select`select status, hit_count from runs`).toEqual([{ status: 'failed', hit_count: 130 }]);
  expect(await t.select`select distinct judged, unjudged_reason from hits`).toEqual([
    { judged: false, unjudged_reason: 'model_unavailable' },
  ]);
});

test('judges side by side within the limit, with the same results as one after the other', async () => {
  const results: unknown[] = [];
  for (const entitiesAtOnce of [1, 5]) {
    const t = await startRuns(testDb, firstHourOnly(users(23)));
    await t.newDetection();
    let active = 0;
    let mostActive = 0;
    const judge: Judge = {
      model: 'scripted',
      instant: false,
      entitiesAtOnce,
      judge: async (candidate) => {
        mostActive = Math.max(mostActive, ++active);
        const n = Number(candidate.entity.slice(-2));
        // Later ones answer sooner.
        for (let i = 30 - n; i > 0; i--) await new Promise(setImmediate);
        active -= 1;
        return judgedAs(candidate, { ...(n % 3 > 0 ? {} : dismissed), confidence: n });
      },
    };
    await t.runAt(hour(1), judge);
    expect(mostActive).toBe(entitiesAtOnce);
    results.push([
      await t.select`select entity, confidence, judged, status from hits order by entity`,
      await t.select`select entity, state, verdict from candidates order by entity`,
      await t.select`select hit_count, status, triggered from runs`,
    ]);
  }
  expect(results[1]).toEqual(results[0]);
});

test('does not judge the candidates of another active run', async () => {
  const t = await startRuns(testDb, ({ window }) => users(2, window.clock));
  const id = await t.newDetection({ suppressionMinutes: 0 });
  t.time.now = new Date(hour(0));
  const { runId } = await requestRun(t.deps, t.caller, id, { from: hour(-3), to: hour(-2) });
  await t.tryAt(hour(0), slowJudge(0));
  await t.select`update run_queue set retry_at = 'infinity'`;
  expect(await countCandidates(t)).toEqual({ pending: 2 });
  await t.tryAt(hour(1), slowJudge());
  expect(await countCandidates(t)).toEqual({ judged: 2, pending: 2 });
  await t.select`update run_queue set retry_at = null`;
  await t.runAt(hour(1), slowJudge());
  const [run] = await t.select<{ hit_count: number }>`select hit_count from runs where id = ${runId}`;
  expect(run?.hit_count).toBe(2);
});
