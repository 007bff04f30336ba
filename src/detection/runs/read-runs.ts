import { inOrg, type Db } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import { readPageRequest, toPage, type PageQuery } from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { listGaps } from '../scheduling/coverage/gaps.store.ts';
import { getDetectionState } from './detection-state.store.ts';
import { findRun, listRuns } from './read-runs.store.ts';
import { toRunRecord } from './run-record.ts';
import type { GapList, Run, RunList } from './runs.schema.ts';

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
    ...gap,
    from: gap.from.toISOString(),
    to: gap.to.toISOString(),
    createdAt: gap.createdAt.toISOString(),
  }));
  return { gaps, nextCursor };
}
