import { createHash } from 'node:crypto';
import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { readPools, type PoolVersion } from '../items.store.ts';

/** What an organization sees, at one moment: its pools with their sequence numbers. Equal tags mean equal pages. */
export type View = { tag: string; poolIds: string[]; seqs: number[] };

// Short enough that nobody waits for another process's writes; this process's own are forgotten at once (`forgetViews`).
const believedMs = 100;
const viewsMax = 10_000;

type Believed = { view: Promise<View>; until: number };
const viewsByDb = new WeakMap<Db, Map<OrgId, Believed>>();

/** The organization's view. Of many requests at once one asks the database. */
export function viewOf(db: Db, orgId: OrgId): Promise<View> {
  const views = viewsByDb.get(db) ?? new Map<OrgId, Believed>();
  viewsByDb.set(db, views);
  const known = views.get(orgId);
  if (known && known.until > performance.now()) return known.view;
  const view = inOrg(db, orgId, readPools).then(toView);
  if (views.size >= viewsMax) views.clear();
  views.set(orgId, { view, until: performance.now() + believedMs });
  view.catch(() => views.delete(orgId));
  return view;
}

/** To be called after a commit that changed the feed: the next reader of this process sees it. */
export function forgetViews(db: Db): void {
  viewsByDb.get(db)?.clear();
}

export function toView(pools: PoolVersion[]): View {
  const tag = createHash('sha256').update(JSON.stringify(pools)).digest('base64url').slice(0, 22);
  return { tag, poolIds: pools.map(([id]) => id), seqs: pools.map(([, seq]) => seq) };
}
