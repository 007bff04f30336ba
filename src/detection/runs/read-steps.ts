import { inOrg, type Tx } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { pageRequest, type PageQuery } from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import type { RunStep, StepList } from './run-details.schema.ts';
import { findRun } from './read-runs.store.ts';
import { listSteps } from './steps.store.ts';

/** What models and tools did in a run, in order. A run that the analyst judged has none. */
export async function getSteps(
  { db }: Pick<Deps, 'db'>,
  caller: Caller,
  id: string,
  query: PageQuery,
): Promise<StepList> {
  return inOrg(db, caller.orgId, async (tx) => {
    if (!(await findRun(tx, caller.orgId, id))) throw appError('not_found', `Run ${id} not found.`);
    return pageOfSteps(tx, caller.orgId, id, query);
  });
}

/** A page of the steps of a run that is known to be the organization's. 400 for a cursor that none gave. */
export async function pageOfSteps(tx: Tx, orgId: OrgId, runId: string, query: PageQuery): Promise<StepList> {
  const after = query.cursor === undefined ? null : markOf(query.cursor);
  const { limit } = pageRequest(query.limit === undefined ? {} : { limit: query.limit });
  const found = await listSteps(tx, orgId, runId, { after, limit });
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  return {
    steps: page.map(({ attempt, n, body }) => ({
      attempt,
      n,
      ...(JSON.parse(body) as Omit<RunStep, 'attempt' | 'n'>),
    })),
    nextCursor: last ? Buffer.from(`${last.attempt}.${last.n}`).toString('base64url') : null,
  };
}

function markOf(cursor: string): { attempt: number; n: number } {
  const match = /^(\d{1,6})\.(\d{1,9})$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match)
    throw fieldError('query/cursor', 'invalid_cursor', 'cursor must be a nextCursor that an earlier page gave.');
  return { attempt: Number(match[1]), n: Number(match[2]) };
}
