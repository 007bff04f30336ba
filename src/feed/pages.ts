import type { Deps } from '../deps.ts';
import type { Db } from '../db/db.ts';
import type { Caller } from '../orgs/caller.ts';
import { fullHour } from './expiry.ts';
import { createPageCache, type Page, type PageCache } from './page-cache.ts';
import type { PoolVersion } from './store.ts';
import { forgetViews, toView, viewOf, type View } from './view.ts';

/** Makes an answer for a view; `pools` are those that it was read from. */
export type BuildPage = (view: View, hour: number) => Promise<{ body: Buffer; pools: PoolVersion[] }>;

type Kept = { cache: PageCache; building: Map<string, Promise<Page>> };
const keptByDb = new WeakMap<Db, Kept>();
const triesMax = 3;

/**
 * The answer named `name` for the caller's view, the feed's version in it and the UTC hour: from memory where it was made before, by whomever
 * with the same view. An answer that was read from a newer feed than its key says is made again.
 */
export async function getPage(deps: Deps, caller: Caller, name: string, build: BuildPage): Promise<Page> {
  const kept = keptByDb.get(deps.db) ?? { cache: createPageCache(), building: new Map() };
  keptByDb.set(deps.db, kept);
  const hour = fullHour(deps.clock());
  const view = await viewOf(deps.db, caller.orgId);
  const key = `${view.tag} ${hour} ${name}`;
  const known = kept.cache.get(key) ?? kept.building.get(key);
  if (known) return known;
  const made = buildPage(deps, caller, { kept, view, hour, name, build });
  kept.building.set(key, made);
  return made.finally(() => kept.building.delete(key));
}

type Building = { kept: Kept; view: View; hour: number; name: string; build: BuildPage };

async function buildPage(
  deps: Deps,
  caller: Caller,
  { kept, view: first, hour, name, build }: Building,
): Promise<Page> {
  let view = first;
  for (let attempt = 1; ; attempt += 1) {
    const { body, pools } = await build(view, hour);
    const read = toView(pools);
    if (read.tag === view.tag || (attempt >= triesMax && samePools(read, view)))
      return kept.cache.put(`${read.tag} ${hour} ${name}`, body);
    forgetViews(deps.db);
    view = await viewOf(deps.db, caller.orgId);
  }
}

const samePools = (a: View, b: View): boolean => a.poolIds.join() === b.poolIds.join();
