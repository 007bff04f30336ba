import { sql } from 'kysely';
import { rows, type Tx } from '../../platform/db/db.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { isVisible } from '../items/items.store.ts';
import { listOwnWords, type OwnWord } from './own-overrides.ts';
import type { ExportedItem } from './stix/stix-item.ts';
import type { StixObject } from './stix/stix-object.ts';

export type VersionKey = { id: string; version: number };
type VersionRow = VersionKey & {
  doc: string;
  objects: string | null;
  cause: string;
};

/**
 * Versions of items as the organization of the transaction may see them, by `id version`; one that it does not see, or whose content is gone, is
 * left out. The organization's own words hold for every version.
 */
export async function readVersions(tx: Tx, keys: VersionKey[]): Promise<Map<string, ExportedItem>> {
  if (keys.length === 0) return new Map();
  const found = await rows(
    tx,
    sql<VersionRow>`
      select v.item_id as id, v.version, v.doc, v.cause, (
          select e.objects from item_versions e where e.item_id = v.item_id and e.version <= v.version and e.objects is not null
          order by e.version desc limit 1) as objects
      from unnest(${keys.map(({ id }) => id)}::uuid[], ${keys.map(({ version }) => version)}::int[]) as k (id, version)
      join item_versions v on v.item_id = k.id and v.version = k.version
      where v.doc <> '' and v.pool_id in (select id from feed_pools where ${isVisible})`,
  );
  const words = await listOwnWords(
    tx,
    found.map(({ id }) => id),
  );
  return new Map(found.map((row) => [`${row.id} ${row.version}`, toExported(row, words.get(row.id) ?? [])]));
}

const toExported = ({ doc, objects, cause }: VersionRow, words: OwnWord[]): ExportedItem => ({
  item: JSON.parse(doc) as FeedItem,
  originals: objects === null ? null : (JSON.parse(objects) as StixObject[]),
  words,
  byPerson: cause === 'person',
});
