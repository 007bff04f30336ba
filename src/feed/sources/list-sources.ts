import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { readPageRequest, toPage, type PageQuery } from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { getVisibleSource } from './source-access.ts';
import { toSource } from './source-view.ts';
import type { Source, SourceList } from './sources.schema.ts';
import { listSourceRows } from './sources.store.ts';

export type ListSourcesDeps = { db: Db; clock: Clock };

/** Returns a page of the organization's own sources and the shared sources that it sees, newest first. */
export async function listSources(deps: ListSourcesDeps, caller: Caller, query: PageQuery): Promise<SourceList> {
  const { limit, after } = readPageRequest(query);
  const rows = await inOrg(deps.db, caller.orgId, (tx) => listSourceRows(tx, limit, after));
  const { page, nextCursor } = toPage(rows, limit, (source) => ({ at: source.created_at, id: source.id }));
  return { sources: page.map((source) => toSource(source, caller, deps.clock())), nextCursor };
}

/** Throws `not_found` if the source does not exist or the organization does not see it. */
export async function getSource(deps: ListSourcesDeps, caller: Caller, id: string): Promise<Source> {
  return toSource(await getVisibleSource(deps, caller, id), caller, deps.clock());
}
