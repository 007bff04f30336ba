import type { Tx } from '../../platform/db/db.ts';
import { flatMapInSlices } from '../../platform/lib/concurrency/slices.ts';
import type { Condition, Sql } from '../items/list-query/query.sql.ts';
import { extractTerms, type Term } from '../model/terms.ts';
import { applyDatedOverride } from './dated-override.ts';
import { readItemVersions } from './item-versions.store.ts';
import { listItemsWithTerms } from './live-objects.store.ts';
import { toStixItem, type ItemVersion } from './stix/stix-item.ts';
import { belongsToItem } from './stix/stix-originals.ts';

export type MemberCondition = (itemId: Sql) => Condition;
/** Objects that an item withdraws or no longer contains, and the version of the item that contained them. */
type WithdrawnObjects = { version: ItemVersion; ids: string[] };

const itemsPerRead = 20;
const comparedKinds = new Set<Term['kind']>(['indicator', 'cve', 'actor', 'malware', 'tool']);

/**
 * Returns which of the objects a live item still contains, so that they stay valid. Two reports with an object have its value or the names that it
 * connects in common, so only items with a term of the withdrawn ones are read.
 */
export async function findLiveObjects(
  tx: Tx,
  withdrawn: WithdrawnObjects[],
  isMember?: MemberCondition,
): Promise<Set<string>> {
  const wanted = new Set(withdrawn.flatMap(({ ids }) => ids));
  const live = new Set<string>();
  if (wanted.size === 0) return live;
  const terms = withdrawn.filter(({ ids }) => ids.length > 0).flatMap(({ version }) => listComparedTerms(version));
  const distinct = [...new Map(terms.map((term) => [`${term.kind} ${term.value}`, term])).values()];
  const keys = await listItemsWithTerms(tx, distinct, isMember);
  for (let start = 0; start < keys.length && wanted.size > 0; start += itemsPerRead) {
    const versions = await readItemVersions(tx, keys.slice(start, start + itemsPerRead));
    const objects = await flatMapInSlices([...versions.values()], (version) =>
      version.originals ? toStixItem(version).objects : [],
    );
    for (const object of objects) if (object['revoked'] !== true && wanted.delete(object.id)) live.add(object.id);
  }
  return live;
}

function listComparedTerms({ item }: ItemVersion): Term[] {
  const terms = extractTerms(item);
  const compared = terms.filter(({ kind }) => comparedKinds.has(kind));
  return compared.length > 0 ? compared : terms;
}

/** Returns the versions with the objects that live items still contain, for those that are retracted. */
export async function addLiveObjects(
  tx: Tx,
  versions: ItemVersion[],
  isMember?: MemberCondition,
): Promise<ItemVersion[]> {
  const withdrawn = versions.flatMap((version) => {
    const { item, originals, overrides } = version;
    const own = applyDatedOverride(item, overrides.at(-1));
    if (originals === null || own.event.status !== 'retracted') return [];
    return [{ version, ids: originals.filter((object) => belongsToItem(object, item)).map(({ id }) => id) }];
  });
  const liveElsewhere = await findLiveObjects(tx, withdrawn, isMember);
  return liveElsewhere.size === 0 ? versions : versions.map((version) => ({ ...version, liveElsewhere }));
}
