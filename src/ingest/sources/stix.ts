import type { Parsed, ParseContext, Part, SourceFormat } from '../record.ts';
import { groupObjects } from '../stix/grouping.ts';
import { readBundle } from '../stix/objects.ts';
import { readGroup } from '../stix/record.ts';
import { readParts } from './parts.ts';

/** STIX 2.0 and 2.1: a bundle, a TAXII envelope, a list of objects, or a directory of them. */
export const stix: SourceFormat = {
  label: 'STIX 2.0 and 2.1 bundles',
  defaults: { reliability: 0.6, schedule: '0 * * * *' },
  parse: (parts, context) => readParts(parts, (part) => readPart(part, context)),
};

function readPart(part: Part, context: ParseContext): Parsed {
  const bundle = readBundle(part);
  const { groups, skipped } = groupObjects(bundle);
  return {
    records: groups.map((group) => readGroup(bundle, group, context)),
    skipped: [...bundle.skipped, ...skipped],
  };
}
