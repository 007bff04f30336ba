import type { ParseResult, ParseContext, SourceFormat } from '../source-format.ts';
import type { SourceDocument } from '../source-document.ts';
import { groupObjects, type LooseGrouping } from './group-objects.ts';
import { readBundle } from './stix-objects.ts';
import { groupLinksByStart, serializeOriginals } from './stix-originals.ts';
import { toStixRecord } from './stix-record.ts';
import { readParts } from '../read-parts.ts';

/** STIX 2.0 and 2.1: a bundle, a TAXII envelope, a list of objects, or a directory of them. */
export const stix: SourceFormat = {
  label: 'STIX 2.0 and 2.1 bundles',
  defaults: { reliability: 0.6, schedule: '0 * * * *' },
  parse: (parts, context) => parseStix(parts, context, { loose: 'together' }),
};

/** `loose`: whether indicators and observations that nothing holds are one item together or one each. */
export const parseStix = (
  parts: SourceDocument[],
  context: ParseContext,
  { loose }: { loose: LooseGrouping },
): ParseResult => readParts(parts, (part) => readPart(part, context, loose));

function readPart(part: SourceDocument, context: ParseContext, loose: LooseGrouping): ParseResult {
  const bundle = readBundle(part);
  const { groups, skipped } = groupObjects(bundle, loose);
  const joins = groupLinksByStart(bundle);
  return {
    records: groups.map((group) => ({
      ...toStixRecord(bundle, group, context),
      originals: serializeOriginals(bundle, group, joins),
    })),
    skipped: [...bundle.skipped, ...skipped],
  };
}
