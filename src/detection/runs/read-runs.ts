import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import {
  readPageRequest,
  toPage,
  type PageQuery,
  readTimeRange,
  invalidCursor,
} from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { listGaps } from '../scheduling/gaps.store.ts';
import { getDetectionState, findRun, listRuns, findTimeLine, listWindows } from './run-model/runs.store.ts';
import { toRunRecord } from './run-model/run-record.ts';
import type { GapList, Run, RunList } from './run-model/runs.schema.ts';
import { type Clock, withIsoTimes } from '../../platform/lib/time/clock.ts';
import type { WindowList, WindowsQuery, RunStep, StepList } from './run-model/run-details.schema.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { listSteps, type StepPosition } from './run-model/run-results.store.ts';

type ReadRunsDeps = { db: Db };

export async function getRun({ db }: ReadRunsDeps, caller: Caller, id: string): Promise<Run> {
  const row = await inOrg(db, caller.orgId, (tx) => findRun(tx, caller.orgId, id));
  if (!row) throw appError('not_found', `Run ${id} not found.`);
  return toRunRecord(row);
}

/** Returns a page of the runs of a detection, deleted or not, newest first by slot or time of request. */
export async function getRuns(
  { db }: ReadRunsDeps,
  caller: Caller,
  detectionId: string,
  query: PageQuery,
): Promise<RunList> {
  const request = readPageRequest(query);
  const rows = await inOrg(db, caller.orgId, async (tx) => {
    await getDetectionState(tx, caller.orgId, detectionId);
    return listRuns(tx, caller.orgId, detectionId, request);
  });
  const { page, nextCursor } = toPage(rows, request.limit, (row) => ({ at: row.dueAt, id: row.id }));
  return { runs: page.map(toRunRecord), nextCursor };
}

/** Returns a page of the gaps of a detection, the time that no run examined, latest first. */
export async function getGaps(
  { db }: ReadRunsDeps,
  caller: Caller,
  detectionId: string,
  query: PageQuery,
): Promise<GapList> {
  const request = readPageRequest(query);
  const rows = await inOrg(db, caller.orgId, async (tx) => {
    await getDetectionState(tx, caller.orgId, detectionId);
    return listGaps(tx, { orgId: caller.orgId, detectionId }, request);
  });
  const { page, nextCursor } = toPage(rows, request.limit, (gap) => ({ at: gap.from, id: gap.id }));
  const gaps = page.map((gap) => ({
    ...withIsoTimes(gap),
  }));
  return { gaps, nextCursor };
}

const windowsMax = 2000;

/** Returns the time line of a detection, deleted or not: what was examined, what waits, and what was not examined. */
export async function getWindows(
  { db, clock }: { db: Db; clock: Clock },
  { orgId }: Caller,
  detectionId: string,
  query: WindowsQuery,
): Promise<WindowList> {
  const range = readTimeRange(query, { now: clock(), defaultDays: 30, maxDays: 366 });
  return inOrg(db, orgId, async (tx) => {
    await getDetectionState(tx, orgId, detectionId);
    const key = { orgId, detectionId };
    const timeLine = await findTimeLine(tx, key);
    const rows = await listWindows(tx, key, { ...range, limit: windowsMax + 1 });
    const windows = rows.slice(0, windowsMax).toReversed();
    return {
      from: range.from.toISOString(),
      to: range.to.toISOString(),
      coverageFrom: timeLine?.coverageFrom.toISOString() ?? null,
      plannedTo: timeLine?.plannedTo.toISOString() ?? null,
      nextRunAt: timeLine?.nextRunAt?.toISOString() ?? null,
      windows: windows.map((window) => ({
        ...withIsoTimes(window),
      })),
      isComplete: rows.length <= windowsMax,
    };
  });
}

/** Returns a page of the model and tool steps of a run, in order. A run that the analyst judged has no steps. */
export async function getSteps({ db }: { db: Db }, caller: Caller, id: string, query: PageQuery): Promise<StepList> {
  return inOrg(db, caller.orgId, async (tx) => {
    if (!(await findRun(tx, caller.orgId, id))) throw appError('not_found', `Run ${id} not found.`);
    return listStepPage(tx, caller.orgId, id, query);
  });
}

/** Returns a page of steps. The caller has checked that the run exists. Throws a field error for an invalid cursor. */
export async function listStepPage(tx: Tx, orgId: OrgId, runId: string, query: PageQuery): Promise<StepList> {
  const after = query.cursor === undefined ? null : decodeStepCursor(query.cursor);
  const { limit } = readPageRequest(query.limit === undefined ? {} : { limit: query.limit });
  const found = await listSteps(tx, orgId, runId, { after, limit });
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  const steps = page.map(({ attempt, n, body }) => ({
    attempt,
    n,
    ...(JSON.parse(body) as Omit<RunStep, 'attempt' | 'n'>),
  }));
  return { steps, nextCursor: last ? encodeStepCursor(last) : null };
}

const encodeStepCursor = ({ attempt, n }: StepPosition): string => Buffer.from(`${attempt}.${n}`).toString('base64url');

function decodeStepCursor(cursor: string): StepPosition {
  const match = /^(\d{1,6})\.(\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match) throw invalidCursor();
  return { attempt: Number(match[1]), n: Number(match[2]) };
}
