import type { Deps } from '../../app/deps.ts';
import { inOrg, type Tx } from '../../platform/db/db.ts';
import { goneObject } from '../exports/stix/revoked-object.ts';
import { stixOfItem, type ExportedItem } from '../exports/stix/stix-item.ts';
import type { StixObject } from '../exports/stix/stix-object.ts';
import { readVersions } from '../exports/exports.store.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { bringUp, versionOf } from './sync-manifest.ts';
import type { Collection } from './collections.ts';
import { listObjects, type ListedObject } from './manifest-page.store.ts';
import { nextOf, type Asked } from './objects-query.ts';
import { lockCollection } from './manifest.store.ts';

/** A part of a collection. `last`: the date that the page ends with, however many of its objects are left. */
export type ListedPage = { rows: ListedObject[]; next: string | undefined };

/** Steps of bringing up in one request; what is left is brought up by the next, which `more` asks for. */
const stepsMax = 25;

/** Rows of a collection, which is brought up to date as far as the page needs. */
export function listPage({ db }: Deps, caller: Caller, collection: Collection, asked: Asked): Promise<ListedPage> {
  return inOrg(db, caller.orgId, async (tx) => {
    await lockCollection(tx, collection.listed);
    let found = await listObjects(tx, collection, asked);
    let isUpToDate = false;
    for (let step = 0; step < stepsMax && !isUpToDate && found.length <= asked.limit; step += 1) {
      isUpToDate = (await bringUp(tx, collection.listed)) === 0;
      if (!isUpToDate) found = await listObjects(tx, collection, asked);
    }
    const page = found.slice(0, asked.limit);
    const isMore = found.length > asked.limit || !isUpToDate;
    const last = page.at(-1)?.date_added ?? asked.after ?? '1970-01-01T00:00:00Z';
    return { rows: page, next: isMore ? nextOf(last) : undefined };
  });
}

/** The content of rows, in their order; a row whose item the organization no longer sees has none. */
export function readObjects({ db }: Deps, caller: Caller, listed: ListedObject[]): Promise<StixObject[]> {
  return inOrg(db, caller.orgId, (tx) => readContents(tx, listed));
}

async function readContents(tx: Tx, listed: ListedObject[]): Promise<StixObject[]> {
  const keys = new Map(
    listed.map((row) => [`${row.item_id} ${row.item_version}`, { id: row.item_id, version: row.item_version }]),
  );
  const versions = await readVersions(tx, [...keys.values()]);
  const made = new Map<string, Map<string, StixObject>>();
  const objectsOf = (key: string, item: ExportedItem): Map<string, StixObject> => {
    const known =
      made.get(key) ?? new Map(candidates(item).map((object) => [`${object.id} ${versionOf(object)}`, object]));
    made.set(key, known);
    return known;
  };
  return listed.flatMap((row) => {
    const key = `${row.item_id} ${row.item_version}`;
    const exported = versions.get(key);
    if (!exported) return [];
    if (row.gone) return [{ ...goneObject(row.type, row.object_id, exported.item)!, modified: row.version }];
    return objectsOf(key, exported).get(`${row.object_id} ${row.version}`) ?? [];
  });
}

/** Without the organization's own words, and from each of them on: every version listed is of one of these, the later the surer. */
function candidates(exported: ExportedItem): StixObject[] {
  const { words } = exported;
  return [...Array(words.length + 1).keys()].flatMap(
    (count) => stixOfItem({ ...exported, words: words.slice(0, count) }).objects,
  );
}
