import { sql } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import { moveCounts, toCountedItem, type CountedRow } from './feed-pools.store.ts';

/** Sets whether items were absent from the last good pull (1) or present (0). */
export async function setMissingPulls(tx: Tx, ids: string[], missingPulls: 0 | 1): Promise<void> {
  if (ids.length > 0)
    await sql`update items set missing_pulls = ${missingPulls} where id = any(${ids}::uuid[])`.execute(tx);
}

/** Updates what an item is compared by. Its content stays the same. */
export async function updateComparisonTraits(
  tx: Tx,
  id: string,
  traits: { sketch: string | null; identifying: number; readerVersion: number },
): Promise<void> {
  await sql`
    update items set sketch = ${traits.sketch}, identifying = ${traits.identifying}, reading = ${traits.readerVersion}
      where id = ${id}`.execute(tx);
}

/** Makes a root point at another root. `seq` is the new sequence number of the item's pool. */
export async function setRoot(tx: Tx, id: string, root: string, seq: number): Promise<void> {
  const moved = await queryRow<CountedRow>(tx)`
    update items set duplicate_of = ${root}, seq = ${seq} where id = ${id}
    returning pool_id, severity, status, publisher, source_name, platforms, duplicate_of`;
  if (!moved) return;
  const after = toCountedItem(moved);
  await moveCounts(tx, [{ before: { ...after, isRoot: true }, after }]);
}

/** An item after its group was recomputed. `changed` lists the changed parts of the content; if there are any, `version` is a new version. */
export type GroupedItem = {
  id: string;
  doc: string;
  /** The document without the figures of the group, if that differs. */
  ownDoc: string | null;
  duplicateOf: string | null;
  severity: string;
  version: number;
  changed: string[];
};

export async function updateGroupedItems(
  tx: Tx,
  { at, seq }: { at: Date; seq: number },
  items: GroupedItem[],
): Promise<void> {
  const column = <K extends keyof GroupedItem>(name: K): GroupedItem[K][] => items.map((item) => item[name]);
  const ids = column('id');
  const changed = items.map((item) => item.changed.join(','));
  // An array makes the planner look the items up by index: because of row-level security, a join seems to cost more than reading all of them.
  const isWanted = sql`i.id = any(${ids}::uuid[])`;
  // A new version has the text of the previous one.
  await sql`
    insert into item_versions (organization_id, item_id, pool_id, version, cause, changed, stored_text, at)
    select v.organization_id, v.item_id, v.pool_id, n.version, 'group', string_to_array(n.changed, ','), v.stored_text, ${at}
    from unnest(${ids}::uuid[], ${column('version')}::int[], ${changed}::text[]) as n (id, version, changed)
      join items i on i.id = n.id and ${isWanted} and i.version < n.version join item_versions v on v.item_id = i.id
        and v.version = i.version`.execute(tx);
  await sql`
    update items i set doc = n.doc, own_doc = n.own_doc, duplicate_of = n.duplicate_of, severity = n.severity, version = n.version,
      seq = ${seq}, last_updated = ${at}
    from unnest(${ids}::uuid[], ${column('doc')}::text[], ${column('ownDoc')}::text[], ${column('duplicateOf')}::uuid[],
      ${column('severity')}::text[], ${column('version')}::int[]) as n (id, doc, own_doc, duplicate_of, severity, version)
    where i.id = n.id and ${isWanted}`.execute(tx);
}

type RetractionUpdate = {
  id: string;
  /** The current version. */
  version: number;
  next: { version: number; status: string; severity: string; doc: string; nextExpiryAt: Date | null };
  /** The document before the retraction; null when the retraction is taken back. */
  heldBack: string | null;
  note: string | null;
  seq: number;
  at: Date;
};

/** Writes the version of an item that a person retracted or restored. A restored item is extracted again from its text. */
export async function updateRetraction(tx: Tx, update: RetractionUpdate): Promise<void> {
  const { id, next, heldBack, at } = update;
  await sql`
    insert into item_versions (organization_id, item_id, pool_id, version, cause, changed, stored_text, at, note)
    select organization_id, item_id, pool_id, ${next.version}, 'person', '{status}', stored_text, ${at}, ${update.note}
    from item_versions where item_id = ${id} and version = ${update.version}`.execute(tx);
  await sql`
    update items set status = ${next.status}, severity = ${next.severity}, version = ${next.version}, doc = ${next.doc}, own_doc = null,
      held_back = ${heldBack}, reading = ${heldBack === null ? 0 : sql`reading`}, next_expiry_at = ${next.nextExpiryAt}, seq = ${update.seq},
      last_updated = ${at}
    where id = ${id}`.execute(tx);
  const standing = next.status === 'retracted' ? 'revoked' : null;
  await sql`update item_terms set standing = ${standing} where item_id = ${id} and entity is not null`.execute(tx);
}

/** Moves the documents that a person may restore from items to the items that succeed them. */
export async function moveRetractedDocuments(
  tx: Tx,
  moves: { from: string; to: string; doc: string }[],
): Promise<void> {
  const column = (name: 'from' | 'to' | 'doc'): string[] => moves.map((move) => move[name]);
  await sql`update items set held_back = null where id = any(${column('from')}::uuid[])`.execute(tx);
  await sql`
    update items i set held_back = n.doc from unnest(${column('to')}::uuid[], ${column('doc')}::text[]) as n (id, doc)
      where i.id = n.id`.execute(tx);
}

/** Erases the content of all stored versions of items that their audience may no longer see. */
export async function eraseVersionContent(tx: Tx, ids: string[]): Promise<void> {
  if (ids.length > 0)
    await sql`
      update item_versions set stored_text = '', doc = '', objects = null, changed = '{}'
        where item_id = any(${ids}::uuid[])`.execute(tx);
}
