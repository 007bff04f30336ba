import { inOrg, type Db } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { ItemSightings, SweepList } from './sightings.schema.ts';
import { isItemVisible, listSightings, listSweeps } from './sightings.store.ts';
import { withIsoTimes } from '../../platform/lib/time/clock.ts';

export type ReadSightingsDeps = { db: Db };

const sightingsMax = 200;

/** Returns the newest 200 log rows in which an item's indicators were seen. Throws not_found for an item that the caller cannot see. */
export async function getSightings({ db }: ReadSightingsDeps, caller: Caller, id: string): Promise<ItemSightings> {
  const rows = await inOrg(db, caller.orgId, async (tx) =>
    (await isItemVisible(tx, id)) ? listSightings(tx, caller.orgId, id, sightingsMax) : undefined,
  );
  if (!rows) throw appError('not_found', `Item ${id} not found`);
  return { sightings: rows.map(withIsoTimes) };
}

export async function getSweeps({ db }: ReadSightingsDeps, caller: Caller): Promise<SweepList> {
  const rows = await inOrg(db, caller.orgId, (tx) => listSweeps(tx, caller.orgId));
  return { sweeps: rows.map(withIsoTimes) };
}
