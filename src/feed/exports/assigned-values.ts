import type { EventQuery } from './exports-query.ts';
import { readFields } from '../items/feed-filters.ts';
import { readSearch } from '../items/search-terms/search-query.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { toTermValue } from '../model/terms.ts';
import { createNameReader, type NameList, type ValueNames } from '../model/value-names.ts';
import { listObservables, type ObservableIndicator } from '../model/values/observables.ts';
import { toStixItem, type ItemVersion } from './stix/stix-item.ts';

/** The names of one of the filters `malware`, `tool` and `actor`, as terms. */
type NameFilter = { kind: 'malware' | 'tool' | 'actor'; list: NameList; values: ReadonlySet<string> };

const listByKind: Record<string, NameList> = { malware: 'malware', tool: 'malware', actor: 'actor' };

/** Returns the filters of a query that select values by name, besides the items that have the name. */
export const readNameFilters = (query: EventQuery): NameFilter[] =>
  readSearch(readFields(query)).rootTerms.flatMap(({ kind, values }) => {
    const list = listByKind[kind];
    return list ? [{ kind: kind as NameFilter['kind'], list, values: new Set(values) }] : [];
  });

/**
 * Returns an item with the values that it assigns to the names of every filter, and the number of active values that it assigns to none of them
 * or to nothing. Returns the same item if it keeps all of its values.
 */
export function keepAssigned(item: FeedItem, filters: NameFilter[]): { item: FeedItem; unassigned: number } {
  if (filters.length === 0) return { item, unassigned: 0 };
  const readNames = createNameReader(item);
  const matchers = filters.map((filter) => ({ list: filter.list, names: listMatchingNames(item, filter) }));
  const isAssigned = (value: ObservableIndicator & ValueNames): boolean =>
    matchers.every(({ list, names }) => readNames(value, list).some((name) => names.has(name)));
  const observables = listObservables(item);
  const left = [...Object.values(item.iocs).flat(), ...observables].filter((value) => !isAssigned(value));
  if (left.length === 0) return { item, unassigned: 0 };
  const iocs = Object.fromEntries(
    Object.entries(item.iocs).map(([bucket, indicators]) => [bucket, indicators.filter(isAssigned)]),
  ) as FeedItem['iocs'];
  const dropped = new Set(left.map(({ type, value }) => `observable:${type} ${value}`));
  const mappings = item.classification.mappings.filter(({ framework, id }) => !dropped.has(`${framework} ${id}`));
  return {
    item: { ...item, iocs, classification: { ...item.classification, mappings } },
    unassigned: left.filter(({ status }) => status === 'active').length,
  };
}

/** Returns the names of an item and of its values that a filter means, by one of their aliases. */
function listMatchingNames(item: FeedItem, { kind, list, values }: NameFilter): Set<string> {
  const isMeant = (form: string): boolean => values.has(toTermValue(kind, form));
  const own = new Set(Object.values(item.iocs).flatMap((indicators) => indicators.flatMap((one) => one[list] ?? [])));
  return new Set([
    ...[...own].filter(isMeant),
    ...item.classification[list].flatMap(({ name, aliases }) => ([name, ...aliases].some(isMeant) ? [name] : [])),
  ]);
}

type StixItem = ReturnType<typeof toStixItem>;

/**
 * Returns the STIX objects of an item without the indicators that it does not assign to the names of the filters. The other objects are those of
 * the whole item, because other bytes would need another `modified`. Of an item that came as STIX, all indicators are left out.
 */
export function keepAssignedObjects(version: ItemVersion, filters: NameFilter[]): StixItem {
  const { objects, unsupported } = toStixItem(version);
  if (version.originals) {
    const left = new Set(
      objects.filter(({ type }) => type === 'indicator' || type === 'observed-data').map(({ id }) => id),
    );
    const refersToLeft = (object: StixItem['objects'][number]): boolean =>
      ['source_ref', 'target_ref', 'sighting_of_ref'].some((name) => left.has(object[name] as string));
    return { objects: objects.filter((object) => !left.has(object.id) && !refersToLeft(object)), unsupported };
  }
  const { item } = keepAssigned(version.item, filters);
  const kept = new Set(toStixItem({ ...version, item }).objects.map(({ id }) => id));
  return { objects: objects.filter(({ id }) => kept.has(id)), unsupported };
}
