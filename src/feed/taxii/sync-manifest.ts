import type { Tx } from '../../platform/db/db.ts';
import { applyDatedOverride } from '../exports/dated-override.ts';
import { readItemVersions } from '../exports/item-versions.store.ts';
import { addLiveObjects, findLiveObjects, type MemberCondition } from '../exports/live-objects.ts';
import { isRevocable, toRevokedObject } from '../exports/stix/revoked-object.ts';
import { isSharedObject } from '../exports/stix/stix-threats.ts';
import { toStixItem, type ItemVersion } from '../exports/stix/stix-item.ts';
import { belongsToItem } from '../exports/stix/stix-originals.ts';
import { toModifiedTime, type StixObject } from '../exports/stix/stix-object.ts';
import { toTermValue } from '../model/terms.ts';
import { readOrgState } from '../items/snapshot/org-state.store.ts';
import { isRelevant } from '../items/list-query/relevance.sql.ts';
import type { ManifestCollection } from './collections.ts';
import {
  insertManifestObjects,
  listKnownObjects,
  listStandingObjects,
  moveManifestObjects,
  renewGoneObjects,
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
import { insertObjectItems, listContainingItems } from './object-items.store.ts';

/** How many objects a step adds, if one item does not have more. */
const objectsMax = 5_000;

/**
 * Adds the objects of the next items that changed, became relevant or were overridden to a collection, from at most `limit` changes. The
 * collection must be locked. Returns the number of changes: 0 means that the collection is up to date.
 */
export async function syncManifest(tx: Tx, collection: ManifestCollection, limit: number): Promise<number> {
  const next = await listNextChanges(tx, collection, limit);
  if (next.length === 0) return 0;
  const isMember = collection === 'relevant' ? isRelevant(await readOrgState(tx)) : undefined;
  const found = await readItemVersions(
    tx,
    next.filter((change) => change.isMember),
  );
  const versions = await addLiveObjects(tx, [...found.values()], isMember);
  const { changes, changed } = takeChanges(
    next,
    new Map([...found.keys()].map((key, index) => [key, versions[index]!])),
  );
  const dropped = await dropObjects(tx, { collection, changed, isMember });
  const objects = changed.flatMap((one) => toManifestObjects(one, dropped.get(one.change.id) ?? []));
  if (objects.length > 0) await addObjects(tx, collection, objects);
  await advanceCursors(tx, collection, changes);
  return changes.length;
}

/** Returns the first changes, up to `objectsMax`, and the items that they change, each once. */
function takeChanges(
  next: ItemChange[],
  versions: Map<string, ItemVersion>,
): { changes: ItemChange[]; changed: ChangedItem[] } {
  const changed = new Map<string, ChangedItem>();
  let count = 0;
  for (const [index, change] of next.entries()) {
    const itemVersion = change.isMember ? versions.get(versionKey(change)) : undefined;
    if (!itemVersion || changed.has(change.id)) continue;
    const { objects } = toStixItem(itemVersion);
    if (count > 0 && count + objects.length > objectsMax)
      return { changes: next.slice(0, index), changed: [...changed.values()] };
    changed.set(change.id, { change, itemVersion, objects });
    count += objects.length;
  }
  return { changes: next, changed: [...changed.values()] };
}

/** Adds objects to the collection, and which items besides the first contain them. An object that was revoked gets a later version. */
async function addObjects(tx: Tx, collection: ManifestCollection, objects: NewManifestObject[]): Promise<void> {
  const distinct = withLatestShared([
    ...new Map(objects.map((object) => [`${object.objectId} ${object.version}`, object])).values(),
  ]);
  const contained = objects.filter(({ type, isGone, content }) => !isGone && content === null && isRevocable(type));
  const ids = [...new Set(contained.map(({ objectId }) => objectId))];
  const known = new Map((await listKnownObjects(tx, collection, ids)).map((object) => [object.object_id, object]));
  const firstItems = new Map(distinct.map(({ objectId, itemId }) => [objectId, itemId]));
  for (const { object_id, item_id } of known.values()) firstItems.set(object_id, item_id);
  const others = contained.filter(({ objectId, itemId }) => firstItems.get(objectId) !== itemId);
  if (others.length > 0) await insertObjectItems(tx, collection, others);
  const isRevokedBefore = ({ objectId, version, isGone }: NewManifestObject): boolean => {
    const last = known.get(objectId);
    return !isGone && last !== undefined && last.gone && last.version > version;
  };
  await insertManifestObjects(
    tx,
    collection,
    distinct.map((object) =>
      isRevokedBefore(object)
        ? { ...object, version: toNextVersion(known.get(object.objectId)!.version), isRestored: true }
        : object,
    ),
  );
}

/** Returns a version that is later by a millisecond. */
const toNextVersion = (version: string): string => toModifiedTime(new Date(Date.parse(version) + 1).toISOString());

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

/**
 * Returns the objects of the collection that items no longer contain, by item id. Those that another live item contains stay in the collection,
 * which reads them from there.
 */
async function dropObjects(
  tx: Tx,
  options: { collection: ManifestCollection; changed: ChangedItem[]; isMember: MemberCondition | undefined },
): Promise<Map<string, StandingObject[]>> {
  const { collection, changed, isMember } = options;
  const byId = new Map(
    changed.map((one) => [one.change.id, { ...one, ids: new Set(one.objects.map(({ id }) => id)) }]),
  );
  const itemIds = [...byId.keys()];
  const standing = await listStandingObjects(tx, collection, itemIds);
  const dropped = standing.filter(({ item_id: itemId, object_id: id, type }) => {
    const { itemVersion, ids } = byId.get(itemId)!;
    return !ids.has(id) && (itemVersion.originals === null || belongsToItem({ id, type }, itemVersion.item));
  });
  const retracted = changed.filter(({ itemVersion }) => itemVersion.item.event.status === 'retracted');
  const renewed = retracted.map(({ change }) => change);
  if (renewed.length > 0) await renewGoneObjects(tx, collection, renewed);
  if (dropped.length === 0) return new Map();
  const objectIds = [...new Set(dropped.map(({ object_id: id }) => id))];
  const live = await findLiveObjects(
    tx,
    objectIds,
    await listContainingItems(tx, collection, { objectIds, itemIds, isMember }),
  );
  const moves = dropped.flatMap(({ object_id: objectId, item_id: fromItemId }) => {
    const found = live.get(objectId);
    if (!found) return [];
    const { object, item } = found;
    return [{ objectId, version: stixVersion(object), fromItemId, itemId: item.id, itemVersion: item.version }];
  });
  if (moves.length > 0) await moveManifestObjects(tx, collection, moves);
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
    isRestored: false,
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
