import { asObjects, asText, asTexts, type JsonObject } from '../../../platform/lib/json/json-values.ts';

/** Returns the versions of an `affected` entry of an OSV record: its ranges or, without ranges, single versions. */
export function listAffectedVersions(affected: JsonObject): string[] {
  const ranges = asObjects(affected['ranges'])
    .filter(({ type }) => type !== 'GIT')
    .flatMap((range) => toRanges(asObjects(range['events'])));
  return ranges.length > 0 ? ranges : asTexts(affected['versions']);
}

/** In the ordered events, `introduced` opens a range and the next other event closes it. */
function toRanges(events: JsonObject[]): string[] {
  const ranges: string[] = [];
  let open: string | undefined;
  for (const event of events) {
    const read = (name: string): string | undefined => asText(event[name])?.trim();
    const end = read('fixed') ?? read('limit');
    const last = read('last_affected');
    if (read('introduced') !== undefined) {
      if (open !== undefined) ranges.push(lowerBound(open) || '*');
      open = read('introduced');
    } else if (open !== undefined && (end ?? last) !== undefined) {
      ranges.push([lowerBound(open), end === undefined ? `<= ${last}` : `< ${end}`].filter(Boolean).join(', '));
      open = undefined;
    }
  }
  if (open !== undefined) ranges.push(lowerBound(open) || '*');
  return ranges;
}

const lowerBound = (version: string): string => (version === '0' ? '' : `>= ${version}`);
