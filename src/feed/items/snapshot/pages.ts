import type { Deps } from '../../../app/deps.ts';
import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import { openAsOf, sealAsOf, type Moment } from './snapshot-token.ts';
import { fullHour } from '../../model/expiry.ts';
import { createPageCache, type Page, type PageCache } from './page-cache.ts';
import { readFeedKey } from '../items.store.ts';
import { viewOf } from './snapshot.ts';

/** Makes the body of an answer as it was at a moment; `asOf` is the moment's name. */
export type BuildPage = (moment: Moment, asOf: string | undefined) => Promise<Buffer>;

type Kept = { cache: PageCache; building: Map<string, Promise<Page>>; key: Promise<Buffer> | undefined };
const keptByDb = new WeakMap<Db, Kept>();

/**
 * The answer named `name` for the caller's view, the feed's version in it and the UTC hour, or for those that `asOf` names: from memory where
 * it was made before, by whomever with the same view. Statements read what was valid at the moment, so later writes never mix in.
 */
export async function getPage(
  deps: Deps,
  caller: Caller,
  { name, asOf }: { name: string; asOf?: string | undefined },
  build: BuildPage,
): Promise<Page> {
  const kept = keptByDb.get(deps.db) ?? { cache: createPageCache(), building: new Map(), key: undefined };
  keptByDb.set(deps.db, kept);
  const view = await viewOf(deps.db, caller.orgId);
  const at = deps.clock();
  const moment =
    asOf === undefined
      ? { view, hour: fullHour(at) }
      : openAsOf(await feedKey(kept, deps.db, caller.orgId), asOf, { view, at });
  const key = `${moment.view.tag} ${moment.hour} ${name}`;
  const known = kept.cache.get(key) ?? kept.building.get(key);
  if (known) return known;
  const made = feedKey(kept, deps.db, caller.orgId)
    .then((sealing) => build(moment, sealAsOf(sealing, moment)))
    .then((body) => kept.cache.put(key, body));
  kept.building.set(key, made);
  return made.finally(() => kept.building.delete(key));
}

function feedKey(kept: Kept, db: Db, orgId: OrgId): Promise<Buffer> {
  kept.key ??= inOrg(db, orgId, readFeedKey);
  kept.key.catch(() => (kept.key = undefined));
  return kept.key;
}
