import type { Deps } from '../../app/deps.ts';
import { inOrg, type Tx } from '../../platform/db/db.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { forgetViews } from '../items/snapshot/snapshot.ts';
import { loop } from '../../platform/lib/loop.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { moveOwnPool } from './own-pool.ts';
import { isEmpty, type Profile } from './profile.schema.ts';
import { profileOf } from './profile.ts';
import { scoreItem, toMatcher } from './score.ts';
import {
  claimProfile,
  cleanRelevanceAcrossOrgs,
  findDueAcrossOrgs,
  findDuePool,
  finishBuild,
  listBehind,
  listStored,
  moveCursor,
  replaceRelevance,
  type Due,
  type RelevanceRow,
  type ScoredItem,
} from './scoring.store.ts';
import { tellRelevant } from './notify-relevant.ts';

type ScoringDeps = Pick<Deps, 'db' | 'clock' | 'log'>;

const batchMax = 500;
const idleMs = 1_000;

const cleanEveryMs = 10 * 60_000;

/** Keeps every organization's relevance up with its feed and its profile, until the signal ends it. */
export async function relevanceLoop(deps: ScoringDeps, signal: AbortSignal): Promise<void> {
  const { db, log } = deps;
  await Promise.all([
    loop({ name: 'relevance', idleMs, signal, log }, () => scoreDue(deps)),
    loop({ name: 'clean relevance', idleMs: cleanEveryMs, signal, log }, () => cleanRelevanceAcrossOrgs(db)),
  ]);
}

/** Scores one batch of one organization; answers whether there was one that no other worker is at. */
export async function scoreDue(deps: ScoringDeps): Promise<boolean> {
  const due = await findDueAcrossOrgs(deps.db);
  if (!due) return false;
  const changed = await inOrg(deps.db, due.orgId, (tx) => scoreBatch(tx, due.orgId, deps.clock()));
  if (changed) forgetViews(deps.db);
  return changed !== undefined;
}

/** Answers whether the organization's lists are others now; undefined where another worker is at it. */
async function scoreBatch(tx: Tx, orgId: OrgId, now: Date): Promise<boolean | undefined> {
  const claimed = await claimProfile(tx, orgId);
  if (!claimed) return undefined;
  const profile = profileOf(claimed);
  const building = claimed.built_version < claimed.version;
  const pool = isEmpty(profile) ? undefined : await findDuePool(tx, orgId, claimed.version);
  if (pool) return scorePool(tx, pool, { profile, building, now });
  if (!building) return false;
  const seq = await moveOwnPool(tx, orgId);
  await finishBuild(tx, orgId, { version: claimed.version, hasProfile: !isEmpty(profile), seq, now });
  return true;
}

type Scoring = { profile: Profile; building: boolean; now: Date };

async function scorePool(tx: Tx, due: Due, { profile, building, now }: Scoring): Promise<boolean> {
  const items = await listBehind(tx, due, batchMax);
  const last = items.length < batchMax ? undefined : items.at(-1)!;
  const { ended, begun } = await differences(tx, due, scoreAll(profile, items));
  const changed = ended.length > 0 || begun.length > 0;
  if (changed) {
    // Nobody reads a version that is being built, so it needs no place in time yet.
    const seq = building ? 0 : await moveOwnPool(tx, due.orgId);
    await replaceRelevance(tx, due, { ended, begun, seq, now });
    if (!building) await tellFresh(tx, due.orgId, { items, begun, known: new Set(ended) });
  }
  await moveCursor(tx, due, last ? { seq: last.seq, itemId: last.id } : { seq: due.poolSeq, itemId: lastId });
  return changed && !building;
}

const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The items that reach the threshold; null for those that do not. */
function scoreAll(profile: Profile, items: ScoredItem[]): Map<string, RelevanceRow | null> {
  const matcher = toMatcher(profile);
  return new Map(
    items.map(({ id, doc, added_to_feed_at }) => {
      const { score, reasons } = scoreItem(matcher, JSON.parse(doc) as FeedItem);
      const isRelevant = score >= profile.threshold;
      return [
        id,
        isRelevant ? { itemId: id, addedToFeedAt: added_to_feed_at, score, reasons: JSON.stringify(reasons) } : null,
      ];
    }),
  );
}

async function differences(
  tx: Tx,
  due: Due,
  scored: Map<string, RelevanceRow | null>,
): Promise<{ ended: string[]; begun: RelevanceRow[] }> {
  const stored = new Map((await listStored(tx, due, [...scored.keys()])).map((one) => [one.itemId, one]));
  const differs = [...scored].filter(([id, now]) => {
    const before = stored.get(id);
    return before?.score !== now?.score || before?.reasons !== now?.reasons;
  });
  return {
    ended: differs.flatMap(([id]) => (stored.has(id) ? [id] : [])),
    begun: differs.flatMap(([, now]) => (now ? [now] : [])),
  };
}

type Scored = { items: ScoredItem[]; begun: RelevanceRow[]; known: ReadonlySet<string> };

/** Tells of items that are relevant now and were not before; a change of the profile is no news. */
async function tellFresh(tx: Tx, orgId: OrgId, { items, begun, known }: Scored): Promise<void> {
  const fresh = new Map(begun.flatMap((one) => (known.has(one.itemId) ? [] : [[one.itemId, one] as const])));
  if (fresh.size === 0) return;
  const told = items.flatMap(({ id, doc }) => {
    const found = fresh.get(id);
    if (!found) return [];
    const relevance = { score: found.score, reasons: JSON.parse(found.reasons) as unknown };
    return [{ item: JSON.parse(doc) as FeedItem, relevance }];
  });
  await tellRelevant(tx, orgId, told);
}
