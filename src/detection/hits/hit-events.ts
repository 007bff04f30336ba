import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import { toHit } from './read-hits.ts';
import { listHitsOf, listLiveHitsOf } from './read-hits.store.ts';

/**
 * Tells destinations of hits that have changed: made (their first revision) or changed again. The rows behind a hit are left out;
 * its evidence is in it.
 */
export function emitHits(tx: Tx, orgId: OrgId, ids: string[]): Promise<void> {
  return emit(tx, orgId, ids, listHitsOf);
}

/** The same of hits that a run changed: one of a deleted detection finishes and delivers nothing. */
export function emitFoundHits(tx: Tx, orgId: OrgId, ids: string[]): Promise<void> {
  return emit(tx, orgId, ids, listLiveHitsOf);
}

async function emit(tx: Tx, orgId: OrgId, ids: string[], list: typeof listHitsOf): Promise<void> {
  if (ids.length === 0) return;
  await emitEvents(tx, [orgId], ['hit.created', 'hit.updated'], async () => {
    const hits = (await list(tx, orgId, ids)).map(toHit);
    return hits.map((hit) => ({
      orgId,
      type: hit.revision === 1 ? 'hit.created' : 'hit.updated',
      resourceId: hit.id,
      revision: hit.revision,
      data: { organizationId: orgId, ...hit },
      detectionId: hit.detectionId,
      severity: hit.severity,
    }));
  });
}
