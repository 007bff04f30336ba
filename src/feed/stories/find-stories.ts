import type { Tx } from '../../platform/db/db.ts';
import { connectNodes } from '../../platform/lib/connected-components.ts';
import { severities } from '../model/vocabulary.ts';
import type { Story } from './stories.schema.ts';
import {
  listGroupMembers,
  listHeldTerms,
  listStoryReports,
  type HeldTermRow,
  type StoryReportRow,
} from './stories.store.ts';

const itemsMax = 200;
const reasonsMax = 200;
const valuesMax = 20;
/** More than any chain of reports within days of each other needs. */
const roundsMax = 20;

/** Two reports of one story. */
type Join = { a: string; b: string; reasons: JoinReason[] };

type Search = { known: Map<string, StoryReportRow>; joins: Map<string, Join> };

/**
 * Returns the stories of items by the id of each item: the connected components of reports with a reason to be joined, as the organization sees
 * them. They follow from the items alone, so the order in which items arrived, and from which item a story is found, does not matter. Retracted items have none.
 */
export async function findStories(tx: Tx, ids: string[]): Promise<Map<string, Story>> {
  const search: Search = { known: new Map(), joins: new Map() };
  const expanded = new Set<string>();
  let frontier = ids;
  for (
    let round = 0;
    round < roundsMax && frontier.length > 0 && search.known.size < ids.length * itemsMax;
    round += 1
  ) {
    for (const id of frontier) expanded.add(id);
    const joined = await joinWithOthers(tx, search, frontier);
    frontier = [...joined].filter((id) => !expanded.has(id));
  }
  return buildStories(search, ids, new Set(frontier));
}

async function readReports(tx: Tx, { known }: Search, ids: readonly string[]): Promise<void> {
  const unread = [...new Set(ids)].filter((id) => !known.has(id));
  if (unread.length === 0) return;
  for (const row of await listStoryReports(tx, unread)) known.set(row.id, row);
}

/** Joins reports with all others, and returns the ids of those that are joined. */
async function joinWithOthers(tx: Tx, search: Search, ids: string[]): Promise<Set<string>> {
  await readReports(tx, search, ids);
  const { known, joins } = search;
  const live = ids.filter((id) => known.has(id));
  const members = await listGroupMembers(tx, [...new Set(live.map((id) => known.get(id)!.group_id))]);
  const held = await listHeldTerms(tx, live);
  await readReports(tx, search, [...members, ...held.flatMap(({ holders }) => holders)]);
  const joined = new Set<string>();
  const shared = listShared(held, known);
  for (const id of live) {
    const sharing = shared.get(id) ?? new Map<string, SharedTerm[]>();
    for (const other of new Set([...sharing.keys(), ...members])) {
      if (other === id || !known.has(other)) continue;
      const key = [id, other].toSorted().join(' ');
      const reasons = findJoinReasons(toReport(known.get(id)!), toReport(known.get(other)!), sharing.get(other) ?? []);
      if (reasons.length === 0) continue;
      if (!joins.has(key)) joins.set(key, { a: id, b: other, reasons });
      joined.add(other);
    }
  }
  return joined;
}

/** Returns what each report shares with each other one. */
function listShared(
  held: readonly HeldTermRow[],
  known: ReadonlyMap<string, StoryReportRow>,
): Map<string, Map<string, SharedTerm[]>> {
  const shared = new Map<string, Map<string, SharedTerm[]>>();
  for (const { kind, printed, is_address: isAddress, holders } of held) {
    const live = holders.filter((id) => known.has(id));
    const term: SharedTerm = { kind, value: printed, isAddress, holders: live.length };
    for (const id of live) {
      const sharing = shared.get(id) ?? new Map<string, SharedTerm[]>();
      shared.set(id, sharing);
      for (const other of live) if (other !== id) sharing.set(other, [...(sharing.get(other) ?? []), term]);
    }
  }
  return shared;
}

const timeOf = ({ publish_time, added_to_feed_at }: StoryReportRow): Date => publish_time ?? added_to_feed_at;

const toReport = (row: StoryReportRow): StoryReport => {
  const cves = row.names.filter((name) => name.startsWith('cve ')).length;
  return {
    id: row.id,
    groupId: row.group_id,
    at: timeOf(row).getTime(),
    isList: row.is_list,
    cves,
    names: row.names.length - cves,
  };
};

/** `unread` are the reports at which the search stopped. Others may be joined with them. */
function buildStories({ known, joins }: Search, ids: readonly string[], unread: Set<string>): Map<string, Story> {
  const componentOf = connectNodes(known.keys(), joins.values());
  const joinsOf = Map.groupBy(joins.values(), ({ a }) => componentOf.get(a)!);
  const stories = new Map<Set<string>, Story>();
  return new Map(
    ids
      .filter((id) => known.has(id))
      .map((id) => {
        const component = componentOf.get(id)!;
        const rows = [...component].map((member) => known.get(member)!);
        const story =
          stories.get(component) ?? toStory(rows, joinsOf.get(component) ?? [], !component.isDisjointFrom(unread));
        stories.set(component, story);
        return [id, story];
      }),
  );
}

const byTime = (timeOfRow: (row: StoryReportRow) => Date) => (a: StoryReportRow, b: StoryReportRow) =>
  timeOfRow(a).getTime() - timeOfRow(b).getTime() || (a.id < b.id ? -1 : 1);

type Severity = Story['severity'];
const rankOf = ({ severity }: StoryReportRow): number => severities.indexOf(severity as Severity);

function toStory(rows: StoryReportRow[], joins: readonly Join[], isUnfinished: boolean): Story {
  const timeline = rows.toSorted(byTime(timeOf)).slice(0, itemsMax);
  const [first, last] = [timeline[0]!, timeline.at(-1)!];
  const founded = timeline.filter(({ is_founded }) => is_founded);
  const [worst] = (founded.length > 0 ? founded : timeline).toSorted((a, b) => rankOf(b) - rankOf(a));
  const publishers = Map.groupBy(timeline, ({ publisher }) => publisher);
  return {
    id: rows.toSorted(byTime((row) => row.added_to_feed_at))[0]!.id,
    title: first.title,
    severity: worst!.severity as Severity,
    severityItemId: worst!.id,
    firstPublished: timeOf(first).toISOString(),
    lastPublished: timeOf(last).toISOString(),
    sources: [...publishers]
      .map(([publisher, items]) => ({ publisher, items: items.length }))
      .toSorted((a, b) => b.items - a.items || a.publisher.localeCompare(b.publisher)),
    items: timeline.map(({ id, title, publisher, severity, publish_time, added_to_feed_at }) => ({
      id,
      title,
      publisher,
      severity: severity as Severity,
      ...(publish_time ? { publishTime: publish_time.toISOString() } : {}),
      addedToFeedAt: added_to_feed_at.toISOString(),
    })),
    hasMore: isUnfinished || rows.length > itemsMax,
    reasons: joins
      .flatMap(({ a, b, reasons }) =>
        reasons.map(({ kind, values }) => ({ kind, values: values.slice(0, valuesMax), itemIds: [a, b].toSorted() })),
      )
      .toSorted((a, b) => (a.itemIds.join(' ') < b.itemIds.join(' ') ? -1 : 1))
      .slice(0, reasonsMax),
  };
}

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
type JoinReason = { kind: 'duplicate' | 'indicator' | 'vulnerability' | 'names'; values: string[] };

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
