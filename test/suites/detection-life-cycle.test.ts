import fc from 'fast-check';
import { expect, test } from 'vitest';
import { enqueueDueRunsAcrossOrgs } from '../../src/detection/scheduling/enqueue-runs.ts';
import { selectIn } from '../support/select-rows.ts';
import { startApp, type TestOrg } from '../support/harness.ts';
import { callOk } from '../support/detection/detection-factory.ts';
import {
  lifeCycleCommands,
  seedCommands,
  type OrgModels,
  type RealOrgs,
} from '../support/detection/life-cycle-commands.ts';
import type { DetectionModel } from '../support/detection/life-cycle-model.ts';

let now = Date.parse('2026-03-04T10:20:30.400Z');
const { newOrg, deps } = await startApp({ clock: () => new Date(now) });

async function advance(ms: number): Promise<void> {
  now += ms;
  const planning = { now: new Date(now), spreadMs: 0, limit: 500 };
  while ((await enqueueDueRunsAcrossOrgs(deps.db, planning)).more);
}

test('two organizations follow the model through any sequence of life-cycle commands', async () => {
  await fc.assert(
    fc.asyncProperty(lifeCycleCommands, async (commands) => {
      const orgs: RealOrgs['orgs'] = [await newOrg(), await newOrg()];
      // The clock advances one second per step, so no slot becomes due.
      now = Math.ceil(now / 3_600_000) * 3_600_000 + 20 * 60_000;
      const model: OrgModels = { entries: [[], []] };
      await fc.asyncModelRun(
        () => ({ model, real: { orgs, now: () => now, advance } }),
        [...seedCommands, ...commands],
      );
      for (const [index, org] of orgs.entries()) await compare(org, model.entries[index]!);
    }),
    { numRuns: 10, endOnFailure: true },
  );
}, 300_000);

/** Checks that the lists contain exactly the expected records in order, and that runs and time lines are consistent. */
async function compare(org: TestOrg, entries: DetectionModel[]): Promise<void> {
  const newest = entries.toReversed();
  const toRecords = (some: DetectionModel[]): unknown[] => some.map(({ record }) => record);
  const live = newest.filter(({ visible }) => visible.deletedAt === null);
  const suggestions = live.filter(({ visible }) => visible.isSuggestion);
  const detections = live.filter(({ visible }) => !visible.isSuggestion);
  const dismissed = newest
    .filter(({ visible }) => visible.deletedAt !== null && visible.isSuggestion)
    .toSorted((a, b) => b.visible.deletedAt!.localeCompare(a.visible.deletedAt!));
  expect((await callOk(org, 'GET', '/api/detections')).detections).toEqual(toRecords(detections));
  expect((await callOk(org, 'GET', '/api/detections/suggestions?limit=200')).suggestions).toEqual(
    toRecords(suggestions),
  );
  expect((await callOk(org, 'GET', '/api/detections/suggestions/dismissed')).suggestions).toEqual(toRecords(dismissed));
  for (const { id, record } of entries) expect(await callOk(org, 'GET', `/api/detections/${id}`)).toEqual(record);
  for (const entry of entries) {
    const name = entry.visible.name;
    expect([name, await readQueue(org, entry.id)]).toEqual([name, expectedQueue(entry)]);
    expect([name, await readTimeLines(org, entry.id)]).toEqual([name, entry.timeLine ? [expectedTimeLine(entry)] : []]);
    expect([name, await findHoles(org, entry.id)]).toEqual([name, []]);
  }
}

const expectedQueue = ({ hasManualRun, timeLine }: DetectionModel): string[] => [
  ...(hasManualRun ? ['manual'] : []),
  ...(timeLine?.queued ? ['schedule'] : []),
];

/** Returns the queued runs and checks that the run rows agree: every other requested or due run is cancelled. */
async function readQueue(org: TestOrg, id: string): Promise<string[]> {
  const select = selectIn(deps.db, org.id);
  const queued = await select<{ kind: string }>`select kind from run_queue where detection_id = ${id} order by 1`;
  const shown = await select<{
    kind: string;
  }>`select trigger as kind from runs where detection_id = ${id} and status <> 'cancelled' order by 1`;
  expect(shown).toEqual(queued);
  return queued.map(({ kind }) => kind);
}

function expectedTimeLine({ timeLine }: DetectionModel): unknown {
  const { active, start, boundary, gaps } = timeLine!;
  return {
    active,
    from: new Date(start),
    to: new Date(boundary),
    gaps: gaps.map(({ from, to, reason }) => ({ from: toIso(from), to: toIso(to), reason })),
  };
}

const toIso = (ms: number): string => new Date(ms).toISOString();

async function readTimeLines(org: TestOrg, id: string): Promise<unknown[]> {
  const select = selectIn(deps.db, org.id);
  const found = await select<{ active: boolean; from: Date; to: Date }>`
      select active, coverage_from as "from", boundary_at as "to" from schedules where detection_id = ${id}`;
  const gaps = await select<{ from: Date; to: Date; reason: string }>`
      select gap_from as "from", gap_to as "to", reason from gaps
      where detection_id = ${id} and reason in ('disabled', 'deleted') order by gap_from`;
  return found.map((timeLine) => ({
    ...timeLine,
    gaps: gaps.map(({ from, to, reason }) => ({ from: from.toISOString(), to: to.toISOString(), reason })),
  }));
}

/** Returns the places where covered, pending and gap time leave a hole or overlap between the start of coverage and the last planned window. */
function findHoles(org: TestOrg, id: string): Promise<unknown[]> {
  return selectIn(deps.db, org.id)`with parts as (
        select window_from as "from", window_to as "to" from pending_windows where detection_id = ${id}
        union all select gap_from, gap_to from gaps where detection_id = ${id}
        union all select coverage_from, coverage_from from schedules where detection_id = ${id}
        union all select boundary_at, boundary_at from schedules where detection_id = ${id}
      ), adjacent as (select "to", lead("from") over (order by "from", "to") as next from parts)
      select * from adjacent where next <> "to"`;
}
