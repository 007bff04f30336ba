import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import { readOrgState } from '../items/snapshot/org-state.store.ts';
import { parseProfile } from '../relevance/profile.ts';
import { type Profile, foldRequirement } from '../relevance/profile.schema.ts';
import { findProfile, markDigestDelivered } from '../relevance/relevance.store.ts';
import { findStories } from '../stories/find-stories.ts';
import { type Digest, findWeek, weekAt, weekBefore, type Week } from './digest.schema.ts';
import {
  listChangedItems,
  listRecipientsAcrossOrgs,
  listSeenValues,
  listWeekItems,
  type ChangedItemRow,
  type SeenValueRow,
  type WeekItemRow,
} from './digest.store.ts';
import { renderHtml, renderMarkdown, toDigestPath } from './render-digest.ts';
import type { FeedItem } from '../model/item.schema.ts';
import type { RelevanceReason } from '../model/overrides.schema.ts';
import { stricterTlp, type Tlp } from '../model/vocabulary.ts';
import type { Story } from '../stories/stories.schema.ts';

export type DigestDeps = { db: Db; clock: Clock; config: { publicUrl: string | null } };

/** Returns the digest of a week: `current`, `last`, or an id such as `2026-W48`. Throws `not_found` if the year has no such week. */
export async function getDigest(
  { db, clock }: Pick<DigestDeps, 'db' | 'clock'>,
  { orgId }: Caller,
  name: string,
): Promise<Digest> {
  return inOrg(db, orgId, async (tx) => {
    const profile = parseProfile(await findProfile(tx, orgId));
    const current = weekAt(clock(), profile.timeZone);
    const week =
      name === 'current' ? current : name === 'last' ? weekBefore(current) : findWeek(name, profile.timeZone);
    if (!week) throw appError('not_found', `There is no week ${name}`);
    return readWeek(tx, week, profile);
  });
}

const feedWeeks = 4;

/** Returns the digests of the last complete weeks, the latest first, without items that are marked stricter than `tlpMax`. */
export async function listDigests(
  { db, clock }: Pick<DigestDeps, 'db' | 'clock'>,
  { orgId }: Caller,
  tlpMax: Tlp,
): Promise<Digest[]> {
  return inOrg(db, orgId, async (tx) => {
    const profile = parseProfile(await findProfile(tx, orgId));
    const digests: Digest[] = [];
    let week = weekAt(clock(), profile.timeZone);
    while (digests.length < feedWeeks) digests.push(await readWeek(tx, (week = weekBefore(week)), profile, tlpMax));
    return digests;
  });
}

async function readWeek(tx: Tx, week: Week, { requirements }: Profile, tlpMax: Tlp = 'RED'): Promise<Digest> {
  const state = await readOrgState(tx);
  const isWithin = ({ tlp }: { tlp: Tlp }): boolean => stricterTlp(tlp, tlpMax) === tlpMax;
  const items = (await listWeekItems(tx, week, state)).map(parseRow).filter(({ item }) => isWithin(item.source));
  return buildDigest(week, {
    items,
    stories: await findStories(
      tx,
      items.map(({ id }) => id),
    ),
    // A story can have items of a stricter marking.
    areStoriesWhole: tlpMax === 'RED',
    requirements: requirements.map(({ name }) => name),
    changes: (await listChangedItems(tx, week, state)).filter(isWithin).slice(0, listMax),
    seen: (await listSeenValues(tx, week)).filter(isWithin).slice(0, listMax),
  });
}

const deliveredAfterMs = 7 * 3_600_000;

/** Emits `feed.digest.ready` for the last week of each organization that receives it, once from Monday at seven in the time zone of its profile. */
export async function deliverDigests({ db, clock, config, log }: DigestDeps & { log: Logger }): Promise<void> {
  for (const { organization_id: orgId, profile } of await listRecipientsAcrossOrgs(db)) {
    try {
      const { timeZone } = parseProfile({ profile });
      const week = weekBefore(weekAt(new Date(clock().getTime() - deliveredAfterMs), timeZone));
      await inOrg(db, orgId, (tx) => deliverDigest(tx, orgId, { week, publicUrl: config.publicUrl }));
    } catch (error) {
      // The other organizations get theirs, and this one is tried again in an hour.
      log.error({ err: error, orgId }, 'A digest could not be sent.');
    }
  }
}

async function deliverDigest(
  tx: Tx,
  orgId: OrgId,
  { week, publicUrl }: { week: Week; publicUrl: string | null },
): Promise<void> {
  if (!(await markDigestDelivered(tx, orgId, week.id))) return;
  await emitEvents(tx, [orgId], ['feed.digest.ready'], async () => {
    const digest = await readWeek(tx, week, parseProfile(await findProfile(tx, orgId)));
    const data = {
      id: digest.week,
      ...digest,
      markdown: renderMarkdown(digest, publicUrl),
      html: renderHtml(digest, publicUrl),
      url: toDigestPath(digest),
    };
    const revision = Number(digest.week.replace('-W', ''));
    return [{ orgId, type: 'feed.digest.ready' as const, resourceId: digest.week, revision, data }];
  });
}

/** The stored data of a week. `stories` has stories by the ID of their items; an item may have none. Unless they are whole, they only group `items`. */
type WeekData = {
  items: readonly WeekItem[];
  stories: ReadonlyMap<string, Story>;
  areStoriesWhole: boolean;
  requirements: readonly string[];
  changes: readonly ChangedItemRow[];
  seen: readonly SeenValueRow[];
};

const listMax = 25;
const [reasonsMax, adviceMax, metMax, namedMax] = [5, 3, 5, 3];

type WeekItem = Omit<WeekItemRow, 'doc' | 'reasons'> & { item: FeedItem; reasons: RelevanceReason[] };

const parseRow = ({ doc, reasons, ...row }: WeekItemRow): WeekItem => ({
  ...row,
  item: JSON.parse(doc) as FeedItem,
  reasons: JSON.parse(reasons) as RelevanceReason[],
});

/** Builds the digest of a week from what is stored. Pure. */
function buildDigest(week: Week, data: WeekData): Digest {
  const { items, stories, areStoriesWhole, requirements, changes, seen } = data;
  const groups = [...Map.groupBy(items, ({ id }) => stories.get(id)?.id ?? id).values()];
  const list = groups.map((group) => toStory(group, areStoriesWhole ? stories.get(group[0]!.id) : undefined));
  const exploited = items.flatMap((one) => toExploited(one) ?? []);
  const met = requirements.flatMap((name) => {
    const meeting = items.filter((one) => one.requirements.includes(foldRequirement(name)));
    return meeting.length === 0
      ? []
      : [{ name, total: meeting.length, items: meeting.slice(0, metMax).map(toReference) }];
  });
  const contents = {
    stories: { total: list.length, list: list.slice(0, listMax) },
    exploited: exploited.slice(0, listMax),
    requirements: met,
    changes: changes.map(({ at, status, changed, note, ...row }) => ({
      ...toRowReference(row),
      status,
      at: at.toISOString(),
      changed,
      ...(note === null ? {} : { note }),
    })),
    seen: seen.map(({ value, type, datasets, events, ...row }) => ({
      ...toRowReference(row),
      value,
      type,
      datasets,
      events,
    })),
  };
  return {
    week: week.id,
    previousWeek: weekBefore(week).id,
    nextWeek: weekAt(week.to, week.timeZone).id,
    timeZone: week.timeZone,
    from: week.from.toISOString(),
    to: week.to.toISOString(),
    title: `Threats of week ${week.id}`,
    summary: summarize(contents),
    tlp: [...items.map(({ item }) => item.source), ...changes, ...seen].reduce<Tlp>(
      (strictest, { tlp }) => stricterTlp(strictest, tlp),
      'CLEAR',
    ),
    ...contents,
  };
}

const toReference = ({ id, severity, item }: WeekItem) => ({
  itemId: id,
  title: item.event.title,
  publisher: item.source.publisher,
  severity,
});

const toRowReference = ({
  id,
  title,
  publisher,
  severity,
}: Pick<SeenValueRow, 'id' | 'title' | 'publisher' | 'severity'>) => ({
  itemId: id,
  title,
  publisher,
  severity,
});

/** Shows the most relevant of the items, or the first report of the story if it is as relevant. */
function toStory(group: WeekItem[], story: Story | undefined): Digest['stories']['list'][number] {
  const [best] = group as [WeekItem, ...WeekItem[]];
  const one = group.find(({ id, score }) => id === story?.id && score === best.score) ?? best;
  const { tldr, summary, advice = [] } = one.item;
  const text = tldr ?? summary;
  return {
    ...toReference(one),
    severity: story?.severity ?? one.severity,
    publishers: story?.sources.map(({ publisher }) => publisher) ?? [
      ...new Set(group.map(({ item }) => item.source.publisher)),
    ],
    reports: story?.items.length ?? group.length,
    score: one.score,
    reasons: one.reasons.slice(0, reasonsMax).map(({ evidenceRef: _evidenceRef, ...reason }) => reason),
    ...(text ? { summary: text } : {}),
    advice: advice.slice(0, adviceMax).map(({ action, text: sentence }) => ({ action, text: sentence })),
  };
}

/** Returns the entry of an item about exploited vulnerabilities in a product of the profile. Undefined for other items. */
function toExploited(one: WeekItem): Digest['exploited'][number] | undefined {
  const cves = one.item.classification.mappings.filter(({ framework }) => framework === 'cve').map(({ id }) => id);
  const products = one.reasons.filter(({ kind }) => kind === 'product' || kind === 'vendor');
  if (!one.is_exploited || cves.length === 0 || products.length === 0) return undefined;
  return { ...toReference(one), cves, products: [...new Set(products.map(({ matched }) => matched))] };
}

const count = (n: number, one: string, several = `${one}s`): string => `${n} ${n === 1 ? one : several}`;

function summarize({
  stories,
  exploited,
  requirements,
  changes,
  seen,
}: Pick<Digest, 'stories' | 'exploited' | 'requirements' | 'changes' | 'seen'>): string {
  if ([stories.total, changes.length, seen.length].every((n) => n === 0)) return 'Nothing relevant happened.';
  const named = stories.list.slice(0, namedMax).map(({ title }) => title);
  const counts = [
    ...(stories.total > 0 ? [count(stories.total, 'relevant story', 'relevant stories')] : []),
    ...(exploited.length > 0
      ? [`${count(exploited.length, 'item')} about exploited vulnerabilities in your products`]
      : []),
    ...(requirements.length > 0 ? [`${count(requirements.length, 'requirement')} met`] : []),
    ...(changes.length > 0 ? [`${count(changes.length, 'item')} corrected or retracted`] : []),
    ...(seen.length > 0 ? [`${count(seen.length, 'indicator')} seen in your logs`] : []),
  ];
  return `${counts.join(', ')}.${named.length > 0 ? ` ${named.join(' · ')}` : ''}`;
}
