import { lookUpIndicator, type LookupDeps } from '../../feed/indicators/look-up-indicators.ts';
import { inOrg } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { IndicatorContext } from './indicator-context.schema.ts';
import { listMentions, listSightings } from './indicator-context.store.ts';

const [sightingsMax, hitsMax, hitsSearchedMax] = [50, 20, 5000];

/** Returns everything that is known of an indicator: the items that contain it, its sightings in the logs, and hits. */
export async function getIndicatorContext(deps: LookupDeps, caller: Caller, value: string): Promise<IndicatorContext> {
  const feed = await lookUpIndicator(deps, caller, value);
  const canonical = feed.normalizedValue ?? feed.value;
  // Sightings have the value in lower case.
  const forms = [...new Set([feed.value, canonical, canonical.toLowerCase()])];
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const sightings = await listSightings(tx, caller.orgId, forms, sightingsMax);
    const search = { forms, limit: hitsMax, searchedMax: hitsSearchedMax };
    const hits = caller.scopes.has('hits:read') ? await listMentions(tx, caller.orgId, search) : null;
    return {
      feed,
      sightings: sightings.map(({ foundAt, ...sighting }) => ({ ...sighting, foundAt: foundAt.toISOString() })),
      hits: hits && hits.map(({ createdAt, ...hit }) => ({ ...hit, createdAt: createdAt.toISOString() })),
    };
  });
}
