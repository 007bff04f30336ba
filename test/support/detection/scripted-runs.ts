import { sql } from 'kysely';
import { pino } from 'pino';
import { acrossOrgs, type Db } from '../../../src/platform/db/db.ts';
import { createDetection } from '../../../src/detection/detections/create-detection.ts';
import { updateDetection } from '../../../src/detection/detections/update-detection.ts';
import type { CreateDetection } from '../../../src/detection/detections/record/detection-input.schema.ts';
import type { OrgId } from '../../../src/platform/lib/org-id.ts';
import { operatorOf, type Caller } from '../../../src/platform/http/caller.ts';
import type { Judge } from '../../../src/detection/runs/judging/judge.ts';
import type { ExecuteRunDeps } from '../../../src/detection/runs/execution/execute-run.ts';
import { executeDueRuns } from '../../../src/detection/runs/workers/run-loops.ts';
import type { QueryWindow, QueryRow, SearchResult, SiemConnection } from '../../../src/detection/siem/connector.ts';
import { newOrgId } from '../database.ts';
import { selectIn, type SelectRows } from '../select-rows.ts';

/** Returns the ISO text of hour `n` of 2 March 2026, UTC, the day on which scripted runs start. */
export const hour = (n: number): string => new Date(Date.UTC(2026, 2, 2) + n * 3_600_000).toISOString();

export type SiemRequest = { query: string; window: QueryWindow };
export type ScriptedSearch = (
  request: SiemRequest,
  signal: AbortSignal,
) => QueryRow[] | Partial<SearchResult> | Promise<QueryRow[] | Partial<SearchResult>>;

export type ScriptedSiem = SiemConnection & { requests: SiemRequest[] };

/** Creates a SIEM whose searches return what `search` returns. It records all requests. */
export function createScriptedSiem(search: ScriptedSearch): ScriptedSiem {
  const requests: SiemRequest[] = [];
  return {
    clock: 'ingest',
    delayMs: 0,
    requests,
    search: async (query, window, _limits, signal) => {
      requests.push({ query, window });
      const found = await search({ query, window }, signal);
      const result = Array.isArray(found) ? { rows: found } : found;
      return {
        rows: [],
        truncated: false,
        aggregate: false,
        noData: false,
        ms: 0,
        total: result.rows?.length ?? 0,
        ...result,
      };
    },
    check: () => Promise.resolve(),
    fields: () => Promise.resolve([]),
    ping: () => Promise.resolve(),
  };
}

/** Slot time, which a test sets. */
export type TestTime = { now: Date };

export type RunsTest = {
  db: Db;
  url: string;
  orgId: OrgId;
  caller: Caller;
  time: TestTime;
  deps: ExecuteRunDeps;
  siem: ScriptedSiem;
  newDetection: (input?: Partial<CreateDetection>) => Promise<string>;
  setEnabled: (id: string, enabled: boolean) => Promise<unknown>;
  /** Sets slot time and executes all due runs. */
  runAt: (at: string | Date, judge?: Judge, concurrency?: number) => Promise<number>;
  /** Like `runAt`, but does not wait for later attempts. */
  tryAt: (at: string | Date, judge?: Judge) => Promise<number>;
  /** Runs a statement as the organization and returns its rows. */
  select: SelectRows;
};

/** Creates an organization with a scripted SIEM. Tests of a file share the database, so runs that earlier tests left due are deleted. */
export async function startRuns(
  testDb: { db: Db; url: string },
  search: ScriptedSearch,
  start = hour(0.5),
): Promise<RunsTest> {
  const { db, url } = testDb;
  await acrossOrgs(db, async (tx) => {
    await sql`delete from run_queue`.execute(tx);
    await sql`delete from rechecks`.execute(tx);
    await sql`update schedules set active = false`.execute(tx);
  });
  const orgId = await newOrgId(db);
  const caller: Caller = operatorOf(orgId);
  const time = { now: new Date(start) };
  const siem = createScriptedSiem(search);
  const deps: ExecuteRunDeps = {
    db,
    clock: () => time.now,
    log: pino({ level: 'silent' }),
    connectionFor: () => Promise.resolve(siem),
  };
  return {
    db,
    url,
    orgId,
    caller,
    time,
    deps,
    siem,
    newDetection: async (input = {}) => (await createDetection(deps, caller, { ...newDetectionInput, ...input })).id,
    setEnabled: (id, enabled) => updateDetection(deps, caller, { id, input: { enabled } }),
    runAt: (at, judge, concurrency = 2) => {
      time.now = new Date(at);
      return executeDueRuns(deps, time.now, { judge, concurrency });
    },
    tryAt: (at, judge) => {
      time.now = new Date(at);
      return executeDueRuns(deps, time.now, { judge, skipWaiting: true });
    },
    select: selectIn(db, orgId),
  };
}

export const newDetectionInput: CreateDetection = {
  name: 'Root logs in',
  detectionCategory: 'custom',
  systemPrompt: 'Judge the sign-in.',
  detectionQuery: 'logins',
  detectionCadence: 'hourly',
  entityField: 'user',
};

/** Returns the numbers of candidates by state. */
export async function countCandidates(t: RunsTest): Promise<Record<string, number>> {
  const counts = await t.select<{
    state: string;
    n: number;
  }>`select state, count(*) as n from candidates group by state`;
  return Object.fromEntries(counts.map(({ state, n }) => [state, n]));
}
