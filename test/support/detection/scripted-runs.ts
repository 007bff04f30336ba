import { sql } from 'kysely';
import { pino } from 'pino';
import { acrossOrgs, inOrg, queryRows, type Db } from '../../../src/platform/db/db.ts';
import { createDetection } from '../../../src/detection/detections/create-detection.ts';
import type { CreateDetection } from '../../../src/detection/detections/record/detection-input.schema.ts';
import type { OrgId } from '../../../src/platform/lib/org-id.ts';
import { scopes, type Caller } from '../../../src/platform/orgs/caller.ts';
import type { Judge } from '../../../src/detection/runs/judging/judge.ts';
import type { ExecuteRunDeps } from '../../../src/detection/runs/execution/execute-run.ts';
import { executeDueRuns } from '../../../src/detection/runs/workers/execute-due-runs.ts';
import type { QueryWindow, Row, SearchResult, SiemConnection } from '../../../src/detection/siem/connector.ts';
import { newOrgId } from '../database.ts';

export type SiemRequest = { query: string; window: QueryWindow };
export type ScriptedSearch = (
  asked: SiemRequest,
  signal: AbortSignal,
) => Row[] | Partial<SearchResult> | Promise<Row[] | Partial<SearchResult>>;

/** A SIEM that answers as told, and keeps what it was asked. */
export function scriptedSiem(answer: ScriptedSearch): SiemConnection & { asked: SiemRequest[] } {
  const asked: SiemRequest[] = [];
  return {
    clock: 'ingest',
    delayMs: 0,
    asked,
    search: async (query, window, _limits, signal) => {
      asked.push({ query, window });
      const given = await answer({ query, window }, signal);
      const result = Array.isArray(given) ? { rows: given } : given;
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

/** Slot time that a test sets. */
export type TestTime = { now: Date };

export type RunsTest = {
  db: Db;
  url: string;
  orgId: OrgId;
  caller: Caller;
  time: TestTime;
  deps: ExecuteRunDeps;
  siem: ReturnType<typeof scriptedSiem>;
  newDetection: (input?: Partial<CreateDetection>) => Promise<string>;
  /** Sets slot time and executes all that is due. */
  runAt: (at: string | Date, judge?: Judge, concurrency?: number) => Promise<number>;
  /** As `runAt`, but leaves what waits for its next attempt. */
  tryAt: (at: string | Date, judge?: Judge) => Promise<number>;
  select: <T>(statement: ReturnType<typeof sql<T>>) => Promise<T[]>;
};

/** An organization with a scripted SIEM on a database that tests of one file share; what the one before left due is dropped. */
export async function startRuns(
  on: { db: Db; url: string },
  answer: ScriptedSearch,
  start = '2026-03-02T00:30:00Z',
): Promise<RunsTest> {
  const { db, url } = on;
  await acrossOrgs(db, async (tx) => {
    await sql`delete from run_queue`.execute(tx);
    await sql`delete from rechecks`.execute(tx);
    await sql`update schedules set active = false`.execute(tx);
  });
  const orgId = await newOrgId(db);
  const caller: Caller = { orgId, keyId: null, scopes: new Set(scopes) };
  const time = { now: new Date(start) };
  const siem = scriptedSiem(answer);
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
    runAt: (at, judge, concurrency = 2) => {
      time.now = new Date(at);
      return executeDueRuns(deps, time.now, { judge, concurrency });
    },
    tryAt: (at, judge) => {
      time.now = new Date(at);
      return executeDueRuns(deps, time.now, { judge, skipWaiting: true });
    },
    select: (statement) => inOrg(db, orgId, (tx) => queryRows(tx, statement)),
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
