import type { Tx } from '../../platform/db/db.ts';
import { applyDatedOverride } from '../exports/dated-override.ts';
import { readItemVersions } from '../exports/item-versions.store.ts';
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
  const versions = await readItemVersions(tx, items);
  const itemIds = items.map(({ id }) => id);
  const standing = await listStandingObjects(tx, collection, itemIds);
  const standingByItem = Map.groupBy(standing, ({ item_id }) => item_id);
  const objects = items.flatMap((item) => {
    const version = versions.get(`${item.id} ${item.version}`);
    return version ? toManifestObjects(item, version, standingByItem.get(item.id) ?? []) : [];
  });
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

/** Returns the objects of an item, and the final versions of those that it no longer contains. */
function toManifestObjects(
  { id, version }: ItemChange,
  itemVersion: ItemVersion,
  standing: StandingObject[],
): NewManifestObject[] {
  const { objects } = toStixItem(itemVersion);
  const item = applyDatedOverride(itemVersion.item, itemVersion.overrides.at(-1));
  const currentIds = new Set(objects.map((object) => object.id));
  const gone = standing
    .filter(({ object_id }) => !currentIds.has(object_id))
    .filter((one) => itemVersion.originals === null || belongsToItem({ ...one, id: one.object_id }, item))
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
