import { acrossOrgs, type Db, type Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import { runLoop } from '../../../platform/lib/concurrency/loop.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { emitEvents } from '../../../platform/notifications/emit-events.ts';
import type { LogEngine } from '../../log-engine/process/engine.ts';
import { readQuerySources } from '../search/inspect-query.ts';
import { findShortfall, hasRecovered, hourMs } from './judge-rhythm.ts';
import {
  claimUncheckedAcrossOrgs,
  listHoursAcrossOrgs,
  saveShortfall,
  type DatasetKey,
  type OpenShortfall,
} from './log-health.store.ts';

/** A detection that may query a dataset. */
export type LogReader = { id: string; name: string; query: string };

export type LogHealthDeps = {
  db: Db;
  clock: Clock;
  log: Logger;
  engine: LogEngine;
  /** Returns the enabled detections of the embedded store whose query contains a text. */
  listReaders: (tx: Tx, orgId: OrgId, text: string) => Promise<LogReader[]>;
};

const idleMs = 60_000;
const datasetsPerStep = 200;
const readersListed = 100;
const inspectionMaxMs = 10_000;

/**
 * Compares every dataset with its own rhythm, once after each hour. An hour during which this process was not running is not judged, because
 * what shippers could not deliver in it arrives later.
 */
export function logHealthLoop(deps: LogHealthDeps, signal: AbortSignal): Promise<void> {
  const startedAt = deps.clock();
  return runLoop({ name: 'log-health', idleMs, signal, log: deps.log }, () => checkLogHealth(deps, startedAt));
}

/** Checks datasets until the last complete hour, if that began after `startedAt`. Returns whether there may be more to check. */
export async function checkLogHealth(deps: LogHealthDeps, startedAt: Date): Promise<boolean> {
  const until = new Date(Math.floor(deps.clock().getTime() / hourMs) * hourMs);
  if (until.getTime() - hourMs < startedAt.getTime()) return false;
  return acrossOrgs(deps.db, async (tx) => {
    const claimed = await claimUncheckedAcrossOrgs(tx, until, datasetsPerStep);
    const hours = groupHours(await listHoursAcrossOrgs(tx, claimed, until));
    for (const { open, ...key } of claimed) {
      const events = hours.get(toText(key)) ?? new Map<number, number>();
      const next = judge(events, { open, until });
      if (next === open) continue;
      await saveShortfall(tx, key, next);
      // A dataset that is no longer used has not recovered.
      if (next ?? events.size > 0) await emitHealth(tx, deps, key, { until, before: open, after: next });
    }
    return claimed.length === datasetsPerStep;
  });
}

const toText = ({ orgId, dataset }: DatasetKey): string => `${orgId} ${dataset}`;

function groupHours(rows: Awaited<ReturnType<typeof listHoursAcrossOrgs>>): Map<string, Map<number, number>> {
  const grouped = new Map<string, Map<number, number>>();
  for (const row of rows) {
    const hours = grouped.get(toText(row)) ?? new Map<number, number>();
    grouped.set(toText(row), hours.set(row.hour.getTime() / hourMs, row.events));
  }
  return grouped;
}

/**
 * Returns the shortfall of a dataset: the open one until it has recovered, or a new one if a reduced dataset falls silent. One that received
 * nothing for weeks is no longer used.
 */
function judge(
  events: ReadonlyMap<number, number>,
  { open, until }: { open: OpenShortfall | undefined; until: Date },
): OpenShortfall | undefined {
  const hour = until.getTime() / hourMs - 1;
  if (open && (events.size === 0 || hasRecovered(events, hour, open))) return undefined;
  const shortfall = findShortfall(events, { firstHour: Math.min(...events.keys()), hour });
  if (open && (open.events === 0 || shortfall?.events !== 0)) return open;
  return shortfall && { ...shortfall, since: new Date(until.getTime() - shortfall.hours * hourMs) };
}

type HealthChange = { until: Date; before: OpenShortfall | undefined; after: OpenShortfall | undefined };

async function emitHealth(
  tx: Tx,
  deps: LogHealthDeps,
  { orgId, dataset }: DatasetKey,
  { until, before, after }: HealthChange,
): Promise<void> {
  const type = after === undefined ? 'dataset.recovered' : after.events === 0 ? 'dataset.silent' : 'dataset.reduced';
  await emitEvents(tx, [orgId], [type], async () => {
    const { since, ...shortfall } = (after ?? before)!;
    const readers = after ? await listBlinded(tx, deps, { orgId, dataset }) : [];
    const detections = readers.slice(0, readersListed).map(({ id, name }) => ({ id, name }));
    const data = {
      organizationId: orgId,
      dataset,
      since: since.toISOString(),
      until: until.toISOString(),
      ...(after ? { ...shortfall, detections, detectionsTotal: readers.length } : {}),
    };
    return [{ orgId, type, resourceId: dataset, revision: until.getTime(), data }];
  });
}

/** Returns the enabled detections that read a dataset. */
async function listBlinded(
  tx: Tx,
  { engine, listReaders }: LogHealthDeps,
  { orgId, dataset }: DatasetKey,
): Promise<LogReader[]> {
  // The detections of one organization must not delay the check of the others.
  const signal = AbortSignal.timeout(inspectionMaxMs);
  const blinded: LogReader[] = [];
  for (const reader of await listReaders(tx, orgId, dataset)) {
    // A query that became invalid reads nothing.
    const sources = await readQuerySources({ engine }, orgId, reader.query, signal).catch(() => undefined);
    if (sources?.datasets.includes(dataset)) blinded.push(reader);
  }
  return blinded;
}
