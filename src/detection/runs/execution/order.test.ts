import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { startRuns, type ScriptedSearch, type RunsTest } from '../../../../test/support/detection/scripted-runs.ts';
import type { QueryRow } from '../../siem/connector.ts';

const testDb = await testDatabase();
const hours = 16;
const categories = ['first_occurrence', 'baseline_anomaly', 'sequence_pattern', 'custom'] as const;
const at = (n: number): Date => new Date(Date.UTC(2026, 2, 2, n));

/** The rows of each detection's query in each hour. Hours before 0 are in the past. */
const answer: ScriptedSearch = ({ query, window }) => {
  const n = Math.round((window.from.getTime() - at(0).getTime()) / 3_600_000);
  const seed = [...query].reduce((sum, char) => sum * 31 + char.charCodeAt(0), 7);
  const row = (i: number, more: QueryRow): QueryRow => ({
    _id: `${query}/${n}/${i}`,
    _time: window.from.toISOString(),
    ...more,
  });
  if (query.includes('sequence'))
    return n >= 0 && n % 3 < 2 ? [row(0, { user: 'eve', step: (n % 3) + 1, steps: 2 })] : [];
  const count = query.includes('baseline') ? (n === 9 ? 90 : 5 + ((seed + n * n) % 4)) : 2;
  return [
    row(0, { user: 'ann', count, country: n === 11 ? 'KP' : 'DE' }),
    row(1, { user: n === 12 ? 'bob' : 'joe', count: 4, country: 'DE' }),
  ];
};

/** All results that must not depend on the order of execution, without IDs and times of execution. */
async function results(t: RunsTest, ids: string[]): Promise<unknown> {
  const order = sql`array_position(${ids}::uuid[], detection_id)`;
  const memory =
    await t.select`select ${order} as d, key, entity, window_from, number, value from memory order by 1, 2, 3, 4`;
  const windows = await t.select`select ${order} as d, window_from, window_to from memory_windows order by 1, 2`;
  const hits =
    await t.select`select ${order} as d, entity, kind, severity, headline, evidence, occurrences, window_from, last_seen_at from hits order by 1, 2, window_from`;
  const covered = await t.select`select ${order} as d, covered_from, covered_to from coverage order by 1, 2`;
  return JSON.stringify({ memory, windows, hits, covered });
}

async function play(
  steps: { hour: number; places: number }[],
): Promise<{ results: unknown; hits: number; t: RunsTest }> {
  const t = await startRuns(testDb, answer);
  t.siem.firstEventAt = () => Promise.resolve(at(-30));
  const ids: string[] = [];
  for (const detectionCategory of categories) {
    // The analyst's questions find what is known at the time, so they are left out.
    const planningMode = 'never';
    const detectionQuery = detectionCategory;
    ids.push(await t.newDetection({ detectionCategory, detectionQuery, planningMode, lookbackMinutes: 100 * 60 }));
  }
  for (const { hour, places } of steps) await t.runAt(at(hour), undefined, places);
  const [count] = await t.select<{ n: number }>`select count(*) as n from hits`;
  return { results: await results(t, ids), hits: count!.n, t };
}

test('ends with the same memory, hits and coverage for any batching of slots and any concurrency', async () => {
  const straight = await play(Array.from({ length: hours }, (_, n) => ({ hour: n + 1, places: 1 })));
  expect(straight.hits).toBeGreaterThan(6);
  const stops = fc.uniqueArray(fc.integer({ min: 1, max: hours - 1 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(stops, fc.integer({ min: 1, max: 4 }), async (some, places) => {
      const steps = [...some.toSorted((a, b) => a - b), hours].map((hour) => ({ hour, places }));
      expect((await play(steps)).results).toBe(straight.results);
    }),
    { numRuns: 6, endOnFailure: true },
  );
});

test('keeps a daily roll-up that equals a recount of the runs, and reports it in records', async () => {
  const { t } = await play([3, 4, 5, 9, 12, 13, 16].map((hour) => ({ hour, places: 2 })));
  const recount = await t.select`
    select detection_id, finished_at::date as day, count(*) as runs, count(*) filter (where triggered) as triggered,
      coalesce(sum(score), 0) as score_sum, count(score) as scores
    from runs where status in ('completed', 'failed') group by 1, 2 order by 1, 2`;
  const rolledUp = await t.select`
    select detection_id, day, sum(runs) as runs, sum(triggered) as triggered, sum(score_sum) as score_sum, sum(scores) as scores
    from run_days group by 1, 2 order by 1, 2`;
  expect(rolledUp).toEqual(recount);
  expect(recount).toHaveLength(categories.length);
});
