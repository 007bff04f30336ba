import { inOrg, type Db } from '../../platform/db/db.ts';
import { toPage, readPageRequest, plainIdPattern } from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { listEntities } from './entities.store.ts';
import type { EntityFilter, EntityList } from './hits.schema.ts';

/** Returns a page of the entities of hits, last seen first. */
export async function getEntities({ db }: { db: Db }, caller: Caller, filter: EntityFilter): Promise<EntityList> {
  const request = readPageRequest(filter, plainIdPattern);
  const { detection, status } = filter;
  const rows = await inOrg(db, caller.orgId, (tx) => listEntities(tx, caller.orgId, { detection, status }, request));
  const { page, nextCursor } = toPage(rows, request.limit, (row) => ({ at: row.lastSeenAt, id: row.cursorId }));
  const entities = page.map((row) => {
    const { cursorId: _, ...entity } = row;
    return { ...entity, firstSeenAt: row.firstSeenAt.toISOString(), lastSeenAt: row.lastSeenAt.toISOString() };
  });
  return { entities, nextCursor };
}
