/** A report with the traits by which stories are joined. */
export type StoryReport = {
  id: string;
  /** The root of its group of duplicates, as the organization sees it. */
  groupId: string;
  /** When it was published, or else added, in epoch milliseconds. */
  at: number;
  /** Whether it is a list of values, which are of many stories. */
  isList: boolean;
  cves: number;
  /** The number of actors and malware, without tools. */
  names: number;
};

/** A value or name that two reports share. `value` is as printed. `holders` is the number of reports that have it. */
export type SharedTerm = {
  kind: 'indicator' | 'cve' | 'actor' | 'malware';
  value: string;
  isAddress: boolean;
  holders: number;
};

/** Why two reports are of one story. */
export type JoinReason = { kind: 'duplicate' | 'indicator' | 'vulnerability' | 'names'; values: string[] };

const dayMs = 86_400_000;
const daysMax = 14;
const daysOfNamesMax = 3;
/** A value that more reports have is of more than one story. */
const rareMax = 50;
const rareNameMax = 20;
const addressesMin = 2;
/** A report about more vulnerabilities, or with more names, tells several stories. */
const [cvesMax, namesMax] = [3, 10];

/**
 * Returns why two reports are about one event, or nothing if they are not. Symmetric, and depends only on the pair. A shared family or actor alone is
 * no reason, and lists and overviews join only their duplicates.
 */
export function findJoinReasons(a: StoryReport, b: StoryReport, shared: readonly SharedTerm[]): JoinReason[] {
  if (a.groupId === b.groupId) return [{ kind: 'duplicate', values: [] }];
  const apart = Math.abs(a.at - b.at) / dayMs;
  if (apart > daysMax || tellsSeveral(a) || tellsSeveral(b)) return [];
  const listOf = (kind: SharedTerm['kind'], most = Number.POSITIVE_INFINITY): SharedTerm[] =>
    shared.filter((term) => term.kind === kind && term.holders <= most);
  const [actors, malware] = [listOf('actor'), listOf('malware')];
  const hasName = actors.length + malware.length > 0;
  const reasons: JoinReason[] = [];
  const add = (kind: JoinReason['kind'], terms: readonly SharedTerm[], isReason: boolean): void => {
    if (isReason) reasons.push({ kind, values: terms.map(({ value }) => value).toSorted() });
  };
  const values = listOf('indicator', rareMax);
  const isSpecific = values.some(({ isAddress }) => !isAddress);
  add('indicator', values, isSpecific || values.length >= (hasName ? 1 : addressesMin));
  const isOfFew = a.cves <= cvesMax && b.cves <= cvesMax;
  const cves = listOf('cve').filter(({ value }) => hasName || isNewAt(value, Math.min(a.at, b.at)));
  add('vulnerability', cves, isOfFew && cves.length > 0);
  const names = [...actors, ...malware];
  const isRare = names.some(({ holders }) => holders <= rareNameMax);
  add('names', names, apart <= daysOfNamesMax && actors.length > 0 && malware.length > 0 && isRare);
  return reasons;
}

const tellsSeveral = ({ isList, cves, names }: StoryReport): boolean => isList || cves + names > namesMax;

/** Returns whether a CVE is of the year of a time or of the year before. An old one is exploited in many stories. */
const isNewAt = (cve: string, at: number): boolean => Number(cve.split('-')[1]) >= new Date(at).getUTCFullYear() - 1;
