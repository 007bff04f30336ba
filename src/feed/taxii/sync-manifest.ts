import type { Tx } from '../../platform/db/db.ts';
import { findAnswering, isRelevant } from '../items/snapshot/relevance.sql.ts';
import { asWorded } from '../exports/own-overrides.ts';
import { goneObject } from '../exports/stix/revoked-object.ts';
import { stixOfItem, type ExportedItem } from '../exports/stix/stix-item.ts';
import type { StixObject } from '../exports/stix/stix-object.ts';
import { readVersions } from '../exports/exports.store.ts';
import type { Listed } from './collections.ts';
import {
  insertObjects,
  listChanged,
  listHeldObjects,
  listNewlyRelevant,
  listNewlySaid,
  listReworded,
  moveCursors,
  type Changed,
  type HeldObject,
  type NewObject,
} from './manifest.store.ts';

const itemsMax = 200;

/**
 * Lists the objects of the next items that changed, became relevant or of which the organization itself said something. The collection must be
 * locked. Answers how many items that were; none: the collection is up to date.
 */
export async function bringUp(tx: Tx, collection: Listed): Promise<number> {
  const changed = await listNext(tx, collection);
  if (changed.length === 0) return 0;
  const items = [...new Map(changed.filter(({ belongs }) => belongs).map((one) => [one.id, one])).values()];
  const versions = await readVersions(tx, items);
  const held = await listHeldObjects(
    tx,
    collection,
    items.map(({ id }) => id),
  );
  const objects = items.flatMap((item) => {
    const exported = versions.get(`${item.id} ${item.version}`);
    return exported
      ? objectsOf(
          item,
          exported,
          held.filter(({ item_id }) => item_id === item.id),
        )
      : [];
  });
  const distinct = [...new Map(objects.map((object) => [`${object.objectId} ${object.version}`, object])).values()];
  if (distinct.length > 0) await insertObjects(tx, collection, distinct);
  await moveCursors(tx, collection, changed);
  return changed.length;
}

async function listNext(tx: Tx, collection: Listed): Promise<Changed[]> {
  const reworded = await listReworded(tx, collection, itemsMax);
  if (reworded.length > 0) return reworded;
  if (collection === 'all') return listChanged(tx, { collection, prefix: 'pool:', limit: itemsMax });
  const answering = await findAnswering(tx);
  const { version, seq } = answering;
  const relevant = isRelevant(answering);
  if (version === undefined || !relevant) return listChanged(tx, { collection, prefix: 'pool:', limit: itemsMax });
  for (const list of [listNewlyRelevant, listNewlySaid]) {
    const found = await list(tx, { collection, version, seq, relevant, limit: itemsMax });
    if (found.length > 0) return found;
  }
  return listChanged(tx, { collection, prefix: `relevant ${version}:`, relevant, limit: itemsMax });
}

/** The objects of an item, and the last versions of those that it had and has no more. */
function objectsOf({ id, version }: Changed, exported: ExportedItem, held: HeldObject[]): NewObject[] {
  const { objects } = stixOfItem(exported);
  const item = asWorded(exported.item, exported.words.at(-1));
  const there = new Set(objects.map((object) => object.id));
  const gone = held
    .filter(({ object_id }) => !there.has(object_id))
    .map(({ type, object_id }) => goneObject(type, object_id, item))
    .filter((object) => object !== undefined);
  const listed = (object: StixObject, isGone: boolean): NewObject => ({
    objectId: object.id,
    version: versionOf(object),
    type: object.type,
    specVersion: specVersionOf(object),
    itemId: id,
    itemVersion: version,
    gone: isGone,
  });
  return [...objects.map((object) => listed(object, false)), ...gone.map((object) => listed(object, true))];
}

/** `modified`, else `created`; observables have neither. */
export const versionOf = (object: StixObject): string =>
  typeof object['modified'] === 'string'
    ? object['modified']
    : typeof object['created'] === 'string'
      ? object['created']
      : '';

/** An object of STIX 2.0 does not say so. */
const specVersionOf = (object: StixObject): string =>
  typeof object['spec_version'] === 'string' ? object['spec_version'] : object['created'] === undefined ? '2.1' : '2.0';
