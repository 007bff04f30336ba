import { inOrg } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { appError } from '../../platform/lib/errors.ts';
import { pageOf, pageRequest } from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { findHit, listHits, listOccurrences, type HitRow } from './read-hits.store.ts';
import type { Hit, HitDetail, HitFilter, HitList } from './hits.schema.ts';
import { listChanges } from './hit-status.store.ts';

const occurrencesMax = 200;

type ReadDeps = Pick<Deps, 'db'>;

/** Hits of all detections, newest first. */
export async function getHits({ db }: ReadDeps, caller: Caller, filter: HitFilter): Promise<HitList> {
  const request = pageRequest(filter);
  const { detection, status, severity, entity } = filter;
  const from = filter.from === undefined ? undefined : new Date(filter.from);
  const to = filter.to === undefined ? undefined : new Date(filter.to);
  const query = { detection, status, severity, entity, from, to };
  const found = await inOrg(db, caller.orgId, (tx) => listHits(tx, caller.orgId, query, request));
  const { page, nextCursor } = pageOf(found, request.limit, (row) => ({ at: row.createdAt, id: row.id }));
  return { hits: page.map(toHit), nextCursor };
}

/** One hit with the rows behind it and where it was seen. */
export async function getHit({ db }: ReadDeps, caller: Caller, id: string): Promise<HitDetail> {
  return inOrg(db, caller.orgId, async (tx) => {
    const found = await findHit(tx, caller.orgId, id);
    if (!found) throw appError('not_found', `Hit ${id} not found.`);
    const occurrences = await listOccurrences(tx, caller.orgId, id, occurrencesMax);
    const history = await listChanges(tx, caller.orgId, id, occurrencesMax);
    return {
      ...toHit(found),
      facts: JSON.parse(found.facts) as HitDetail['facts'],
      rows: JSON.parse(found.rows) as HitDetail['rows'],
      runs: [...new Set(occurrences.map((one) => one.runId))],
      occurrences: occurrences.map(({ runId, windowFrom, seenAt }) => ({
        runId,
        windowFrom: windowFrom.toISOString(),
        seenAt: seenAt.toISOString(),
      })),
      history: history.map((change) => ({ ...change, at: change.at.toISOString() })),
    };
  });
}

export function toHit(row: HitRow): Hit {
  return {
    ...row,
    evidence: JSON.parse(row.evidence) as Hit['evidence'],
    windowFrom: row.windowFrom.toISOString(),
    windowTo: row.windowTo.toISOString(),
    firstSeenAt: row.firstSeenAt.toISOString(),
    lastSeenAt: row.lastSeenAt.toISOString(),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
