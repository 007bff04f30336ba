import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import { toHit } from './read-hits.ts';
import { listHitsById, listLiveHitsById, type HitRow } from './read-hits.store.ts';

/** Emits `hit.created` for the first revision of each hit, otherwise `hit.updated`, with the evidence but not the rows. */
export async function emitHitEvents(tx: Tx, orgId: OrgId, ids: string[]): Promise<void> {
  if (ids.length > 0) await emit(tx, orgId, () => listHitsById(tx, orgId, ids));
}

/** Like `emitHitEvents`, but skips hits of deleted detections. For hits that a run changed. */
export async function emitRunHitEvents(tx: Tx, orgId: OrgId, ids: string[]): Promise<void> {
  if (ids.length > 0) await emit(tx, orgId, () => listLiveHitsById(tx, orgId, ids));
}

function emit(tx: Tx, orgId: OrgId, listRows: () => Promise<HitRow[]>): Promise<void> {
  return emitEvents(tx, [orgId], ['hit.created', 'hit.updated'], async () =>
    (await listRows()).map(toHit).map((hit) => ({
      orgId,
      type: hit.revision === 1 ? 'hit.created' : 'hit.updated',
      resourceId: hit.id,
      revision: hit.revision,
      data: { organizationId: orgId, ...hit },
      detectionId: hit.detectionId,
      severity: hit.severity,
    })),
  );
}
