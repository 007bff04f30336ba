import { inOrg } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { pageOf, pageRequest, plainMark } from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { listEntities } from './entities.store.ts';
import type { EntityFilter, EntityList } from './hits.schema.ts';

/** Hits grouped by what they are about, the latest seen first. */
export async function getEntities({ db }: Pick<Deps, 'db'>, caller: Caller, filter: EntityFilter): Promise<EntityList> {
  const request = pageRequest(filter, plainMark);
  const { detection, status } = filter;
  const found = await inOrg(db, caller.orgId, (tx) => listEntities(tx, caller.orgId, { detection, status }, request));
  const { page, nextCursor } = pageOf(found, request.limit, (one) => ({ at: one.lastSeenAt, id: one.mark }));
  const entities = page.map((one) => ({
    entity: one.entity,
    entityType: one.entityType,
    hits: one.hits,
    open: one.open,
    severity: one.severity,
    detectionIds: one.detectionIds,
    firstSeenAt: one.firstSeenAt.toISOString(),
    lastSeenAt: one.lastSeenAt.toISOString(),
  }));
  return { entities, nextCursor };
}
