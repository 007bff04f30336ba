import { inOrg } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import type { ItemExposures, Sweeps } from './sightings.schema.ts';
import { listExposures, listSweeps, seesItem } from './sightings.store.ts';

const exposuresMax = 200;

/** Where an item's indicators were seen in the organization's logs, the newest finds first. Throws not_found. */
export async function getExposures({ db }: Pick<Deps, 'db'>, caller: Caller, id: string): Promise<ItemExposures> {
  const found = await inOrg(db, caller.orgId, async (tx) =>
    (await seesItem(tx, id)) ? listExposures(tx, caller.orgId, id, exposuresMax) : undefined,
  );
  if (!found) throw appError('not_found', `Item ${id} not found`);
  return {
    exposures: found.map(({ connection_id, dataset, type, value, event, found_at }) => ({
      connectionId: connection_id,
      dataset,
      type,
      value,
      event,
      foundAt: found_at.toISOString(),
    })),
  };
}

export async function getSweeps({ db }: Pick<Deps, 'db'>, caller: Caller): Promise<Sweeps> {
  const found = await inOrg(db, caller.orgId, (tx) => listSweeps(tx, caller.orgId));
  return {
    sweeps: found.map(({ connection_id, last_at, last_error, failures }) => ({
      connectionId: connection_id,
      lastAt: last_at?.toISOString() ?? null,
      failures,
      lastError: last_error,
    })),
  };
}
