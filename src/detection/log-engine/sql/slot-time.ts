import { duck, type SqlText } from './sql-text.ts';

const dayMs = 86_400_000;

/** An event that is on its way for at most this long counts when it arrives, so that no window waits for stragglers. */
export const promptMs = 15 * 60_000;

/** An event that is later than this counts when it arrives, because a run no longer examines the slot of its time again. */
export const lateMsMax = 7 * dayMs;

/** The exceptions for events that count when they arrive, with the time in milliseconds: see `QueryWindow`. */
export type LateRule = { lateSince?: number; earlierApart?: boolean };

/** Slot times `[from, before)` in milliseconds. Without `from`, all before. */
export type SlotBounds = LateRule & { from?: number; before: number };

/**
 * Returns the slot time of an event in microseconds: the time of the event if it is late, otherwise its arrival. `time` and `arrival` are SQL
 * expressions in microseconds. See docs/adr/0016-late-events.md.
 */
export function slotTimeSql(time: SqlText, arrival: SqlText, { lateSince, earlierApart }: LateRule): SqlText {
  const lag = duck`(${arrival} - ${time})`;
  const prompt = duck`${promptMs * 1000}::BIGINT`;
  const isLate =
    lateSince === undefined
      ? duck`(${lag} > ${prompt} OR ${lag} < -${prompt})`
      : duck`(${lag} > ${prompt} AND CASE WHEN ${time} >= ${lateSince * 1000}::BIGINT THEN ${lag} <= ${lateMsMax * 1000}::BIGINT
          ELSE ${earlierApart ? duck`${arrival} < ${(lateSince + lateMsMax) * 1000}::BIGINT` : duck`false`} END)`;
  return duck`CASE WHEN ${isLate} THEN ${time} ELSE ${arrival} END`;
}

/** Returns the condition that a slot time in microseconds is within bounds. */
export function slotBoundsSql(slotTime: SqlText, { from, before }: Pick<SlotBounds, 'from' | 'before'>): SqlText {
  const upper = duck`${slotTime} < ${before * 1000}::BIGINT`;
  return from === undefined ? upper : duck`${slotTime} >= ${from * 1000}::BIGINT AND ${upper}`;
}
