import { inOrg, type Db, type Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import {
  invalidCursor,
  plainIdPattern,
  readPageRequest,
  toPage,
  type PageQuery,
} from '../../../platform/lib/page-request.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import type { AgentView } from '../record/detection-row.ts';
import { readDetection } from '../require-detection.ts';
import type { DetectionKey } from '../../scheduling/detection-key.ts';

export type HistoryDeps = { db: Db; clock: Clock };

/** Runs `work` for a detection or suggestion, deleted or not. Throws 404 for any other id. */
export function readHistory<T>(
  { db, clock }: HistoryDeps,
  caller: Caller,
  id: string,
  work: (tx: Tx, agent: AgentView, key: DetectionKey) => Promise<T>,
): Promise<T> {
  const { orgId } = caller;
  return inOrg(db, orgId, async (tx) => {
    const agent = await readDetection(tx, { orgId, now: clock() }, id);
    return work(tx, agent, { orgId, detectionId: id });
  });
}

/** Returns a page of numbered versions or revisions, highest number first. */
export async function listNumbered<Row extends { createdAt: Date }>(
  query: PageQuery,
  numberOf: (row: Row) => number,
  list: (page: { below: number | null; limit: number }) => Promise<Row[]>,
): Promise<{ page: Row[]; nextCursor: string | null }> {
  const { limit, after } = readPageRequest(query, plainIdPattern);
  const below = after === null ? null : Number(after.id);
  if (below !== null && !(Number.isInteger(below) && below > 0 && below < 2 ** 31)) throw invalidCursor();
  const found = await list({ below, limit: limit + 1 });
  return toPage(found, limit, (row) => ({ at: row.createdAt, id: String(numberOf(row)) }));
}
