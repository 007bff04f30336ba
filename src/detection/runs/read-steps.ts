import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { invalidCursor, readPageRequest, type PageQuery } from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { findRun } from './read-runs.store.ts';
import type { RunStep, StepList } from './run-details.schema.ts';
import { listSteps, type StepPosition } from './steps.store.ts';

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
