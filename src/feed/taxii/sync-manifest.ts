import type { Tx } from '../../platform/db/db.ts';
import { applyDatedOverride } from '../exports/dated-override.ts';
import { listEarlierVersions, readItemVersions } from '../exports/item-versions.store.ts';
import { addLiveObjects, findLiveObjects, type MemberCondition } from '../exports/live-objects.ts';
import { toRevokedObject } from '../exports/stix/revoked-object.ts';
import { isSharedObject } from '../exports/stix/stix-threats.ts';
import { toStixItem, type ItemVersion } from '../exports/stix/stix-item.ts';
import { belongsToItem } from '../exports/stix/stix-originals.ts';
import type { StixObject } from '../exports/stix/stix-object.ts';
import { toTermValue } from '../model/terms.ts';
import { readOrgState } from '../items/snapshot/org-state.store.ts';
import { isRelevant } from '../items/list-query/relevance.sql.ts';
import type { ManifestCollection } from './collections.ts';
import {
  insertManifestObjects,
  listStandingObjects,
  type NewManifestObject,
  type StandingObject,
} from './manifest-objects.store.ts';
import {
  advanceCursors,
  listChangedItems,
  listOverrideChanges,
  listRelevanceChanges,
  type ItemChange,
} from './manifest.store.ts';

/**
 * Adds the objects of the next items that changed, became relevant or were overridden to a collection, at most `limit` of each. The collection
 * must be locked. Returns the number of changes: 0 means that the collection is up to date.
 */
export async function syncManifest(tx: Tx, collection: ManifestCollection, limit: number): Promise<number> {
  const changes = await listNextChanges(tx, collection, limit);
  if (changes.length === 0) return 0;
  const items = [...new Map(changes.filter(({ isMember }) => isMember).map((change) => [change.id, change])).values()];
  const found = await readItemVersions(tx, items);
  const isMember = collection === 'relevant' ? isRelevant(await readOrgState(tx)) : undefined;
  const keys = items.filter((item) => found.has(versionKey(item)));
  const versions = await addLiveObjects(
    tx,
    keys.flatMap((key) => found.get(versionKey(key)) ?? []),
    isMember,
  );
  const changed = keys.map((change, index): ChangedItem => toChangedItem(change, versions[index]!));
  const dropped = await listDroppedObjects(tx, { collection, changed, isMember });
  const objects = changed.flatMap((one) => toManifestObjects(one, dropped.get(one.change.id) ?? []));
  const distinct = withLatestShared([
    ...new Map(objects.map((object) => [`${object.objectId} ${object.version}`, object])).values(),
  ]);
  if (distinct.length > 0) await insertManifestObjects(tx, collection, distinct);
  await advanceCursors(tx, collection, changes);
  return changes.length;
}

/** Keeps only the latest version of each shared object. */
function withLatestShared(objects: NewManifestObject[]): NewManifestObject[] {
  const latest = new Map<string, string>();
  for (const { objectId, version, content } of objects)
    if (content !== null && version > (latest.get(objectId) ?? '')) latest.set(objectId, version);
  return objects.filter(({ objectId, version, content }) => content === null || latest.get(objectId) === version);
}

async function listNextChanges(tx: Tx, collection: ManifestCollection, limit: number): Promise<ItemChange[]> {
  const overrideChanges = await listOverrideChanges(tx, collection, limit);
  if (overrideChanges.length > 0) return overrideChanges;
  if (collection === 'all') return listChangedItems(tx, { collection, prefix: 'pool', limit });
  const orgState = await readOrgState(tx);
  const { profileVersion, ownSeq } = orgState;
  const isMember = isRelevant(orgState);
  if (profileVersion === undefined || !isMember) return listChangedItems(tx, { collection, prefix: 'pool', limit });
  for (const cause of ['relevant', 'overridden'] as const) {
    const changes = { collection, cause, profileVersion, ownSeq, isRelevant: isMember, limit };
    const found = await listRelevanceChanges(tx, changes);
    if (found.length > 0) return found;
  }
  return listChangedItems(tx, { collection, prefix: `relevant ${profileVersion}`, isMember, limit });
}

/** A changed item with its current objects. */
type ChangedItem = { change: ItemChange; itemVersion: ItemVersion; objects: StixObject[] };

const toChangedItem = (change: ItemChange, itemVersion: ItemVersion): ChangedItem => ({
  change,
  itemVersion,
  objects: toStixItem(itemVersion).objects,
});

/** Returns the objects of the collection that items no longer contain, by item id, without those that a live item still contains. */
async function listDroppedObjects(
  tx: Tx,
  options: { collection: ManifestCollection; changed: ChangedItem[]; isMember: MemberCondition | undefined },
): Promise<Map<string, StandingObject[]>> {
  const { collection, changed, isMember } = options;
  const earlierKeys = await listEarlierVersions(
    tx,
    changed.map(({ change }) => change),
  );
  const earlier = await readItemVersions(tx, earlierKeys);
  const earlierByItem = Map.groupBy([...earlier.values()], ({ item }) => item.id);
  const currentIds = new Map(changed.map(({ change, objects }) => [change.id, new Set(objects.map(({ id }) => id))]));
  const isDropped = (itemId: string, objectId: string): boolean => !currentIds.get(itemId)!.has(objectId);
  const contained = [...earlier.values()].flatMap(({ item, originals }) =>
    (originals ?? []).filter(({ id }) => isDropped(item.id, id)).map(({ id }) => ({ itemId: item.id, objectId: id })),
  );
  const itemIds = changed.map(({ change }) => change.id);
  const standing = await listStandingObjects(tx, collection, { itemIds, contained });
  const versionOf = new Map(changed.map(({ change, itemVersion }) => [change.id, itemVersion]));
  const dropped = standing.filter(({ item_id: itemId, object_id: id, type }) => {
    const { originals, item } = versionOf.get(itemId)!;
    return isDropped(itemId, id) && (originals === null || belongsToItem({ id, type }, item));
  });
  const droppedByItem = Map.groupBy(dropped, ({ item_id: itemId }) => itemId);
  const withdrawn = [...droppedByItem].flatMap(([itemId, objects]) => {
    const ids = objects.map(({ object_id: id }) => id);
    return [versionOf.get(itemId)!, ...(earlierByItem.get(itemId) ?? [])].map((version) => ({ version, ids }));
  });
  const live = await findLiveObjects(tx, withdrawn, isMember);
  return Map.groupBy(
    dropped.filter(({ object_id: id }) => !live.has(id)),
    ({ item_id: itemId }) => itemId,
  );
}

/** Returns the objects of an item, and the final versions of those that it no longer contains. */
function toManifestObjects(
  { change: { id, version }, itemVersion, objects }: ChangedItem,
  dropped: StandingObject[],
): NewManifestObject[] {
  const item = applyDatedOverride(itemVersion.item, itemVersion.overrides.at(-1));
  const gone = dropped
    .map(({ type, object_id }) => toRevokedObject(type, object_id, item))
    .filter((object) => object !== undefined);
  const toManifestObject = (object: StixObject, isGone: boolean): NewManifestObject => ({
    objectId: object.id,
    version: stixVersion(object),
    type: object.type,
    specVersion: stixSpecVersion(object),
    itemId: id,
    itemVersion: version,
    isGone,
    ...toSharedColumns(object, itemVersion),
  });
  return [
    ...objects.map((object) => toManifestObject(object, false)),
    ...gone.map((object) => toManifestObject(object, true)),
  ];
}

/** A country is visible to everyone. The other shared objects have the name of an actor, a malware or a tool. */
function toSharedColumns(object: StixObject, { originals }: ItemVersion): Pick<NewManifestObject, 'content' | 'term'> {
  if (originals || !isSharedObject(object)) return { content: null, term: null };
  const { type, name } = object;
  const term = type === 'location' ? null : toTermValue(type === 'intrusion-set' ? 'actor' : 'malware', String(name));
  return { content: JSON.stringify(object), term };
}

const versionKey = ({ id, version }: { id: string; version: number }): string => `${id} ${version}`;

/** Returns `modified`, or `created` if there is none. Observables have neither and an empty version. */
export function stixVersion({ modified, created }: StixObject): string {
  if (typeof modified === 'string') return modified;
  return typeof created === 'string' ? created : '';
}

/** Objects of STIX 2.0 have no `spec_version`, but `created`. */
function stixSpecVersion({ spec_version: specVersion, created }: StixObject): string {
  if (typeof specVersion === 'string') return specVersion;
  return created === undefined ? '2.1' : '2.0';
}
