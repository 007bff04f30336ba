import type { ParseResult, ParseContext, SourceFormat } from '../source-format.ts';
import type { SourceDocument } from '../source-document.ts';
import { groupObjects, type Loose } from './group-objects.ts';
import { readBundle } from './stix-objects.ts';
import { joinsOf, originalsOf } from './stix-originals.ts';
import { readGroup } from './stix-record.ts';
import { readParts } from '../read-parts.ts';

/** STIX 2.0 and 2.1: a bundle, a TAXII envelope, a list of objects, or a directory of them. */
export const stix: SourceFormat = {
  label: 'STIX 2.0 and 2.1 bundles',
  defaults: { reliability: 0.6, schedule: '0 * * * *' },
  parse: (parts, context) => parseStix(parts, context, { loose: 'together' }),
};

/** `loose`: whether indicators and observations that nothing holds are one item together or one each. */
export const parseStix = (parts: SourceDocument[], context: ParseContext, { loose }: { loose: Loose }): ParseResult =>
  readParts(parts, (part) => readPart(part, context, loose));

function readPart(part: SourceDocument, context: ParseContext, loose: Loose): ParseResult {
  const bundle = readBundle(part);
  const { groups, skipped } = groupObjects(bundle, loose);
  const joins = joinsOf(bundle);
  return {
    records: groups.map((group) => ({
      ...readGroup(bundle, group, context),
      originals: originalsOf(bundle, group, joins),
    })),
    skipped: [...bundle.skipped, ...skipped],
  };
}
