import { inOrg, type Tx } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import { flatMapInSlices } from '../../platform/lib/concurrency/slices.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { applyDatedOverride } from '../items/snapshot/apply-overrides.ts';
import { readItemVersions } from '../exports/exports.store.ts';
import { findRelationships, type Relationship, toIndicatorName } from '../exports/relationships/find-relationships.ts';
import { readSourceRelationships } from '../exports/stix/source-relationships.ts';
import { startOfHour, updateExpiry } from '../model/expiry.ts';
import type { FeedItem, Indicator } from '../model/item.schema.ts';
import { toTermValue } from '../model/terms.ts';
import type { EntityType, FeedEntityDetail } from './entities.schema.ts';
import { findAliasDocument, listEntityItems, readEntityRows, termKind, type EntityRow } from './entities.store.ts';
import { findCanonicalValue, toEntity, type EntitiesDeps } from './list-entities.ts';
import { toComparisonKey } from '../model/values/normalize.ts';
import { buckets } from '../model/vocabulary.ts';

const itemsMax = 50;
const aliasesMax = 100;
const relationshipsMax = 200;

const indicatorsMax = 500;

const techniquesMax = 200;

const itemIdsMax = 10;

/** Returns an entity with the statements of its newest items about it. Throws `not_found` if no visible item contains the name. */
export async function getEntity(
  { db, clock }: EntitiesDeps,
  { orgId }: Caller,
  requested: { type: EntityType; name: string },
): Promise<FeedEntityDetail> {
  const { type, row, found } = await inOrg(db, orgId, async (tx) => {
    const { type, row } = await findEntity(tx, requested);
    const keys = await listEntityItems(tx, type, row.value, itemsMax);
    const versions = await readItemVersions(tx, keys);
    return { type, row, found: keys.flatMap((key) => versions.get(`${key.id} ${key.version}`) ?? []) };
  });
  const hour = startOfHour(clock());
  const read = await flatMapInSlices(found, ({ item, overrides, storedText, originals }): ReadItem[] => {
    updateExpiry(item, hour);
    const own = applyDatedOverride(item, overrides.at(-1));
    if (own.event.status === 'retracted') return [];
    const stated = [...findRelationships(own, storedText ?? ''), ...readSourceRelationships(own, originals ?? [])];
    return [{ item: own, stated: withoutRepeated(stated).filter((one) => concerns(one, type, row.value)) }];
  });
  return {
    ...toEntity(type, row),
    aliases: listAliases(read, type, row.value),
    latestItems: read.map(({ item }) => toSummary(item)),
    indicators: collectIndicators(read, (indicator) => isOfOthers(indicator, type, row.value)),
    techniques: collectTechniques(read),
    relationships: read.flatMap(listStatements).slice(0, relationshipsMax),
  };
}

/** Returns whether the source assigns a value itself to names, and the entity is none of them. */
function isOfOthers(indicator: Indicator, type: EntityType, value: string): boolean {
  const kind = termKind(type);
  const names = kind === 'cve' ? undefined : indicator[kind === 'actor' ? 'actor' : 'malware'];
  return names !== undefined && !names.some((name) => toTermValue(kind, name) === value);
}

/**
 * Finds an entity by its name, by an alias from the lists, or by an alias that an item states. A name of malware also finds a tool, and the
 * reverse, because sources disagree on which of the two a program is.
 */
async function findEntity(
  tx: Tx,
  { type, name }: { type: EntityType; name: string },
): Promise<{ type: EntityType; row: EntityRow }> {
  const others = softwareTypes.filter((other) => softwareTypes.includes(type) && other !== type);
  for (const one of [type, ...others]) {
    const candidates = [toTermValue(termKind(one), name), findCanonicalValue(one, name) ?? []].flat();
    const [row] = await readEntityRows(tx, one, candidates);
    if (row) return { type: one, row };
  }
  for (const one of [type, ...others]) {
    const [row] = await readEntityRows(tx, one, await listStatedNames(tx, one, name));
    if (row) return { type: one, row };
  }
  throw appError('not_found', `No item contains the ${type} ${name}.`);
}

/** Returns the names whose alias it is, according to the newest item with it. */
async function listStatedNames(tx: Tx, type: EntityType, alias: string): Promise<string[]> {
  const value = toTermValue(termKind(type), alias);
  const document = await findAliasDocument(tx, type, value);
  if (document === undefined) return [];
  return listNames(JSON.parse(document) as FeedItem, type)
    .filter(({ aliases }) => aliases.some((one) => toTermValue(termKind(type), one) === value))
    .map(({ name }) => toTermValue(termKind(type), name));
}

const softwareTypes: EntityType[] = ['malware', 'tool'];

/** Removes relationships with the same ends, except the first one. */
const withoutRepeated = (all: Relationship[]): Relationship[] =>
  [
    ...new Map(all.toReversed().map((one) => [JSON.stringify([one.type, one.source, one.target]), one])).values(),
  ].toReversed();

/** Returns whether a relationship starts or ends at the entity. */
const concerns = ({ source, target }: Relationship, type: EntityType, value: string): boolean =>
  [source, target].some(({ kind, name }) => kind === type && toTermValue(termKind(type), name) === value);

const listNames = ({ classification }: FeedItem, type: EntityType) =>
  type === 'actor' ? classification.actor : classification.malware;

function listAliases(read: ReadItem[], type: EntityType, value: string): string[] {
  const aliases = read
    .flatMap(({ item }) => listNames(item, type))
    .filter(({ name }) => toTermValue(termKind(type), name) === value)
    .flatMap((one) => one.aliases);
  return type === 'vulnerability' ? [] : [...new Set(aliases)].slice(0, aliasesMax);
}

const toSummary = ({ id, event, source, addedToFeedAt }: FeedItem): FeedEntityDetail['latestItems'][number] => ({
  id,
  title: event.title,
  publisher: source.publisher,
  severity: event.severity,
  ...(source.publishTime ? { publishTime: source.publishTime } : {}),
  addedToFeedAt,
});

const listStatements = ({ item, stated }: ReadItem): FeedEntityDetail['relationships'] =>
  stated.flatMap(({ type, source, target, passage }) =>
    type === 'indicates'
      ? []
      : [
          {
            type,
            source: { type: source.kind, name: source.name },
            target: { type: target.kind, name: target.name },
            passage,
            itemId: item.id,
          },
        ],
  );

/** An item as the organization sees it, with the relationships of the entity that its text states. */
type ReadItem = { item: FeedItem; stated: Relationship[] };

/**
 * Returns the active and expired indicators of items by value, stated ones first, then the most frequent. `isOther` decides whether a source
 * assigns a value to other names than the entity.
 */
function collectIndicators(
  read: ReadItem[],
  isOther: (indicator: Indicator) => boolean,
): FeedEntityDetail['indicators'] {
  const found = new Map<string, FeedEntityDetail['indicators'][number]>();
  for (const { item, stated } of read) {
    const statedNames = namesOf(stated.map(({ source }) => source));
    for (const indicator of buckets.flatMap((bucket) => item.iocs[bucket])) {
      const { type, normalizedValue: value, status } = indicator;
      if ((status !== 'active' && status !== 'expired') || isOther(indicator)) continue;
      const key = toComparisonKey(indicator);
      const known = found.get(key) ?? { type, value, status, isStated: false, items: [] };
      found.set(key, {
        ...addItem(known, item.id, statedNames.has(toIndicatorName(indicator))),
        status: known.status === 'active' ? 'active' : status,
      });
    }
  }
  return [...found.values()].toSorted(byEvidence).slice(0, indicatorsMax);
}

/** Returns the techniques of items, stated ones first, then the most frequent. */
function collectTechniques(read: ReadItem[]): FeedEntityDetail['techniques'] {
  const found = new Map<string, FeedEntityDetail['techniques'][number]>();
  for (const { item, stated } of read) {
    const statedNames = namesOf(stated.map(({ target }) => target));
    for (const { technique, subTechnique, techniqueName } of item.classification.attack) {
      const id = subTechnique ?? technique;
      const known = found.get(id) ?? { id, name: techniqueName, isStated: false, items: [] };
      found.set(id, addItem(known, item.id, statedNames.has(id)));
    }
  }
  return [...found.values()].toSorted(byEvidence).slice(0, techniquesMax);
}

const namesOf = (ends: Relationship['source'][]): Set<string> =>
  new Set(ends.filter(({ kind }) => kind === 'indicator' || kind === 'technique').map(({ name }) => name));

type Counted = { isStated: boolean; items: string[] };

const addItem = <T extends Counted>(known: T, id: string, isStated: boolean): T => ({
  ...known,
  isStated: known.isStated || isStated,
  items: known.items.length < itemIdsMax && !known.items.includes(id) ? [...known.items, id] : known.items,
});

const byEvidence = (a: Counted, b: Counted): number =>
  Number(b.isStated) - Number(a.isStated) || b.items.length - a.items.length;
