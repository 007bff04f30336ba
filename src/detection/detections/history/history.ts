import { inOrg, type Tx } from '../../../platform/db/db.ts';
import type { Deps } from '../../../app/deps.ts';
import { fieldError } from '../../../platform/lib/errors.ts';
import { pageOf, pageRequest, plainMark, type PageQuery } from '../../../platform/lib/page-request.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import type { AgentView } from '../record/detection-row.ts';
import { detectionOr404 } from '../update-detection.ts';
import { findAgent } from '../detection-views.store.ts';

export type HistoryDeps = Pick<Deps, 'db' | 'clock'>;
export type HistoryRef = { orgId: Caller['orgId']; detectionId: string };

/** Reads the history of a detection or suggestion, deleted ones too; 404 for anything else. */
export function readHistory<T>(
  { db, clock }: HistoryDeps,
  caller: Caller,
  id: string,
  work: (tx: Tx, agent: AgentView, ref: HistoryRef) => Promise<T>,
): Promise<T> {
  const { orgId } = caller;
  return inOrg(db, orgId, async (tx) => {
    const agent = detectionOr404(await findAgent(tx, { orgId, now: clock() }, id), id);
    return work(tx, agent, { orgId, detectionId: id });
  });
}

/** A page of what is numbered, newest first. */
export async function numberedPage<Row extends { createdAt: Date }>(
  query: PageQuery,
  numberOf: (row: Row) => number,
  list: (page: { below: number | null; limit: number }) => Promise<Row[]>,
): Promise<{ page: Row[]; nextCursor: string | null }> {
  const { limit, after } = pageRequest(query, plainMark);
  const below = after === null ? null : Number(after.id);
  if (below !== null && !(Number.isInteger(below) && below > 0 && below < 2 ** 31))
    throw fieldError('query/cursor', 'invalid_cursor', 'cursor must be a nextCursor that an earlier page gave.');
  const found = await list({ below, limit: limit + 1 });
  return pageOf(found, limit, (row) => ({ at: row.createdAt, id: String(numberOf(row)) }));
}

export const authorOf = ({ keyId, keyName }: { keyId: string | null; keyName: string | null }) =>
  keyId === null ? null : { keyId, name: keyName };
