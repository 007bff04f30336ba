import type { Tx } from '../../platform/db/db.ts';
import { applyDatedOverride } from '../items/snapshot/apply-overrides.ts';
import { readItemVersions, type VersionKey } from '../exports/exports.store.ts';
import { addLiveObjects, findLiveObjects, type LiveObject, type MemberCondition } from '../exports/live-objects.ts';
import { isRevocable, toRevokedObject, belongsToItem } from '../exports/stix/stix-originals.ts';
import { toObservableValue } from '../exports/stix/stix-indicators.ts';
import { isSharedObject } from '../exports/stix/stix-threats.ts';
import { toStixItem, type ItemVersion } from '../exports/stix/stix-item.ts';
import { toModifiedTime, type StixObject } from '../exports/stix/stix-object.ts';
import { toTermValue } from '../model/terms.ts';
import { readOrgState } from '../items/snapshot/org-state.store.ts';
import { isRelevant } from '../items/list-query/relevant-items.store.ts';
import type { ManifestCollection } from './collections.ts';
import {
  insertManifestObjects,
  listKnownObjects,
  listStandingObjects,
  moveManifestObjects,
  renewGoneObjects,
  type KnownObject,
  type NewManifestObject,
  type StandingObject,
  insertObjectItems,
  listContainingItems,
} from './manifest-objects.store.ts';
import {
  advanceCursors,
  listChangedItems,
  listOverrideChanges,
  listRelevanceChanges,
  type ItemChange,
} from './manifest.store.ts';

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
  const objects = [
    ...changed.flatMap((one) => toManifestObjects(one, dropped.gone.get(one.change.id) ?? [])),
    ...dropped.moved,
  ];
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

/**
 * Adds objects to the collection, and which items besides the first contain them. An object that was revoked gets a later version, and so do its
 * next versions if their source dates them earlier than that.
 */
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
  await insertManifestObjects(
    tx,
    collection,
    distinct.flatMap((object) => {
      const last = known.get(object.objectId);
      if (!last || !needsLaterVersion(object, last)) return [object];
      return [object, { ...object, version: toNextVersion(last.version), isRestored: true }];
    }),
  );
}

/** Returns whether the collection would not show an object because it has a later version, which revoked it or was added after that. */
function needsLaterVersion({ version, isGone }: NewManifestObject, last: KnownObject): boolean {
  if (isGone || last.version <= version) return false;
  return last.gone || (last.restored && version > (last.own_version ?? ''));
}

/** Returns a version that is later by a millisecond. */
const toNextVersion = (version: string): string => toModifiedTime(new Date(Date.parse(version) + 1).toISOString());

/** Keeps only the latest version of each shared object. */
function withLatestShared(objects: NewManifestObject[]): NewManifestObject[] {
  const latest = new Map<string, string>();
  for (const { objectId, version, content } of objects)
    if (content !== null && version > (latest.get(objectId) ?? '')) latest.set(objectId, version);
  return objects.filter(
    ({ objectId, version, content }) => content === null || (latest.get(objectId) ?? '') === version,
  );
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

/** Objects that items no longer contain, by item id, and new versions of those that another item contains. */
type DroppedObjects = { gone: Map<string, StandingObject[]>; moved: NewManifestObject[] };

/**
 * Returns the objects of the collection that items no longer contain. Those that another live item contains stay in the collection, which reads
 * them from there.
 */
async function dropObjects(
  tx: Tx,
  options: { collection: ManifestCollection; changed: ChangedItem[]; isMember: MemberCondition | undefined },
): Promise<DroppedObjects> {
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
  if (dropped.length === 0) return { gone: new Map(), moved: [] };
  const objectIds = [...new Set(dropped.map(({ object_id: id }) => id))];
  const live = await findLiveObjects(
    tx,
    objectIds,
    await listContainingItems(tx, collection, { objectIds, itemIds, isMember }),
  );
  return {
    gone: Map.groupBy(
      dropped.filter(({ object_id: id }) => !live.has(id)),
      ({ item_id: itemId }) => itemId,
    ),
    moved: await moveObjects(tx, collection, { dropped, live }),
  };
}

/**
 * Moves objects to the live items that contain them. Returns a later version of those whose last version is one that only the item that drops
 * them has.
 */
async function moveObjects(
  tx: Tx,
  collection: ManifestCollection,
  { dropped, live }: { dropped: StandingObject[]; live: Map<string, LiveObject> },
): Promise<NewManifestObject[]> {
  const moves = dropped.flatMap(({ object_id: objectId, item_id: fromItemId }) => {
    const found = live.get(objectId);
    return found ? [{ objectId, fromItemId, ...found }] : [];
  });
  if (moves.length === 0) return [];
  const rows = moves.map(({ objectId, fromItemId, object, item }) => ({
    objectId,
    version: stixVersion(object),
    fromItemId,
    itemId: item.id,
    itemVersion: item.version,
  }));
  await moveManifestObjects(tx, collection, rows);
  const known = await listKnownObjects(tx, collection, [...new Set(moves.map(({ objectId }) => objectId))]);
  const lastById = new Map(known.map((last) => [last.object_id, last]));
  return moves.flatMap(({ objectId, fromItemId, object, item }) => {
    const last = lastById.get(objectId);
    if (!last || last.item_id !== fromItemId) return [];
    const moved = toManifestObject(object, item, { cameAsStix: true });
    return [{ ...moved, version: toNextVersion(last.version), isRestored: true }];
  });
}

/** Returns the objects of an item, and the final versions of those that it no longer contains. */
function toManifestObjects(
  { change, itemVersion, objects }: ChangedItem,
  dropped: StandingObject[],
): NewManifestObject[] {
  const item = applyDatedOverride(itemVersion.item, itemVersion.overrides.at(-1));
  const cameAsStix = itemVersion.originals !== null;
  const gone = dropped.flatMap(({ type, object_id: id, created }) => {
    const object = toRevokedObject({ type, id, created }, item);
    return object ? [{ ...toManifestObject(object, change, { cameAsStix }), created, isGone: true }] : [];
  });
  return [...objects.map((object) => toManifestObject(object, change, { cameAsStix })), ...gone];
}

function toManifestObject(
  object: StixObject,
  { id, version }: VersionKey,
  { cameAsStix }: { cameAsStix: boolean },
): NewManifestObject {
  const { created } = object;
  return {
    objectId: object.id,
    version: stixVersion(object),
    type: object.type,
    specVersion: stixSpecVersion(object),
    itemId: id,
    itemVersion: version,
    isGone: false,
    isRestored: false,
    created: cameAsStix && typeof created === 'string' ? created : null,
    ...(cameAsStix || !isSharedObject(object)
      ? { content: null, term: null }
      : { content: JSON.stringify(object), term: toSharedTerm(object) }),
  };
}

/**
 * Objects that have the name of an actor, a malware, a tool or a CVE, or a value, need a visible item with it. The others, such as techniques and
 * countries, are visible to everyone.
 */
function toSharedTerm(object: StixObject): string | null {
  const { type, name, created } = object;
  if (created === undefined) return toTermValue('indicator', toObservableValue(object));
  if (type === 'intrusion-set') return toTermValue('actor', String(name));
  if (type === 'vulnerability') return toTermValue('cve', String(name));
  return type === 'malware' || type === 'tool' ? toTermValue('malware', String(name)) : null;
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
