import { listEndingExceptions } from '../../detection/detections/exceptions/exceptions.store.ts';
import { LRUCache } from 'lru-cache';
import { findLateMatchingOf } from '../../detection/continuous/match-positions.store.ts';
import type { DetectionHealth } from '../../detection/detections/summaries/summaries.schema.ts';
import { listShortfalls } from '../../detection/log-query/datasets/log-health.store.ts';
import { readItemCounts } from '../../feed/items/items.store.ts';
import { readOrgState } from '../../feed/items/snapshot/org-state.store.ts';
import type { Snapshot, SnapshotCache } from '../../feed/items/snapshot/snapshot.ts';
import { severities } from '../../feed/model/vocabulary.ts';
import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import { type Clock, lastUtcDays, withIsoTimes } from '../../platform/lib/time/clock.ts';
import { findModelPauses } from '../../platform/models/model-pauses.store.ts';
import type { Models } from '../../platform/models/models.ts';
import { listAliasUsage, type ModelUsage } from '../../platform/models/model-usage.store.ts';
import { listQuotaStates } from '../../platform/orgs/limits/limits.store.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { Overview } from './overview.schema.ts';
import {
  countUndecided,
  countOpenHits,
  countOpenWork,
  listHitDays,
  listPausedConnections,
  readDetectionHealth,
  readFeedWork,
  listRunDays,
  type DayRow,
} from './overview.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

const urgent: readonly DetectionHealth[] = ['stopped', 'failing', 'paused', 'gap'];
const listMax = 20;
const seriesDays = 30;

export type OverviewDeps = {
  db: Db;
  clock: Clock;
  snapshots: SnapshotCache;
  models?: Models;
  readRunDays: RunDayReader;
};

/** Returns what needs a person now, and the series of the last 30 days. A part whose scope the key lacks is null. */
export async function getOverview(deps: OverviewDeps, caller: Caller): Promise<Overview> {
  const { db, clock } = deps;
  const { orgId, scopes } = caller;
  const now = clock();
  // Read first: within the transaction, it would need a second connection.
  const snapshot = scopes.has('feed:read') ? await deps.snapshots.get(orgId) : undefined;
  return inOrg(db, orgId, async (tx) => {
    const readsHits = scopes.has('hits:read');
    const { counts, attention } = await readDetectionHealth(tx, orgId, { urgent, limit: listMax });
    const work = await countOpenWork(tx, orgId);
    const connections = await listPausedConnections(tx, orgId, listMax);
    const models = await findModelPauses(tx, orgId);
    const exceptions = await listEndingExceptions(tx, orgId, now, listMax);
    const shortfalls = await listShortfalls(tx, orgId);
    return {
      at: now.toISOString(),
      hits: readsHits ? await readHits(tx, caller, now) : null,
      detections: {
        total: counts.reduce((sum, { n }) => sum + n, 0),
        byHealth: Object.fromEntries(counts.map(({ health, n }) => [health, n])),
        attention,
      },
      gaps: {
        open: work.gaps,
        detections: work.gapDetections,
        oldestFrom: work.gapSince?.toISOString() ?? null,
        hours: work.gapHours,
      },
      runs: { queued: work.queued, running: work.running },
      lateMatchingSince: (await findLateMatchingOf(tx, orgId))?.toISOString() ?? null,
      pausedConnections: connections.map(withIsoTimes),
      pausedModels: models.map(({ alias, kind, message, since_at: since }) => ({
        id: alias,
        kind,
        message,
        since: since.toISOString(),
      })),
      datasetShortfalls: shortfalls.slice(0, listMax),
      endingExceptions: exceptions.map(({ orgId: _orgId, ...one }) => withIsoTimes(one)),
      failingDestinations: work.failingDestinations,
      suggestions: { open: work.suggestions, newestAt: work.newestSuggestionAt?.toISOString() ?? null },
      budgets: (await listAliasUsage(tx, orgId, now))
        .map((usage) => toBudget(usage, deps.models))
        .toSorted((a, b) => b.share - a.share || a.alias.localeCompare(b.alias)),
      quotas: (await listQuotaStates(tx, orgId, now))
        .filter(({ level }) => level !== 'free')
        .toSorted((a, b) => b.share - a.share || a.quota.localeCompare(b.quota)),
      feed: snapshot ? await readFeed(tx, snapshot, caller, now) : null,
      days: await readDays(tx, caller, { now, readsHits, readRunDays: deps.readRunDays }),
    };
  });
}

async function readHits(tx: Tx, { orgId }: Caller, now: Date): Promise<Overview['hits']> {
  const rows = await countOpenHits(tx, orgId, now);
  const open = rows.reduce((sum, row) => sum + row.open, 0);
  return {
    open,
    undecided: open === 0 ? 0 : await countUndecided(tx, orgId),
    bySeverity: rows.map(withIsoTimes),
  };
}

/** A limit of 0 dollars allows only calls that cost nothing, so any cost uses it up. */
function toBudget({ alias, tokens, costUsd }: ModelUsage, models: Models | undefined): Overview['budgets'][number] {
  const budgets = models?.find(alias)?.entry.budgets;
  const [tokensMax, costUsdMax] = [budgets?.tokensPerOrganizationMonth, budgets?.usdPerOrganizationMonth];
  const shareOf = (used: number, max: number | undefined): number =>
    max === undefined || used === 0 ? 0 : max === 0 ? 1 : used / max;
  const share = Math.max(shareOf(tokens, tokensMax), shareOf(costUsd ?? 0, costUsdMax));
  return { alias, tokens, tokensMax: tokensMax ?? null, costUsd, costUsdMax: costUsdMax ?? null, share };
}

async function readFeed(tx: Tx, snapshot: Snapshot, { orgId }: Caller, now: Date): Promise<Overview['feed']> {
  const { overridesSeq } = await readOrgState(tx, snapshot);
  const counts = await readItemCounts(tx, snapshot, { overridesSeq });
  const { problems, ...work } = await readFeedWork(tx, orgId, { now, poolIds: snapshot.poolIds });
  const count = (severity?: string): number =>
    counts.reduce((sum, row) => sum + (severity === undefined || row.severity === severity ? row.n : 0), 0);
  return {
    ...work,
    items: count(),
    bySeverity: Object.fromEntries(severities.map((severity) => [severity, count(severity)])) as Record<
      (typeof severities)[number],
      number
    >,
    failingSources: problems
      .filter(({ failures }) => failures > 0)
      .slice(0, listMax)
      .map(withIsoTimes),
    silentSources: problems
      .filter(({ silentSince }) => silentSince !== null)
      .slice(0, listMax)
      .map(withIsoTimes),
  };
}

async function readDays(
  tx: Tx,
  { orgId }: Caller,
  { now, readsHits, readRunDays }: { now: Date; readsHits: boolean; readRunDays: RunDayReader },
): Promise<Overview['days']> {
  const days = lastUtcDays(now, seriesDays);
  const range = { firstDay: days[0]!, today: days.at(-1)! };
  const runs = new Map((await readRunDays(tx, orgId, range, now)).map((row) => [row.day, row]));
  const hits = new Map(readsHits ? (await listHitDays(tx, orgId, range.firstDay)).map((row) => [row.day, row]) : []);
  return days.map((day) => {
    const raised = hits.get(day);
    return {
      day,
      runs: runs.get(day)?.runs ?? 0,
      triggered: runs.get(day)?.triggered ?? 0,
      hits: readsHits ? (raised?.hits ?? 0) : null,
      reviewed: readsHits ? (raised?.reviewed ?? 0) : null,
      precision:
        raised && raised.reviewed > 0 ? Math.round((1000 * raised.truePositives) / raised.reviewed) / 1000 : null,
    };
  });
}

const keptMs = 5 * 60_000;
const orgsMax = 1000;

type DayRange = { firstDay: string; today: string };
type PastDays = { today: string; until: number; rows: DayRow[] };

/**
 * Returns a function that reads the totals of runs by UTC day. Those of past days need a row per detection and day, change only if a run is
 * graded late, and are kept for 5 minutes.
 */
export function createRunDayReader() {
  const kept = new LRUCache<OrgId, PastDays>({ max: orgsMax });

  async function readPast(tx: Tx, orgId: OrgId, { firstDay, today }: DayRange, now: Date): Promise<DayRow[]> {
    const found = kept.get(orgId);
    if (found && found.today === today && found.until > now.getTime()) return found.rows;
    const rows = await listRunDays(tx, orgId, { from: firstDay, before: today });
    kept.set(orgId, { today, until: now.getTime() + keptMs, rows });
    return rows;
  }

  return async (tx: Tx, orgId: OrgId, range: DayRange, now: Date): Promise<DayRow[]> => [
    ...(await readPast(tx, orgId, range, now)),
    ...(await listRunDays(tx, orgId, { from: range.today })),
  ];
}
type RunDayReader = ReturnType<typeof createRunDayReader>;
