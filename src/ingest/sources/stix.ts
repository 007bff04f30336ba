import type { Parsed, ParseContext, Part, Skipped, SourceFormat, SourceRecord } from '../record.ts';
import { groupObjects } from '../stix/grouping.ts';
import { readBundle } from '../stix/objects.ts';
import { readGroup } from '../stix/record.ts';

const textMaxChars = 4_000_000;

/** STIX 2.0 and 2.1: a bundle, a TAXII envelope, a list of objects, or a directory of them. */
export const stix: SourceFormat = {
  label: 'STIX 2.0 and 2.1 bundles',
  defaults: { reliability: 0.6, schedule: '0 * * * *' },
  parse(parts, context) {
    if (parts.length === 1) return checked(readPart(parts[0]!, context));
    const records: SourceRecord[] = [];
    const skipped: Skipped[] = [];
    for (const part of parts) {
      try {
        const read = readPart(part, context);
        records.push(...read.records);
        skipped.push(...read.skipped);
      } catch (error) {
        skipped.push({ entry: part.name, reason: error instanceof Error ? error.message : String(error) });
      }
    }
    return checked({ records, skipped });
  },
};

function readPart(part: Part, context: ParseContext): Parsed {
  const bundle = readBundle(part);
  const { groups, skipped } = groupObjects(bundle);
  return {
    records: groups.map((group) => readGroup(bundle, group, context)),
    skipped: [...bundle.skipped, ...skipped],
  };
}

/** Of a record that stands in several parts the newest one counts; one that is too large to keep is named. */
function checked({ records, skipped }: Parsed): Parsed {
  const kept = new Map<string, SourceRecord>();
  for (const record of records) {
    const known = kept.get(record.recordId);
    if (record.storedText.length > textMaxChars)
      skipped.push({ entry: record.recordId, reason: `its text is longer than ${textMaxChars} characters` });
    else if (!known || (record.modifiedAt ?? '') >= (known.modifiedAt ?? '')) kept.set(record.recordId, record);
  }
  return { records: [...kept.values()], skipped };
}
