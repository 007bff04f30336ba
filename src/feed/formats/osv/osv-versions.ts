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

/** Returns the owner and the name of the repository that an `affected` entry without a package names in its ranges. */
export function findRepository(affected: JsonObject): { owner: string; name: string } | undefined {
  const address = asObjects(affected['ranges'])
    .map(({ repo }) => asText(repo))
    .find((repo) => repo !== undefined);
  const path =
    URL.parse(address ?? '')
      ?.pathname.split('/')
      .filter(Boolean) ?? [];
  const name = path.at(-1)?.replace(/\.git$/, '');
  // `https://git.acme.example/git/thing.git` has no owner.
  return name ? { owner: path.length === 2 && path[0] !== 'git' ? path[0]! : '', name } : undefined;
}
