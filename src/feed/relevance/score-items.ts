import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { SnapshotCache } from '../items/snapshot/snapshot.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { advanceOwnPool, parseProfile } from './profile.ts';
import { foldRequirement, isEmptyProfile, type Profile, type Requirement } from './profile.schema.ts';
import {
  createMatcher,
  scoreItem,
  toTexts,
  findReasons,
  normalizeWords,
  type ItemTexts,
  type ScoreReason,
} from './score.ts';
import {
  advanceCursor,
  cleanRelevanceAcrossOrgs,
  findDueOrgAcrossOrgs,
  findNextPool,
  finishBuild,
  listItemsAfter,
  listStoredRelevance,
  lockProfileIfFree,
  replaceRelevance,
  type RelevanceRow,
  type ScoredItem,
  type ScoringPosition,
} from './relevance.store.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import { listCurrentOverrides } from '../items/snapshot/override-rows.store.ts';
import { readTermFilters } from '../items/search-terms/term-filters.ts';
import { extractTerms, toTermValue } from '../model/terms.ts';

type ScoringDeps = { db: Db; clock: Clock; snapshots: Pick<SnapshotCache, 'invalidate'> };

const batchMax = 500;
const idleMs = 1_000;
const cleanEveryMs = 10 * 60_000;

/**
 * Keeps the relevance of every organization up to date with its feed and its profile, until the signal aborts. `step` is `scoreNextBatch`.
 */
export async function relevanceLoop(
  { db, log }: { db: Db; log: Logger },
  signal: AbortSignal,
  step: () => Promise<boolean>,
): Promise<void> {
  await Promise.all([
    runLoop({ name: 'relevance', idleMs, signal, log }, step),
    runLoop({ name: 'clean relevance', idleMs: cleanEveryMs, signal, log }, () => cleanRelevanceAcrossOrgs(db)),
  ]);
}

/** Scores one batch of items for one organization. Returns whether there was one that no other worker is scoring. */
export async function scoreNextBatch({ db, clock, snapshots }: ScoringDeps): Promise<boolean> {
  const due = await findDueOrgAcrossOrgs(db);
  if (!due) return false;
  const result = await inOrg(db, due.orgId, (tx) => scoreBatch(tx, due.orgId, clock()));
  if (result === 'changed') snapshots.invalidate();
  return result !== 'locked';
}

/** `changed`: the lists of the organization changed. `locked`: another worker is scoring the organization. */
type BatchResult = 'changed' | 'unchanged' | 'locked';

async function scoreBatch(tx: Tx, orgId: OrgId, now: Date): Promise<BatchResult> {
  const row = await lockProfileIfFree(tx, orgId);
  if (!row) return 'locked';
  const profile = parseProfile(row);
  const isBuilding = row.built_version < row.version;
  const position = isEmptyProfile(profile) ? undefined : await findNextPool(tx, orgId, row.version);
  if (position) return scorePool(tx, position, { profile, isBuilding, now });
  if (!isBuilding) return 'unchanged';
  const seq = await advanceOwnPool(tx, orgId);
  await finishBuild(tx, orgId, { version: row.version, hasProfile: !isEmptyProfile(profile), seq, now });
  return 'changed';
}

/** `isBuilding`: the profile version is not in force yet. */
type ScoringOptions = { profile: Profile; isBuilding: boolean; now: Date };

async function scorePool(tx: Tx, position: ScoringPosition, options: ScoringOptions): Promise<BatchResult> {
  const { profile, isBuilding, now } = options;
  const items = await listItemsAfter(tx, position, batchMax);
  const last = items.length < batchMax ? undefined : items.at(-1)!;
  const { ended, begun } = await findChanges(tx, position, scoreAll(profile, items));
  const hasChanges = ended.length > 0 || begun.length > 0;
  if (hasChanges) {
    // A version that is not in force has no readers, so its rows need no sequence number.
    const seq = isBuilding ? 0 : await advanceOwnPool(tx, position.orgId);
    await replaceRelevance(tx, position, { ended, begun, seq, now });
    // A change of the profile notifies about nothing.
    if (!isBuilding) await notifyNewlyRelevant(tx, position.orgId, { items, begun, ended });
  }
  const next = last ? { seq: last.seq, itemId: last.id } : { seq: position.poolSeq, itemId: maxItemId };
  await advanceCursor(tx, position, next);
  return hasChanges && !isBuilding ? 'changed' : 'unchanged';
}

const maxItemId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Returns a row for every item that reaches the threshold or meets a requirement, and null for the others, by item id. */
function scoreAll(profile: Profile, items: ScoredItem[]): Map<string, RelevanceRow | null> {
  const matcher = createMatcher(profile);
  const requirements = createRequirementMatchers(profile.requirements);
  return new Map(
    items.map(({ id, doc, added_to_feed_at }) => {
      const item = JSON.parse(doc) as FeedItem;
      const texts = toTexts(item);
      const scored = scoreItem(matcher, item, texts);
      const met = findMetRequirements(requirements, item, texts);
      const row = {
        itemId: id,
        addedToFeedAt: added_to_feed_at,
        score: met.names.length > 0 ? 1 : scored.score,
        reasons: JSON.stringify([...met.reasons, ...scored.reasons]),
        requirements: met.names.map(foldRequirement),
      };
      return [id, row.score >= profile.threshold ? row : null];
    }),
  );
}

/** Compares new scores with the stored rows. `ended` lists the items whose stored row ends, and `begun` the rows to store. */
type RelevanceChanges = { ended: string[]; begun: RelevanceRow[] };

async function findChanges(
  tx: Tx,
  position: ScoringPosition,
  scored: Map<string, RelevanceRow | null>,
): Promise<RelevanceChanges> {
  const storedRows = await listStoredRelevance(tx, position, [...scored.keys()]);
  const storedById = new Map(storedRows.map((row) => [row.itemId, row]));
  const changed = [...scored].filter(([id, row]) => {
    const stored = storedById.get(id);
    return stored?.score !== row?.score || stored?.reasons !== row?.reasons;
  });
  return {
    ended: changed.flatMap(([id]) => (storedById.has(id) ? [id] : [])),
    begun: changed.flatMap(([, row]) => row ?? []),
  };
}

/** Notifies about items that are relevant now and were not before. */
async function notifyNewlyRelevant(
  tx: Tx,
  orgId: OrgId,
  { items, ended, begun }: { items: ScoredItem[] } & RelevanceChanges,
): Promise<void> {
  const wereRelevant = new Set(ended);
  const newRows = new Map(begun.filter(({ itemId }) => !wereRelevant.has(itemId)).map((row) => [row.itemId, row]));
  if (newRows.size === 0) return;
  const newlyRelevant = items.flatMap(({ id, doc }) => {
    const row = newRows.get(id);
    if (!row) return [];
    const relevance = { score: row.score, reasons: JSON.parse(row.reasons) as unknown };
    return [{ item: JSON.parse(doc) as FeedItem, relevance }];
  });
  await notifyRelevantItems(tx, orgId, newlyRelevant);
}

type RelevantItem = { item: FeedItem; relevance: { score: number; reasons: unknown } };

/** Emits `feed.item.relevant` for items that became relevant to an organization, except those that it retracted for itself. */
export async function notifyRelevantItems(tx: Tx, orgId: OrgId, relevantItems: RelevantItem[]): Promise<void> {
  await emitEvents(tx, [orgId], ['feed.item.relevant'], async () => {
    const ids = relevantItems.map(({ item }) => item.id);
    const overrides = await listCurrentOverrides(tx, ids);
    return relevantItems.flatMap(({ item, relevance }) => {
      const override = overrides.get(item.id);
      if (override?.status === 'retracted') return [];
      const severity = override?.severity ?? item.event.severity;
      const event = {
        orgId,
        type: 'feed.item.relevant' as const,
        resourceId: item.id,
        revision: item.version,
        severity,
      };
      return { ...event, data: { ...item, relevance } };
    });
  });
}

/** An item as requirements see it: with its texts, and its terms behind their kinds. */
type MatchedItem = { item: FeedItem; texts: ItemTexts; terms: ReadonlySet<string> };

/** Returns a reason for each entry of a list that an item matches. */
type ListMatcher = (matched: MatchedItem) => ScoreReason[];

/** A requirement prepared for many items, with a matcher for each list that is not empty. */
export type RequirementMatcher = { name: string; lists: ListMatcher[] };

const noLists = { products: [], platforms: [], sectors: [], regions: [], keywords: [] };

const createRequirementMatchers = (requirements: readonly Requirement[]): RequirementMatcher[] =>
  requirements.map(({ name, names, techniques, values, ...lists }) => {
    const byTerms: TermEntry[][] = [
      techniques.map((label) => toEntry('technique', label, { technique: label })),
      values.map((label) => toEntry('value', label, isCve(label) ? { cve: label } : { indicator: label })),
      names.map((label) => toEntry('name', label, { actor: label, malware: label, tool: label })),
    ];
    const byWords = (['platforms', 'keywords', 'sectors', 'regions', 'products'] as const)
      .filter((list) => lists[list].length > 0)
      .map((list): ListMatcher => {
        const matcher = createMatcher({ ...noLists, [list]: lists[list] });
        return ({ item, texts }) => findReasons(matcher, item, texts);
      });
    // Terms are compared faster than words.
    return { name, lists: [...byTerms.filter((entries) => entries.length > 0).map(matchTerms), ...byWords] };
  });

const isCve = (text: string): boolean => /^CVE-\d{4}-\d{4,19}$/i.test(text);

/** An entry of a requirement, with the terms of which an item must have one. */
type TermEntry = { kind: 'name' | 'technique' | 'value'; label: string; terms: string[] };

function toEntry(kind: TermEntry['kind'], label: string, query: Parameters<typeof readTermFilters>[0]): TermEntry {
  const { terms, rootTerms } = readTermFilters(query);
  const filters = [...terms, ...rootTerms];
  return { kind, label, terms: filters.flatMap((filter) => filter.values.map((value) => `${filter.kind} ${value}`)) };
}

const matchTerms =
  (entries: TermEntry[]): ListMatcher =>
  (matched) =>
    entries
      .filter((entry) => entry.terms.some((term) => matched.terms.has(term)))
      .map((entry) => toReason(entry, matched));

const reasonsMax = 20;

/** Returns the requirements that an item meets, and the reasons: at least one for each list of each of them. */
function findMetRequirements(
  matchers: readonly RequirementMatcher[],
  item: FeedItem,
  texts: ItemTexts,
): { names: string[]; reasons: ScoreReason[] } {
  if (matchers.length === 0) return { names: [], reasons: [] };
  const terms = new Set(extractTerms(item).map(({ kind, value }) => `${kind} ${value}`));
  const matched = { item, texts, terms };
  const met = matchers.flatMap(({ name, lists }) => {
    const found: ScoreReason[] = [];
    for (const list of lists) {
      const reasons = list(matched);
      if (reasons.length === 0) return [];
      found.push(...reasons.slice(0, reasonsMax));
    }
    return [{ name, reasons: found.map((reason) => ({ ...reason, requirement: name })) }];
  });
  return { names: met.map(({ name }) => name), reasons: met.flatMap(({ reasons }) => reasons) };
}

/** Names the item's own name before the requirement's, as in `Emotet (Geodo)`, and cites a passage that contains a form of it. */
function toReason({ kind, label, terms }: TermEntry, { item: { classification }, texts }: MatchedItem): ScoreReason {
  const isOne = (name: string): boolean => terms.includes(`actor ${toTermValue('actor', name)}`);
  const threats = kind === 'name' ? [...classification.actor, ...classification.malware] : [];
  const threat = threats.find(({ name, aliases }) => [name, ...aliases].some(isOne));
  const forms = [label, ...(threat ? [threat.name, ...threat.aliases] : [])].map(normalizeWords);
  const technique = classification.attack.find(({ subTechnique, technique: parent }) =>
    [subTechnique, parent].includes(label.toUpperCase()),
  );
  const evidenceRef =
    kind === 'technique'
      ? technique?.evidenceRef
      : texts.find((text) => text.evidenceRef !== undefined && forms.some((form) => text.words.includes(form)))
          ?.evidenceRef;
  const matched = threat && threat.name.toLowerCase() !== label.toLowerCase() ? `${threat.name} (${label})` : label;
  return { kind, matched, weight: 1, ...(evidenceRef === undefined ? {} : { evidenceRef }) };
}
