import { sql } from 'kysely';
import { rows, type Tx } from '../db/db.ts';
import type { FeedItem } from './schema.ts';

/** What the organization of the transaction says of an item. `moved`: it sees `duplicate_of` as the root, null for none. */
export type Override = {
  item_id: string;
  status: 'retracted' | null;
  note: string | null;
  moved: boolean;
  duplicate_of: string | null;
  updated_at: Date;
  updated_by: string | null;
};

/** What the organization says of these items, by id. */
export async function listOverridesOf(tx: Tx, ids: string[]): Promise<Map<string, Override>> {
  const found = await rows(
    tx,
    sql<Override>`
      select item_id, status, note, moved, duplicate_of, updated_at, updated_by from feed_overrides
      where organization_id = tocsin_org() and item_id = any(${ids}::uuid[])`,
  );
  return new Map(found.map((override) => [override.item_id, override]));
}

/** Documents of a page as the organization sees them; those that it says nothing of stay the text that they are. */
export async function overrideDocuments(tx: Tx, docs: string[]): Promise<string[]> {
  if (docs.length === 0) return docs;
  const ids = docs.map(idOfDocument);
  const overrides = await listOverridesOf(tx, ids);
  if (overrides.size === 0) return docs;
  return docs.map((doc, index) => {
    const override = overrides.get(ids[index]!);
    return override ? JSON.stringify(overridden(JSON.parse(doc) as FeedItem, override)) : doc;
  });
}

/** A document begins with its id. */
const idOfDocument = (doc: string): string => /^\{"id":"([0-9a-f-]{36})"/.exec(doc)![1]!;

/** The item with the organization's own words beside it; its own fields stay those that everyone sees, but for its root. */
export function overridden(item: FeedItem, override: Override): FeedItem {
  const { duplicateOf, ...rest } = item;
  const root = override.moved ? override.duplicate_of : duplicateOf;
  return {
    ...rest,
    ...(root ? { duplicateOf: root } : {}),
    tenantOverrides:
      override.status === null
        ? null
        : {
            status: override.status,
            ...(override.note === null ? {} : { note: override.note }),
            updatedAt: override.updated_at.toISOString(),
            ...(override.updated_by === null ? {} : { updatedBy: override.updated_by }),
          },
  };
}

/** The items that the organization retracted for itself. */
export async function listRetracted(tx: Tx): Promise<string[]> {
  const found = await rows(
    tx,
    sql<{ item_id: string }>`
      select item_id from feed_overrides where organization_id = tocsin_org() and status = 'retracted'`,
  );
  return found.map(({ item_id }) => item_id);
}
