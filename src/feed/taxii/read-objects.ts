import { flatMapInSlices } from '../../platform/lib/concurrency/slices.ts';
import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { readItemVersions } from '../exports/exports.store.ts';
import { toRevokedObject } from '../exports/stix/stix-originals.ts';
import { toStixItem, type ItemVersion } from '../exports/stix/stix-item.ts';
import type { StixObject } from '../exports/stix/stix-object.ts';
import type { TaxiiCollection } from './collections.ts';
import { listManifestRows, type ManifestRow, lockCollection } from './manifest.store.ts';
import { toNextToken, type ObjectsFilter } from './objects-query.ts';
import { stixVersion, syncManifest } from './sync-manifest.ts';

export type TaxiiDeps = { db: Db };

/** `next` is present if there are more rows, or if the manifest is not fully synced yet. */
export type ManifestPage = { rows: ManifestRow[]; next: string | undefined };

/** How long a request syncs before it returns what there is. The next page continues the sync. */
const syncMs = 3_000;
// Changes in one step of the sync. An item has from one to thousands of objects, so steps begin small and grow while they are fast.
const changesMin = 20;
const changesMax = 200;
const stepMs = 500;

/**
 * Returns rows of a collection, after syncing its manifest as far as the page needs. Each step of the sync is a transaction of its own: after
 * a large load no request takes long, and none repeats the work of one that failed.
 */
export async function readManifestPage(
  { db }: TaxiiDeps,
  { orgId }: Caller,
  collection: TaxiiCollection,
  filter: ObjectsFilter,
): Promise<ManifestPage> {
  const list = (): Promise<ManifestRow[]> => inOrg(db, orgId, (tx) => listManifestRows(tx, collection, filter));
  const until = performance.now() + syncMs;
  let found = await list();
  let isSynced = false;
  let changes = changesMin;
  while (!isSynced && found.length <= filter.limit) {
    const startedMs = performance.now();
    isSynced = await inOrg(db, orgId, async (tx) => {
      await lockCollection(tx, collection.manifest);
      return (await syncManifest(tx, collection.manifest, changes)) === 0;
    });
    const isFast = performance.now() - startedMs < stepMs;
    changes = isFast ? Math.min(2 * changes, changesMax) : changesMin;
    found = await list();
    if (performance.now() > until) break;
  }
  const page = found.slice(0, filter.limit);
  const hasMore = found.length > filter.limit || !isSynced;
  const lastDate = page.at(-1)?.date_added ?? filter.after ?? '1970-01-01T00:00:00Z';
  return { rows: page, next: hasMore ? toNextToken(lastDate) : undefined };
}

/** Returns the objects of rows, in their order. Rows whose item the organization no longer sees are left out. */
export function readObjects({ db }: TaxiiDeps, { orgId }: Caller, manifest: ManifestRow[]): Promise<StixObject[]> {
  return inOrg(db, orgId, (tx) => readContents(tx, manifest));
}

async function readContents(tx: Tx, manifest: ManifestRow[]): Promise<StixObject[]> {
  const keys = new Map(
    manifest
      .filter(({ content }) => content === null)
      .map((row) => [versionKey(row), { id: row.item_id, version: row.item_version }] as const),
  );
  const versions = await readItemVersions(tx, [...keys.values()]);
  const objectsByKey = new Map<string, Map<string, StixObject>>();
  const objectsOf = (key: string, version: ItemVersion): Map<string, StixObject> => {
    const objects = objectsByKey.get(key) ?? objectsByVersion(version);
    objectsByKey.set(key, objects);
    return objects;
  };
  return flatMapInSlices(manifest, (row): StixObject[] => {
    if (row.content !== null) return [JSON.parse(row.content) as StixObject];
    const key = versionKey(row);
    const version = versions.get(key);
    if (!version) return [];
    if (row.gone) {
      const { type, object_id: id, created } = row;
      return [{ ...toRevokedObject({ type, id, created }, version.item)!, modified: row.version }];
    }
    const objects = objectsOf(key, version);
    const object = row.restored ? objects.get(row.object_id) : objects.get(`${row.object_id} ${row.version}`);
    if (!object) return [];
    return [row.restored ? { ...object, modified: row.version } : object];
  });
}

const versionKey = ({ item_id, item_version }: ManifestRow): string => `${item_id} ${item_version}`;

/**
 * Returns every version of an item's objects, by object id and version: as they came, without overrides, and after each override of the
 * history. A later one wins. The last one is also found by the object id alone.
 */
function objectsByVersion(version: ItemVersion): Map<string, StixObject> {
  const counts = [...Array(version.overrides.length + 1).keys()];
  const objects = counts.flatMap(
    (count) => toStixItem({ ...version, overrides: version.overrides.slice(0, count) }).objects,
  );
  return new Map(
    [...(version.originals ?? []), ...objects].flatMap((object) => [
      [`${object.id} ${stixVersion(object)}`, object],
      [object.id, object],
    ]),
  );
}
