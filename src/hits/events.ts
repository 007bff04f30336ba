import type { Tx } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import { emitEvents } from '../outputs/emit.ts';
import { toHit } from './hits.ts';
import { listHitsOf } from './read-store.ts';

/**
 * Tells destinations of hits that have changed: made (their first revision) or changed again. The rows behind a hit are left out;
 * its evidence is in it.
 */
export async function emitHits(tx: Tx, orgId: OrgId, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await emitEvents(tx, [orgId], ['hit.created', 'hit.updated'], async () => {
    const hits = (await listHitsOf(tx, orgId, ids)).map(toHit);
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
