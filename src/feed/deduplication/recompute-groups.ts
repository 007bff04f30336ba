import type { Tx } from '../../platform/db/db.ts';
import { batches, type RemovedTerm } from '../items/writing/write-items.store.ts';
import { toCountedItem, moveCounts } from '../items/writing/feed-pools.store.ts';
import { updateGroupedItems, type GroupedItem } from '../items/writing/update-items.store.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { groupComponent, loadComponent, type ItemGroup } from './groups.ts';
import {
  listGroupedItemRows,
  listSharedIdentities,
  type ComparisonRow,
  type GroupedItemRow,
  type PoolScope,
  type UnlinkableItem,
} from './deduplication.store.ts';
import { linkItems } from './link-items.ts';
import { roundConfidence } from '../model/source-record.ts';
import { severities } from '../model/vocabulary.ts';

/** The transaction has locked the pools of the scope. `at` and `seq` are its commit time and the pool's next sequence number. */
type GroupCommit = { scope: PoolScope; at: Date; seq: number };

/**
 * Recomputes the groups of new, changed or retracted items with all other items of their pool and the wider pools: the members, the root, and
 * the figures of the root. Runs in the transaction that writes the items. Returns the documents that changed, by item id.
 */
export async function recomputeGroups(
  tx: Tx,
  commit: GroupCommit,
  ids: string[],
  { removedTerms = [], unlinkable = [] }: { removedTerms?: RemovedTerm[]; unlinkable?: UnlinkableItem[] } = {},
): Promise<Map<string, string>> {
  const { scope } = commit;
  const unlinkableIds = new Set(unlinkable.map(({ id }) => id));
  const linked = await linkItems(tx, scope, ids, { removedTerms, unlinkableIds });
  const touched = linked.difference(await findLoneItems(tx, scope, unlinkable));
  const seen = new Set<string>();
  const documents = new Map<string, string>();
  for (const batch of batches([...touched])) {
    const unseen = batch.filter((id) => !seen.has(id));
    if (unseen.length === 0) continue;
    const component = await loadComponent(tx, scope, unseen);
    for (const { id } of component) seen.add(id);
    const groups = await groupComponent(tx, scope, component);
    const changed = await writeComponent(tx, commit, component, groups);
    for (const { id, doc } of changed) documents.set(id, doc);
  }
  return documents;
}

/** Returns the unlinkable items that no other item shares a key or an alias with. Nothing refers to a new item, so they belong to no group. */
async function findLoneItems(tx: Tx, scope: PoolScope, unlinkable: UnlinkableItem[]): Promise<Set<string>> {
  const lone = new Set<string>();
  for (const batch of batches(unlinkable)) {
    const { keys, aliases } = await listSharedIdentities(tx, scope, batch);
    for (const item of batch)
      if (!keys.has(item.canonicalKey) && !item.aliases.some((alias) => aliases.has(alias))) lone.add(item.id);
  }
  return lone;
}

async function writeComponent(
  tx: Tx,
  commit: GroupCommit,
  component: ComparisonRow[],
  groups: ItemGroup[],
): Promise<GroupedItem[]> {
  const poolItems = component.filter(({ pool_id }) => pool_id === commit.scope.poolId);
  const poolItemIds = new Set(poolItems.map(({ id }) => id));
  const rootById = new Map(groups.flatMap(({ root, members }) => members.map(({ id }) => [id, root] as const)));
  const newRootOf = (id: string): string | null => (rootById.get(id) === id ? null : (rootById.get(id) ?? null));
  const moved = poolItems.filter((item) => item.duplicate_of !== newRootOf(item.id));
  // Includes previous roots: a root without members shows its own figures again.
  const movedIds = moved.flatMap(({ id, duplicate_of }) => (duplicate_of ? [id, duplicate_of] : [id]));
  const ledGroups = groups.filter(({ root, members }) => members.length > 1 && members.some(({ id }) => id === root));
  const memberIds = ledGroups.flatMap(({ members }) => members.map(({ id }) => id));
  const sameCveIds = listSameCveRecords(component, poolItemIds).map(({ id }) => id);
  const ids = new Set([...[...movedIds, ...memberIds].filter((id) => poolItemIds.has(id)), ...sameCveIds]);
  const rows = new Map((await listGroupedItemRows(tx, [...ids])).map((row) => [row.id, row]));
  const rowsByRoot = new Map(ledGroups.map(({ root, members }) => [root, members.map(({ id }) => rows.get(id)!)]));
  const exploited = [...rows.values()]
    .filter(({ kind, status }) => kind === 'kev' && status !== 'retracted')
    .map(parseOwnDocument);
  const changed = [...rows.values()].flatMap((row) => {
    if (!poolItemIds.has(row.id)) return [];
    const root = newRootOf(row.id);
    const group = root === null ? (rowsByRoot.get(row.id) ?? []) : [];
    const members = group
      .filter((member) => member !== row)
      .map((member) => applySeverityFloor(parseOwnDocument(member), exploited));
    const higher = row.status === 'retracted' ? [] : exploited;
    return regroupItem(row, { root, members, exploited: higher, at: commit.at }) ?? [];
  });
  if (changed.length === 0) return [];
  await updateGroupedItems(tx, commit, changed);
  const moves = changed.map(({ id, severity, duplicateOf }) => {
    const before = toCountedItem(rows.get(id)!);
    return { before, after: { ...before, severity, isRoot: duplicateOf === null } };
  });
  await moveCounts(tx, moves);
  return changed;
}

/** Returns the records of each CVE that has several records, at least one of them in the pool. The others may be in a wider pool. */
function listSameCveRecords(component: ComparisonRow[], poolItemIds: ReadonlySet<string>): ComparisonRow[] {
  const records = component.filter(({ canonical_key: key }) => key.startsWith('cve:'));
  const byKey = Map.groupBy(records, ({ canonical_key }) => canonical_key);
  return [...byKey.values()].filter((same) => same.length > 1 && same.some(({ id }) => poolItemIds.has(id))).flat();
}

/** Returns the item's own document, without the figures of its group. */
const parseOwnDocument = (row: GroupedItemRow): FeedItem => JSON.parse(row.own_doc ?? row.doc) as FeedItem;

/** `members` are the other items of the group that the item leads. `exploited` are the entries of exploited-vulnerability catalogs that readers of the pool see. */
type GroupPosition = { root: string | null; members: FeedItem[]; exploited: FeedItem[]; at: Date };

/** Returns the item in its group, or undefined if it does not change. */
function regroupItem(row: GroupedItemRow, { root, members, exploited, at }: GroupPosition): GroupedItem | undefined {
  const { duplicateOf: _previousRoot, ...own } = parseOwnDocument(row);
  const base: FeedItem = root === null ? own : { ...own, duplicateOf: root };
  const floored = applySeverityFloor(base, exploited);
  const next = members.length === 0 ? floored : applyGroupFigures(floored, members);
  const previous = JSON.parse(row.doc) as FeedItem;
  if (JSON.stringify(next) === JSON.stringify(previous) && root === row.duplicate_of) return undefined;
  const changed = [
    ...(next.event.severity === row.severity ? [] : ['severity']),
    ...(JSON.stringify(next.classification) === JSON.stringify(previous.classification) ? [] : ['classification']),
  ];
  const hasNewVersion = row.last_updated.getTime() === at.getTime();
  const version = changed.length > 0 && !hasNewVersion ? row.version + 1 : row.version;
  const stamps = { version, lastUpdated: at.toISOString() };
  const doc = JSON.stringify({ ...next, ...stamps });
  const ownDoc = JSON.stringify({ ...base, ...stamps });
  const { severity } = next.event;
  return { id: row.id, doc, ownDoc: ownDoc === doc ? null : ownDoc, duplicateOf: root, severity, version, changed };
}

type Mapping = FeedItem['classification']['mappings'][number];
const sharedFrameworks = new Set(['cve', 'cwe']);
const mappingsMax = 1_000;

/**
 * Returns the root's document with the figures of its group: the highest severity, the combined
 * confidence of all publishers, and the CVEs and CWEs of all members. `members` are the other members' own documents.
 */
function applyGroupFigures(root: FeedItem, members: FeedItem[]): FeedItem {
  const items = [root, ...members];
  return {
    ...root,
    event: { ...root.event, severity: highestSeverity(items), confidence: combineConfidence(items) },
    classification: { ...root.classification, mappings: mergeMappings(root, members) },
  };
}

/** Raises the severity of an item to that of the exploited-vulnerability catalog entries for the same CVE. */
function applySeverityFloor(item: FeedItem, exploited: FeedItem[]): FeedItem {
  const sameCve = exploited.filter(({ canonicalKey }) => canonicalKey === item.canonicalKey);
  return { ...item, event: { ...item.event, severity: highestSeverity([item, ...sameCve]) } };
}

const highestSeverity = (items: FeedItem[]): FeedItem['event']['severity'] =>
  items.map(({ event }) => event.severity).reduce((a, b) => (severities.indexOf(a) >= severities.indexOf(b) ? a : b));

/** Returns one minus the probability that all publishers are wrong. Each publisher counts once, with its highest confidence. */
function combineConfidence(items: FeedItem[]): number {
  const byPublisher = new Map<string, number>();
  for (const { source, event } of items) {
    const publisher = source.publisher.normalize('NFC').trim().toLowerCase();
    byPublisher.set(publisher, Math.max(event.confidence, byPublisher.get(publisher) ?? 0));
  }
  return roundConfidence(1 - [...byPublisher.values()].reduce((doubt, confidence) => doubt * (1 - confidence), 1));
}

function mergeMappings(root: FeedItem, members: FeedItem[]): Mapping[] {
  const mappings = new Map(root.classification.mappings.map((mapping) => [nameOf(mapping), mapping]));
  const added = members
    .flatMap(({ classification }) => classification.mappings.filter(({ framework }) => sharedFrameworks.has(framework)))
    .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  for (const mapping of added) {
    const existing = mappings.get(nameOf(mapping));
    if (!existing && mappings.size >= mappingsMax) continue;
    mappings.set(nameOf(mapping), existing && existing.confidence >= mapping.confidence ? existing : mapping);
  }
  return [...mappings.values()];
}

const nameOf = ({ framework, id }: Mapping): string => `${framework} ${id}`;
