import { mapInSlices } from '../../platform/lib/concurrency/slices.ts';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import { toAppliedOverride, type AppliedOverrideRow } from '../items/overrides/override-rows.store.ts';
import { visiblePoolIds } from '../items/visible-pools.sql.ts';
import type { FeedItem } from '../model/item.schema.ts';
import type { DatedOverride } from './dated-override.ts';
import type { ItemVersion } from './stix/stix-item.ts';
import { textMaxChars } from './relationships/find-relationships.ts';
import type { StixObject } from './stix/stix-object.ts';

export type VersionKey = { id: string; version: number };
type VersionRow = VersionKey & {
  doc: string;
  objects: string | null;
  text: string | null;
  wasChangedByPerson: boolean;
};

/**
 * Returns versions of items, by `id version`. Versions that the organization does not see, or whose content was erased, are absent. The
 * organization's overrides apply to every version.
 */
export async function readItemVersions(tx: Tx, keys: VersionKey[]): Promise<Map<string, ItemVersion>> {
  if (keys.length === 0) return new Map();
  const found = await queryRows<VersionRow>(tx)`
      select v.item_id as id, v.version, coalesce(v.doc, i.doc) as doc, left(v.stored_text, ${textMaxChars}) as text, (
          select e.objects from item_versions e where e.item_id = v.item_id and e.version <= v.version and e.objects is not null
          order by e.version desc limit 1) as objects,
        exists (select from item_versions e where e.item_id = v.item_id and e.version <= v.version and e.cause = 'person') as "wasChangedByPerson"
      from unnest(${keys.map(({ id }) => id)}::uuid[], ${keys.map(({ version }) => version)}::int[]) as k (id, version)
      join item_versions v on v.item_id = k.id and v.version = k.version join items i on i.id = v.item_id
      where v.doc is distinct from '' and v.pool_id in ${visiblePoolIds}`;
  const ids = found.map(({ id }) => id);
  const overrides = await listOverrideHistory(tx, ids);
  const versions = await mapInSlices(found, (row) => toItemVersion(row, overrides.get(row.id) ?? []));
  return new Map(versions.map((version, index) => [`${found[index]!.id} ${found[index]!.version}`, version]));
}

const toItemVersion = (
  { doc, objects, text, wasChangedByPerson }: VersionRow,
  overrides: DatedOverride[],
): ItemVersion => ({
  item: JSON.parse(doc) as FeedItem,
  originals: objects === null ? null : (JSON.parse(objects) as StixObject[]),
  overrides,
  storedText: text,
  wasChangedByPerson,
});

/** Returns every override that the organization ever set for these items, by item id, oldest first. The last one is in force. */
export async function listOverrideHistory(tx: Tx, itemIds: string[]): Promise<Map<string, DatedOverride[]>> {
  const found = await queryRows<AppliedOverrideRow & { item_id: string; at: Date }>(tx)`
      select item_id, at, severity, status, indicators from feed_marks
      where organization_id = tocsin_org() and item_id = any(${itemIds}::uuid[]) order by at`;
  const rowsByItem = Map.groupBy(found, ({ item_id }) => item_id);
  return new Map(
    [...rowsByItem].map(([id, rows]) => [id, rows.map((row) => ({ at: row.at, ...toAppliedOverride(row) }))]),
  );
}
