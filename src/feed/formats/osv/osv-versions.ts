import { asObjects, asText, asTexts, type JsonObject } from '../../../platform/lib/json/json-values.ts';

/** The versions that an `affected` entry of an OSV record names: ranges where it has them, one by one otherwise. */
export function listAffectedVersions(affected: JsonObject): string[] {
  const ranges = asObjects(affected['ranges'])
    .filter(({ type }) => type !== 'GIT')
    .flatMap((range) => rangesOf(asObjects(range['events'])));
  return ranges.length > 0 ? ranges : asTexts(affected['versions']);
}

/** Events in their order: each `introduced` opens a range, what follows closes it. */
function rangesOf(events: JsonObject[]): string[] {
  const found: string[] = [];
  let open: string | undefined;
  for (const event of events) {
    const at = (name: string): string | undefined => asText(event[name])?.trim();
    const end = at('fixed') ?? at('limit');
    const last = at('last_affected');
    if (at('introduced') !== undefined) {
      if (open !== undefined) found.push(from(open) || '*');
      open = at('introduced');
    } else if (open !== undefined && (end ?? last) !== undefined) {
      found.push([from(open), end === undefined ? `<= ${last}` : `< ${end}`].filter(Boolean).join(', '));
      open = undefined;
    }
  }
  if (open !== undefined) found.push(from(open) || '*');
  return found;
}

const from = (version: string): string => (version === '0' ? '' : `>= ${version}`);
