import { decodeUtf8 } from '../../../platform/lib/json/json-values.ts';
import type { SeverityRating } from '../../extraction/severity/judge-severity.ts';
import type { SourceDocument } from '../fetch-session.ts';
import { buildDrafts, draftParts } from '../read-parts.ts';
import type { DraftResult, ParseContext, RecordDraft, SourceFormat } from '../source-format.ts';
import { countItems, itemsMax, pickItem, toPartRecord, toPartRecordId } from '../split-record.ts';
import {
  findRoots,
  groupObjects,
  isObservation,
  listParts,
  type LooseGrouping,
  type ObjectGroup,
} from './group-objects.ts';
import {
  listRefs,
  readBundle,
  readStixDocument,
  readTextField,
  type StixBundle,
  type StixSourceObject,
  toSingleObject,
} from './stix-objects.ts';
import { findPublishTime, findRecordId, toStixRecord } from './stix-record.ts';

/** STIX 2.0 and 2.1: a bundle, a TAXII envelope, a list of objects, an object, or a directory of these. */
export const stix: SourceFormat = {
  label: 'STIX 2.0 and 2.1 bundles',
  defaults: { reliability: 0.6, schedule: '0 * * * *' },
  files: /\.(?:json|jsonl|ndjson|stix2?)(?:\.gz)?$/i,
  parse: (parts, context) => buildDrafts(draftStix(parts, context, 'together')),
  draft: (parts, context) => draftStix(parts, context, 'together'),
};

export const draftStix = (parts: SourceDocument[], context: ParseContext, looseGrouping: LooseGrouping): DraftResult =>
  draftParts(joinObjects(parts), (part) => draftPart(part, context, looseGrouping));

function draftPart(part: SourceDocument, context: ParseContext, looseGrouping: LooseGrouping): DraftResult {
  const bundle = readBundle(part);
  const { groups, skipped } = groupObjects(bundle, looseGrouping);
  const links = groupLinksByStart(bundle);
  return {
    drafts: groups.flatMap((whole) => {
      let rating: SeverityRating | undefined;
      return splitGroup(bundle, whole, links).map(({ part: index, count, group }): RecordDraft => {
        const build = () => {
          const record = toStixRecord(bundle, group, context, rating);
          // All parts of a report have its description, which is read once.
          if (whole.head) rating = { severity: record.severity, rule: record.severityRule };
          const originals = serializePart(bundle, { whole, group, links, isFirst: index === 0 });
          return { ...toPartRecord(record, index, count), originals };
        };
        const recordId = toPartRecordId(findRecordId(bundle, group), index);
        return { recordId, publishTime: findPublishTime(group, context), build };
      });
    }),
    skipped: [...bundle.skipped, ...skipped],
  };
}

type PartOfGroup = { whole: ObjectGroup; group: ObjectGroup; links: LinksByStart; isFirst: boolean };

/** Returns the original objects of a part. The first part has the head as its source wrote it, unless its references are too many. */
function serializePart(bundle: StixBundle, { whole, group, links, isFirst }: PartOfGroup): string | undefined {
  const members = { head: undefined, members: group.members };
  const withHead = isFirst ? serializeOriginals(bundle, { ...members, head: whole.head }, links) : undefined;
  return withHead ?? (whole === group ? undefined : serializeOriginals(bundle, members, links));
}

/** A larger document is a bundle. */
const objectMaxBytes = 1024 * 1024;

/** Joins documents with one object each, as a file system store of STIX has them, because their objects refer to each other. */
function joinObjects(parts: SourceDocument[]): SourceDocument[] {
  if (parts.length < 2) return parts;
  const singles = new Set(parts.filter(isSingle));
  if (singles.size < 2) return parts;
  const bytes = Buffer.from(`[${[...singles].map((part) => decodeUtf8(part.bytes)).join(',')}]`);
  return [{ name: 'objects', bytes }, ...parts.filter((part) => !singles.has(part))];
}

function isSingle({ bytes }: SourceDocument): boolean {
  if (bytes.length > objectMaxBytes) return false;
  try {
    return toSingleObject(readStixDocument(bytes)) !== undefined;
  } catch {
    return false;
  }
}

const charsMax = 4_000_000;

/** The properties in which a link refers to the objects it connects. The first is its start. */
const linkRefs: Record<string, string[]> = {
  relationship: ['source_ref', 'target_ref'],
  sighting: ['sighting_of_ref'],
};

/**
 * Returns the original objects of a group with their links, creators and markings as a JSON list, or undefined if the list is too long or
 * nested too deep.
 */
function serializeOriginals(
  bundle: StixBundle,
  { head, members }: ObjectGroup,
  links: LinksByStart,
): string | undefined {
  const grouped = head ? [head, ...members] : members;
  const linked = grouped.flatMap(({ id }) => links.get(id) ?? []);
  const objects = [...new Set([...grouped, ...listBases(bundle, linked)])];
  const ids = new Set(objects.map(({ id }) => id));
  const groupLinks = linked.filter((link) => linkRefs[link.type]!.every((name) => ids.has(readTextField(link, name))));
  const metadataRefs = [...objects, ...groupLinks].flatMap((object) => [
    readTextField(object, 'created_by_ref'),
    ...listRefs(object, 'object_marking_refs'),
  ]);
  const metadata = [...new Set(metadataRefs)]
    .filter((id) => !ids.has(id))
    .map((id) => bundle.objects.get(id))
    .filter((object) => object !== undefined);
  const text = serialize([...metadata, ...objects, ...groupLinks]);
  return text === undefined || text.length > charsMax ? undefined : text;
}

/** Returns the observables on which indicators are based. They are no members of a group, because they repeat the values of the indicators. */
const listBases = (bundle: StixBundle, links: StixSourceObject[]): StixSourceObject[] =>
  links
    .filter((link) => link['relationship_type'] === 'based-on')
    .map((link) => bundle.objects.get(readTextField(link, 'target_ref')))
    .filter((object) => object !== undefined)
    .filter((object) => object['created'] === undefined);

/** Returns a JSON list, or undefined if the objects are nested too deep for JSON.stringify. */
function serialize(objects: StixSourceObject[]): string | undefined {
  try {
    return JSON.stringify(objects);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

type LinksByStart = Map<string, StixSourceObject[]>;

/** Returns the links of a bundle by the object from which they start. */
function groupLinksByStart(bundle: StixBundle): LinksByStart {
  const links: LinksByStart = new Map();
  for (const object of bundle.objects.values()) {
    const start = linkRefs[object.type] && readTextField(object, linkRefs[object.type]![0]!);
    if (!start) continue;
    const known = links.get(start);
    if (known) known.push(object);
    else links.set(start, [object]);
  }
  return links;
}

/**
 * Splits a group with more observations than an item holds. Every part has the head with its references to the part; the first part has all other
 * members, and each further one has those that its observations are related to. Parts without observations are absent, except for the first.
 */
function splitGroup(
  bundle: StixBundle,
  group: ObjectGroup,
  links: LinksByStart,
): { part: number; count: number; group: ObjectGroup }[] {
  const observed = group.members.filter(isObservation);
  const least = countItems(observed.length);
  const count = least === itemsMax ? least : countItems(observed.length, serialize(observed)?.length);
  if (count === 1) return [{ part: 0, count, group }];
  const context = group.members.filter((member) => !isObservation(member));
  const partsOf = assignParts(bundle, observed, { links, count });
  const parts = Array.from({ length: count }, () => new Set<StixSourceObject>());
  for (const member of context) parts[0]!.add(member);
  for (const [id, indexes] of partsOf) for (const index of indexes) parts[index]!.add(bundle.objects.get(id)!);
  const isContext = new Set(context);
  const addRelated = (member: StixSourceObject | undefined, observedId: string): void => {
    if (member && isContext.has(member)) for (const index of partsOf.get(observedId) ?? []) parts[index]!.add(member);
  };
  for (const object of [...observed, ...context])
    for (const link of links.get(object.id) ?? []) {
      const target = readTextField(link, 'target_ref');
      addRelated(bundle.objects.get(target), object.id);
      addRelated(object, target);
    }
  const refs = group.head && new Set(listRefs(group.head));
  const toPartGroup = (members: Set<StixSourceObject>): ObjectGroup => {
    const list = [...members];
    const object_refs = list.map(({ id }) => id).filter((id) => refs?.has(id));
    return { head: group.head && { ...group.head, object_refs }, members: list };
  };
  return parts.flatMap((members, part) =>
    members.size === 0 && part > 0 ? [] : [{ part, count, group: toPartGroup(members) }],
  );
}

/** Returns the parts of each observation. The objects that an observation consists of, or an indicator is based on, are in its part. */
function assignParts(
  bundle: StixBundle,
  observed: StixSourceObject[],
  { links, count }: { links: LinksByStart; count: number },
): Map<string, number[]> {
  const indicatorOf = new Map<string, string>();
  for (const { id } of observed)
    for (const link of links.get(id) ?? [])
      if (link['relationship_type'] === 'based-on') indicatorOf.set(readTextField(link, 'target_ref'), id);
  const partsOf = new Map<string, number[]>();
  for (const root of findRoots(bundle, observed)) {
    const part = pickItem(indicatorOf.get(root.id) ?? root.id, count);
    for (const { id } of listParts(bundle, root)) {
      const known = partsOf.get(id);
      if (!known) partsOf.set(id, [part]);
      else if (!known.includes(part)) known.push(part);
    }
  }
  return partsOf;
}
