import type { Tx } from '../../platform/db/db.ts';
import { flatMapInSlices } from '../../platform/lib/concurrency/slices.ts';
import type { Condition, Sql } from '../items/snapshot/query.sql.ts';
import { extractTerms, type Term } from '../model/terms.ts';
import { applyDatedOverride } from '../items/snapshot/apply-overrides.ts';
import { readItemVersions, type VersionKey, listItemsWithTerms } from './exports.store.ts';
import { toStixItem, type ItemVersion } from './stix/stix-item.ts';
import type { StixObject } from './stix/stix-object.ts';
import { belongsToItem } from './stix/stix-originals.ts';

export type MemberCondition = (itemId: Sql) => Condition;
/** An object and the item that contains it. */
export type LiveObject = { object: StixObject; item: VersionKey };

const itemsPerRead = 20;
const comparedKinds = new Set<Term['kind']>(['indicator', 'cve', 'actor', 'malware', 'tool']);

/** Returns which of the objects the items contain that came as STIX, by object id. Reads items until all are found. */
export async function findLiveObjects(tx: Tx, ids: string[], items: VersionKey[]): Promise<Map<string, LiveObject>> {
  const wanted = new Set(ids);
  const live = new Map<string, LiveObject>();
  for (let start = 0; start < items.length && wanted.size > 0; start += itemsPerRead) {
    const versions = await readItemVersions(tx, items.slice(start, start + itemsPerRead));
    const objects = await flatMapInSlices([...versions.values()], (version) =>
      version.originals ? toStixItem(version).objects.map((object) => ({ object, item: version.item })) : [],
    );
    for (const { object, item } of objects)
      if (object['revoked'] !== true && wanted.delete(object.id)) live.set(object.id, { object, item });
  }
  return live;
}

function listComparedTerms({ item }: ItemVersion): Term[] {
  const terms = extractTerms(item);
  const compared = terms.filter(({ kind }) => comparedKinds.has(kind));
  return compared.length > 0 ? compared : terms;
}

/**
 * Returns the versions with the objects that live items still contain, for those that are retracted. Two reports with an object have its value or
 * the names that it connects in common, so only items with a term of the retracted ones are read.
 */
export async function addLiveObjects(
  tx: Tx,
  versions: ItemVersion[],
  isMember?: MemberCondition,
): Promise<ItemVersion[]> {
  const retracted = versions.filter(
    ({ item, originals, overrides }) =>
      originals !== null && applyDatedOverride(item, overrides.at(-1)).event.status === 'retracted',
  );
  const ids = retracted.flatMap(({ item, originals }) =>
    originals!.filter((object) => belongsToItem(object, item)).map(({ id }) => id),
  );
  if (ids.length === 0) return versions;
  const terms = new Map(retracted.flatMap(listComparedTerms).map((term) => [`${term.kind} ${term.value}`, term]));
  const live = await findLiveObjects(tx, ids, await listItemsWithTerms(tx, [...terms.values()], isMember));
  if (live.size === 0) return versions;
  const liveElsewhere = new Set(live.keys());
  return versions.map((version) => ({ ...version, liveElsewhere }));
}
