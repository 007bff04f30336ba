import { inOrg } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { appError } from '../../platform/lib/errors.ts';
import { pageOf, pageRequest, type PageQuery } from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { listGaps } from '../scheduling/gaps.store.ts';
import { findDetectionState, findRun, listRuns } from './read-runs.store.ts';
import { toRunRecord } from './run-record.ts';
import type { GapList, Run, RunList } from './runs.schema.ts';

type ReadDeps = Pick<Deps, 'db'>;

export async function getRun({ db }: ReadDeps, caller: Caller, id: string): Promise<Run> {
  const found = await inOrg(db, caller.orgId, (tx) => findRun(tx, caller.orgId, id));
  if (!found) throw appError('not_found', `Run ${id} not found.`);
  return toRunRecord(found);
}

/** Runs of a detection (deleted ones too), newest first: by the slot, or the time of request. */
export async function getRuns(
  { db }: ReadDeps,
  caller: Caller,
  detectionId: string,
  query: PageQuery,
): Promise<RunList> {
  const request = pageRequest(query);
  const found = await inOrg(db, caller.orgId, async (tx) => {
    if (!(await findDetectionState(tx, caller.orgId, detectionId))) throw noDetection(detectionId);
    return listRuns(tx, caller.orgId, detectionId, request);
  });
  const { page, nextCursor } = pageOf(found, request.limit, (row) => ({ at: row.due_at, id: row.id }));
  return { runs: page.map(toRunRecord), nextCursor };
}

/** Time of a detection that no run examined, latest first. */
export async function getGaps(
  { db }: ReadDeps,
  caller: Caller,
  detectionId: string,
  query: PageQuery,
): Promise<GapList> {
  const request = pageRequest(query);
  const found = await inOrg(db, caller.orgId, async (tx) => {
    if (!(await findDetectionState(tx, caller.orgId, detectionId))) throw noDetection(detectionId);
    return listGaps(tx, { orgId: caller.orgId, detectionId }, request);
  });
  const { page, nextCursor } = pageOf(found, request.limit, (gap) => ({ at: gap.from, id: gap.id }));
  const gaps = page.map((gap) => ({
    ...gap,
    from: gap.from.toISOString(),
    to: gap.to.toISOString(),
    createdAt: gap.createdAt.toISOString(),
  }));
  return { gaps, nextCursor };
}

const noDetection = (id: string) => appError('not_found', `Detection ${id} not found.`);
