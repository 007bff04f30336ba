import { sql } from 'kysely';
import { acrossOrgs, queryRows, type Db, type Tx } from '../../db/db.ts';
import type { OrgId } from '../../lib/org-id.ts';
import type { PageRequest } from '../../lib/page-request.ts';

export type EventRow = { id: string; at: Date; type: string; body: string };

/** How long events are stored after the latest client listened, so that it sees what happened over a weekend. */
const listeningHours = 72;

/** Makes `emitEvents` store the events of an organization, also those that no destination subscribes to. */
export async function extendListening(db: Db, orgId: OrgId): Promise<void> {
  await acrossOrgs(db, (tx) =>
    sql`update organizations set listening_until = clock_timestamp() + ${`${listeningHours} hours`}::interval
      where id = ${orgId} and (listening_until is null or listening_until < clock_timestamp() + ${`${listeningHours - 1} hours`}::interval)`.execute(
      tx,
    ),
  );
}

/** Lists `limit` + 1 events of these types, newest first. */
export function listEventsBefore(
  tx: Tx,
  orgId: OrgId,
  types: readonly string[],
  { limit, after }: PageRequest,
): Promise<EventRow[]> {
  return queryRows<EventRow>(tx)`
      select id, at, type, body from outbox where organization_id = ${orgId} and type = any(${[...types]}::text[])
        ${after ? sql`and id < ${after.id}::uuid` : sql``} order by id desc limit ${limit + 1}`;
}

/** Lists up to `limit` events with an id above `afterId` that are not in `seen`, oldest first. */
export function listEventsAfter(
  tx: Tx,
  orgId: OrgId,
  { afterId, seen, limit }: { afterId: string; seen: string[]; limit: number },
): Promise<EventRow[]> {
  return queryRows<EventRow>(tx)`
      select id, at, type, body from outbox
      where organization_id = ${orgId} and id > ${afterId}::uuid and id <> all(${seen}::uuid[]) order by id limit ${limit}`;
}
