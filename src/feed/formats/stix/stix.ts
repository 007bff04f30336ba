import type { DraftResult, ParseContext, RecordDraft, SourceFormat } from '../source-format.ts';
import type { SourceDocument } from '../fetch-session.ts';
import { groupObjects, type LooseGrouping, type ObjectGroup } from './group-objects.ts';
import { readBundle, type StixBundle, toSingleObject, readStixDocument } from './stix-objects.ts';
import { groupLinksByStart, serializeOriginals, type LinksByStart, splitGroup } from './stix-originals.ts';
import { findPublishTime, findRecordId, toStixRecord } from './stix-record.ts';
import type { SeverityRating } from '../../extraction/severity/judge-severity.ts';
import { buildDrafts, draftParts } from '../read-parts.ts';
import { toPartRecord, toPartRecordId } from '../split-record.ts';
import { decodeUtf8 } from '../../../platform/lib/json/json-values.ts';

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
