import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sql } from 'kysely';
import { inOrg, rows } from '../../src/platform/db/db.ts';
import { enqueueDueRunsAcrossOrgs } from '../../src/detection/scheduling/enqueue-runs.ts';
import { startApp, type TestOrg } from '../support/harness.ts';
import { asked } from '../support/detection/detection-factory.ts';
import { lifeCommands, seeds, type Model, type Real } from '../support/detection/life-cycle-commands.ts';
import type { Entry } from '../support/detection/life-cycle-model.ts';

let now = Date.parse('2026-03-04T10:20:30.400Z');
const { newOrg, deps } = await startApp({ clock: () => new Date(now) });

async function pass(ms: number): Promise<void> {
  now += ms;
  const planning = { now: new Date(now), spreadMs: 0, limit: 500 };
  while ((await enqueueDueRunsAcrossOrgs(deps.db, planning)).more);
}

test('any walk of two organizations through the life cycle is the walk of the model', async () => {
  await fc.assert(
    fc.asyncProperty(lifeCommands, async (commands) => {
      const orgs: Real['orgs'] = [await newOrg(), await newOrg()];
      // A minute of its own: a second a step comes to no slot.
      now = Math.ceil(now / 3_600_000) * 3_600_000 + 20 * 60_000;
      const model: Model = { entries: [[], []] };
      await fc.asyncModelRun(() => ({ model, real: { orgs, now: () => now, pass } }), [...seeds, ...commands]);
      for (const [index, org] of orgs.entries()) await compare(org, model.entries[index]!);
    }),
    { numRuns: 20, endOnFailure: true },
  );
}, 300_000);

/** The lists hold exactly what they are to hold, in their order, and beneath them runs and time lines are as they have to be. */
async function compare(org: TestOrg, entries: Entry[]): Promise<void> {
  const newest = entries.toReversed();
  const records = (some: Entry[]): unknown[] => some.map(({ record }) => record);
  const live = newest.filter(({ visible }) => visible.deletedAt === null);
  const [open, own] = [live.filter((one) => one.visible.isSuggestion), live.filter((one) => !one.visible.isSuggestion)];
  const dismissed = newest
    .filter(({ visible }) => visible.deletedAt !== null && visible.isSuggestion)
    .toSorted((a, b) => b.visible.deletedAt!.localeCompare(a.visible.deletedAt!));
  expect((await asked(org, 'GET', '/api/detections')).detections).toEqual(records(own));
  expect((await asked(org, 'GET', '/api/detections/suggestions?limit=200')).suggestions).toEqual(records(open));
  expect((await asked(org, 'GET', '/api/detections/suggestions/dismissed')).suggestions).toEqual(records(dismissed));
  for (const { id, record } of entries) expect(await asked(org, 'GET', `/api/detections/${id}`)).toEqual(record);
  for (const entry of entries) {
    const name = entry.visible.name;
    expect([name, await queueOf(org, entry.id)]).toEqual([name, waiting(entry)]);
    expect([name, await linesOf(org, entry.id)]).toEqual([name, entry.line ? [lineOf(entry)] : []]);
    expect([name, await holesOf(org, entry.id)]).toEqual([name, []]);
  }
}

const waiting = ({ manual, line }: Entry): string[] => [...(manual ? ['manual'] : []), ...(line?.queued ? ['schedule'] : [])]; // prettier-ignore

const select = <T>(org: TestOrg, statement: ReturnType<typeof sql<T>>): Promise<T[]> =>
  inOrg(deps.db, org.id, (tx) => rows(tx, statement));

/** What waits, if its run rows say the same: whatever else was asked for or due is cancelled. */
async function queueOf(org: TestOrg, id: string): Promise<string[]> {
  const queued = await select(
    org,
    sql<{ kind: string }>`select kind from run_queue where detection_id = ${id} order by 1`,
  );
  const shown = await select(
    org,
    sql<{
      kind: string;
    }>`select trigger as kind from runs where detection_id = ${id} and status <> 'cancelled' order by 1`,
  );
  expect(shown).toEqual(queued);
  return queued.map(({ kind }) => kind);
}

function lineOf({ line }: Entry): unknown {
  const { active, start, boundary, gaps } = line!;
  return {
    active,
    from: new Date(start),
    to: new Date(boundary),
    gaps: gaps.map(({ from, to, reason }) => ({ from: at(from), to: at(to), reason })),
  };
}

const at = (ms: number): string => new Date(ms).toISOString();

async function linesOf(org: TestOrg, id: string): Promise<unknown[]> {
  const found = await select(
    org,
    sql<{ active: boolean; from: Date; to: Date }>`
      select active, coverage_from as "from", boundary_at as "to" from schedules where detection_id = ${id}`,
  );
  const gaps = await select(
    org,
    sql<{ from: Date; to: Date; reason: string }>`select gap_from as "from", gap_to as "to", reason from gaps
      where detection_id = ${id} and reason in ('disabled', 'deleted') order by gap_from`,
  );
  return found.map((line) => ({
    ...line,
    gaps: gaps.map(({ from, to, reason }) => ({ from: from.toISOString(), to: to.toISOString(), reason })),
  }));
}

/** Where windows that wait and gaps do not follow on each other without a hole, from the start of coverage to the end of what is planned. */
function holesOf(org: TestOrg, id: string): Promise<unknown[]> {
  return select(
    org,
    sql`with parts as (
        select window_from as "from", window_to as "to" from pending_windows where detection_id = ${id}
        union all select gap_from, gap_to from gaps where detection_id = ${id}
        union all select coverage_from, coverage_from from schedules where detection_id = ${id}
        union all select boundary_at, boundary_at from schedules where detection_id = ${id}
      ), neighbours as (select "to", lead("from") over (order by "from", "to") as next from parts)
      select * from neighbours where next <> "to"`,
  );
}
