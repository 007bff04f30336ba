import { inOrg, type Db } from '../../../platform/db/db.ts';
import { type Clock, lastUtcDays } from '../../../platform/lib/time/clock.ts';
import { fieldError } from '../../../platform/lib/errors.ts';
import { readPageRequest, decodeSortCursor, encodeSortCursor } from '../../../platform/lib/page-request.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { readDetection } from '../read-detections.ts';
import { countHitsByDay, listAliasTotals, listDays, listSummaries, type SummaryRow } from './summaries.store.ts';
import type { DetectionDays, DetectionSummary, SummaryList, SummaryQuery, SummarySort } from './summaries.schema.ts';

const seriesDays = 30;

export type ReadSummariesDeps = { db: Db; clock: Clock };

/** Returns a page of short records of the detections with their 30-day series. */
export async function getSummaries(
  { db, clock }: ReadSummariesDeps,
  caller: Caller,
  query: SummaryQuery,
): Promise<SummaryList> {
  const { limit } = readPageRequest({ limit: query.limit });
  const days = lastUtcDays(clock(), seriesDays);
  const [firstDay] = days as [string];
  const { cursor, sort: order, enabled, ...filter } = query;
  const after = cursor === undefined ? null : decodeSortCursor(cursor, order);
  if (after === undefined)
    throw fieldError('query/cursor', 'invalid_cursor', 'cursor must be the nextCursor of a page with the same sort.');
  const isDescending = order.startsWith('-');
  return inOrg(db, caller.orgId, async (tx) => {
    const rows = await listSummaries(tx, caller.orgId, {
      ...filter,
      health: filter.health,
      enabled: enabled === undefined ? undefined : enabled === 'true',
      sort: order.replace('-', '') as SummarySort,
      isDescending,
      limit,
      after,
      firstDay,
    });
    const page = rows.slice(0, limit);
    const counts = await countHitsByDay(tx, caller.orgId, { ids: page.map(({ id }) => id), firstDay });
    const hitsOf = Map.groupBy(counts, ({ id }) => id);
    const last = page.at(-1);
    return {
      from: firstDay,
      total: rows[0]?.total ?? 0,
      detections: page.map((row) => {
        const byDay = new Map(hitsOf.get(row.id)?.map(({ day, n }) => [day, n]));
        return toSummary(
          row,
          days.map((day) => byDay.get(day) ?? 0),
        );
      }),
      nextCursor:
        rows.length > limit && last ? encodeSortCursor({ sort: order, value: last.sortValue, id: last.id }) : null,
    };
  });
}

function toSummary(row: SummaryRow, hitsByDay: number[]): DetectionSummary {
  const { sortValue: _value, total: _total, ...summary } = row;
  return {
    ...summary,
    hitsByDay,
    newHits30d: hitsByDay.reduce((sum, n) => sum + n, 0),
    lastRunAt: row.lastRunAt?.toISOString() ?? null,
    nextRunAt: row.nextRunAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** Returns the figures of a detection, deleted or not, for each of the last UTC days. */
export async function getDays(
  { db, clock }: ReadSummariesDeps,
  caller: Caller,
  { id, count = seriesDays }: { id: string; count?: number | undefined },
): Promise<DetectionDays> {
  const now = clock();
  const days = lastUtcDays(now, count);
  const [firstDay] = days as [string];
  return inOrg(db, caller.orgId, async (tx) => {
    await readDetection(tx, { orgId: caller.orgId, now }, id);
    const rows = new Map((await listDays(tx, caller.orgId, { id, firstDay })).map((row) => [row.day, row]));
    const counts = await countHitsByDay(tx, caller.orgId, { ids: [id], firstDay });
    const hits = new Map(counts.map(({ day, n }) => [day, n]));
    const none = { runs: 0, triggered: 0, avgScore: null, calls: 0, tokens: 0, costUsd: 0 };
    return {
      days: days.map((day) => ({ ...none, ...rows.get(day), day, hits: hits.get(day) ?? 0 })),
      aliases: await listAliasTotals(tx, caller.orgId, { id, firstDay }),
    };
  });
}
