import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import { readOrgState } from '../items/snapshot/org-state.store.ts';
import { parseProfile } from '../relevance/profile.ts';
import type { Profile } from '../relevance/profile.schema.ts';
import { findProfile, markDigestDelivered } from '../relevance/relevance.store.ts';
import { findStories } from '../stories/find-stories.ts';
import { buildDigest } from './build-digest.ts';
import type { Digest } from './digest.schema.ts';
import { listChangedItems, listRecipientsAcrossOrgs, listSeenValues, listWeekItems } from './digest.store.ts';
import { renderHtml, renderMarkdown, toDigestPath } from './render-digest.ts';
import { findWeek, weekAt, weekBefore, type Week } from './week.ts';

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

/** Returns the digests of the last complete weeks, the latest first. */
export async function listDigests(
  { db, clock }: Pick<DigestDeps, 'db' | 'clock'>,
  { orgId }: Caller,
): Promise<Digest[]> {
  return inOrg(db, orgId, async (tx) => {
    const profile = parseProfile(await findProfile(tx, orgId));
    const digests: Digest[] = [];
    let week = weekAt(clock(), profile.timeZone);
    while (digests.length < feedWeeks) digests.push(await readWeek(tx, (week = weekBefore(week)), profile));
    return digests;
  });
}

async function readWeek(tx: Tx, week: Week, { requirements }: Profile): Promise<Digest> {
  const state = await readOrgState(tx);
  const items = await listWeekItems(tx, week, state);
  return buildDigest(week, {
    items,
    stories: await findStories(
      tx,
      items.map(({ id }) => id),
    ),
    requirements: requirements.map(({ name }) => name),
    changes: await listChangedItems(tx, week, state),
    seen: await listSeenValues(tx, week),
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
