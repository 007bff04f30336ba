import { inOrg, type Db } from '../../db/db.ts';
import { readPageRequest, toPage } from '../../lib/page-request.ts';
import type { Caller } from '../../orgs/caller.ts';
import { extendListening, listEventsBefore } from './events.store.ts';
import type { EventList, EventsQuery } from './events.schema.ts';
import { listVisibleTypes } from './visible-types.ts';

/** Returns a page of the stored events that the caller may read, newest first, and makes later events be stored. */
export async function listEvents({ db }: { db: Db }, caller: Caller, query: EventsQuery): Promise<EventList> {
  const request = readPageRequest(query);
  await extendListening(db, caller.orgId);
  const types = listVisibleTypes(caller, query.types);
  const rows = await inOrg(db, caller.orgId, (tx) => listEventsBefore(tx, caller.orgId, types, request));
  const { page, nextCursor } = toPage(rows, request.limit, (row) => row);
  return { events: page.map(({ body }) => JSON.parse(body) as EventList['events'][number]), nextCursor };
}
