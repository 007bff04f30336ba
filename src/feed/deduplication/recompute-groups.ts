import type { Tx } from '../../platform/db/db.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { moveCounts } from '../items/writing/counts.ts';
import type { CountKey } from '../items/writing/write-items.ts';
import { groupComponent, loadComponent, type Group } from './components.ts';
import { withFigures, withFloor } from './group-figures.ts';
import { batches, linkItems, type Gone } from './link-items.ts';
import { listRows, writeSettled, type ItemRow, type Settled } from './groups.store.ts';
import type { FactsRow, Universe } from './deduplication.store.ts';

/** The pools of the universe are locked by the transaction; `seq` and `at` are those that it writes under. */
export type Settling = { universe: Universe; at: Date; seq: number };

/**
 * Puts items that are new, changed or retracted in order with all others of their pool and of the wider ones: which belong together, which
 * is the root, and what the root says for all. Runs in the transaction that writes the items. Answers the documents that changed.
 */
export async function settleItems(
  tx: Tx,
  settling: Settling,
  ids: string[],
  gone: Gone = [],
): Promise<Map<string, string>> {
  const { universe } = settling;
  const touched = await linkItems(tx, universe, ids, gone);
  const seen = new Set<string>();
  const documents = new Map<string, string>();
  for (const batch of batches([...touched])) {
    const fresh = batch.filter((id) => !seen.has(id));
    if (fresh.length === 0) continue;
    const component = await loadComponent(tx, universe, fresh);
    for (const { id } of component) seen.add(id);
    const groups = await groupComponent(tx, universe, component);
    const settled = await settleComponent(tx, settling, component, groups);
    for (const { id, doc } of settled) documents.set(id, doc);
  }
  return documents;
}

async function settleComponent(tx: Tx, settling: Settling, component: FactsRow[], groups: Group[]): Promise<Settled[]> {
  const { poolId } = settling.universe;
  const own = component.filter(({ pool_id }) => pool_id === poolId);
  const rootById = new Map(groups.flatMap(({ root, members }) => members.map(({ id }) => [id, root] as const)));
  const newRoot = (id: string): string | null => {
    const root = rootById.get(id);
    return root === undefined || root === id ? null : root;
  };
  const moved = own.filter((item) => item.duplicate_of !== newRoot(item.id));
  const led = groups.filter(({ root, members }) => members.length > 1 && members.some(({ id }) => id === root));
  // A root that lost its last member shows its own figures again.
  const alone = moved.flatMap(({ id, duplicate_of }) => (duplicate_of ? [id, duplicate_of] : [id]));
  const ownIds = new Set(own.map(({ id }) => id));
  const wanted = [...alone, ...led.flatMap(({ members }) => members.map(({ id }) => id))].filter((id) =>
    ownIds.has(id),
  );
  const records = recordsOfFlaws(component, ownIds);
  const ids = new Set([...wanted, ...records.map(({ id }) => id)]);
  const rows = new Map((await listRows(tx, [...ids])).map((row) => [row.id, row]));
  const rowsOf = new Map(led.map(({ root, members }) => [root, members.map(({ id }) => rows.get(id)!)]));
  const listed = [...rows.values()].filter(({ kind, status }) => kind === 'kev' && status !== 'retracted').map(itemOf);
  const settled = [...rows.values()].flatMap((row) => {
    if (!ownIds.has(row.id)) return [];
    const root = newRoot(row.id);
    const group = root === null ? (rowsOf.get(row.id) ?? []) : [];
    const members = group.filter((one) => one !== row).map((one) => withFloor(itemOf(one), listed));
    const next = settle(row, { root, members, listed: row.status === 'retracted' ? [] : listed, at: settling.at });
    return next ? [next] : [];
  });
  if (settled.length === 0) return [];
  await writeSettled(tx, settling, settled);
  await moveCounts(
    tx,
    settled.flatMap(({ row, severity }) =>
      severity === row.severity ? [] : [{ before: keyOf(row, row.severity), after: keyOf(row, severity) }],
    ),
  );
  return settled;
}

/** The records of vulnerabilities of which there are several, one of them the pool's own; the others may be of a wider audience. */
function recordsOfFlaws(component: FactsRow[], ownIds: ReadonlySet<string>): FactsRow[] {
  const records = component.filter(({ canonical_key: key }) => key.startsWith('cve:'));
  const byKey = Map.groupBy(records, ({ canonical_key }) => canonical_key);
  return [...byKey.values()].filter((same) => same.length > 1 && same.some(({ id }) => ownIds.has(id))).flat();
}

/** The item's own document, without the figures of a group. */
const itemOf = (row: ItemRow): FeedItem => JSON.parse(row.own_doc ?? row.doc) as FeedItem;

/** `members`: of the group that the item leads. `listed`: what catalogues of exploited vulnerabilities hold, as far as the pool's readers see it. */
type Place = { root: string | null; members: FeedItem[]; listed: FeedItem[]; at: Date };

function settle(row: ItemRow, given: Place): Settled | undefined {
  const { duplicateOf: _before, ...own } = itemOf(row);
  const base: FeedItem = given.root === null ? own : { ...own, duplicateOf: given.root };
  const floored = withFloor(base, given.listed);
  const shown = given.members.length === 0 ? floored : withFigures(floored, given.members);
  if (JSON.stringify(shown) === JSON.stringify(JSON.parse(row.doc)) && given.root === row.duplicate_of)
    return undefined;
  const isWritten = row.last_updated.getTime() === given.at.getTime();
  const changed = [
    ...(shown.event.severity === row.severity ? [] : ['severity']),
    ...(JSON.stringify(shown.classification) === JSON.stringify((JSON.parse(row.doc) as FeedItem).classification)
      ? []
      : ['classification']),
  ];
  const version = changed.length > 0 && !isWritten ? row.version + 1 : row.version;
  const stamps = { version, lastUpdated: given.at.toISOString() };
  const doc = JSON.stringify({ ...shown, ...stamps });
  const ownDoc = JSON.stringify({ ...base, ...stamps });
  return {
    id: row.id,
    row,
    doc,
    ownDoc: ownDoc === doc ? null : ownDoc,
    duplicateOf: given.root,
    severity: shown.event.severity,
    version,
    changed,
  };
}

const keyOf = (row: ItemRow, severity: string): CountKey => ({
  poolId: row.pool_id,
  severity,
  status: row.status,
  publisher: row.publisher,
  sourceName: row.source_name,
  platforms: row.platforms,
});
