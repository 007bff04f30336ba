import type { ParseResult, ParseContext, SourceFormat } from '../source-format.ts';
import type { SourceDocument } from '../source-document.ts';
import { groupObjects, type LooseGrouping } from './group-objects.ts';
import { readBundle } from './stix-objects.ts';
import { groupLinksByStart, serializeOriginals } from './stix-originals.ts';
import { toStixRecord } from './stix-record.ts';
import { readParts } from '../read-parts.ts';

/** STIX 2.0 and 2.1: a bundle, a TAXII envelope, a list of objects, or a directory of these. */
export const stix: SourceFormat = {
  label: 'STIX 2.0 and 2.1 bundles',
  defaults: { reliability: 0.6, schedule: '0 * * * *' },
  parse: (parts, context) => parseStix(parts, context, 'together'),
};

export const parseStix = (parts: SourceDocument[], context: ParseContext, looseGrouping: LooseGrouping): ParseResult =>
  readParts(parts, (part) => readPart(part, context, looseGrouping));

function readPart(part: SourceDocument, context: ParseContext, looseGrouping: LooseGrouping): ParseResult {
  const bundle = readBundle(part);
  const { groups, skipped } = groupObjects(bundle, looseGrouping);
  const links = groupLinksByStart(bundle);
  return {
    records: groups.map((group) => ({
      ...toStixRecord(bundle, group, context),
      originals: serializeOriginals(bundle, group, links),
    })),
    skipped: [...bundle.skipped, ...skipped],
  };
}
