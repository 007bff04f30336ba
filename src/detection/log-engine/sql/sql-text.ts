// SQL fragments for the engine.

import { toEngineType, type ColumnType } from '../../log-store/catalog/column-types.ts';

declare const sqlText: unique symbol;

/** SQL for the engine in which every name and every value is quoted. Only the functions of this file create it. */
export type SqlText = string & { readonly [sqlText]: true };

/** Composes SQL. Interpolates only other SQL and numbers, so that a name or a value that is not quoted is a type error. */
export function duck(parts: TemplateStringsArray, ...values: (SqlText | number)[]): SqlText {
  return String.raw({ raw: parts }, ...values) as SqlText;
}

export function quoteIdentifier(name: string): SqlText {
  return `"${name.replaceAll('"', '""')}"` as SqlText;
}

export function quoteLiteral(text: string): SqlText {
  return `'${text.replaceAll("'", "''")}'` as SqlText;
}

/** Returns the JSON pointer (RFC 6901) of a key path. Unlike a JSON path, it can contain keys with any characters. */
export function jsonPointer(keys: string[]): string {
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Joins SQL with a separator that contains no name and no value. */
export function joinSql(parts: readonly SqlText[], separator: ', ' | ' AND ' | '\nUNION ALL\n' | '\n' = ', '): SqlText {
  return parts.join(separator) as SqlText;
}

/** Returns the engine's name of a column type. Columns with nothing but nulls are VARCHAR. */
export function typeSql(type: ColumnType): SqlText {
  return toEngineType(type) as SqlText;
}

/** Returns the TIMESTAMP (UTC) for a time in microseconds since 1970. */
export function timestampSql(micros: number): SqlText {
  return duck`make_timestamp(${micros})`;
}

/** Returns the TIMESTAMP WITH TIME ZONE for a time in microseconds since 1970, as typed files store times. */
export function instantSql(micros: number): SqlText {
  return duck`make_timestamptz(${micros})`;
}

/** Returns the TIMESTAMP (UTC) of a TIMESTAMP WITH TIME ZONE. A cast would consult the calendar for each row. */
export function fromInstantSql(instant: SqlText): SqlText {
  return duck`make_timestamp(epoch_us(${instant}))`;
}

/** Returns the TIMESTAMP WITH TIME ZONE of a TIMESTAMP (UTC). */
export function toInstantSql(timestamp: SqlText): SqlText {
  return duck`make_timestamptz(epoch_us(${timestamp}))`;
}

/** The text of a column without a value. */
export const noText = duck`CAST(NULL AS VARCHAR)`;

export function coalesceSql(values: readonly SqlText[]): SqlText {
  return values.length === 1 ? values[0]! : duck`coalesce(${joinSql(values)})`;
}

const dayMs = 86_400_000;

/** An event that is on its way for at most this long counts when it arrives, so that no window waits for stragglers. */
export const promptMs = 15 * 60_000;

/** An event that is later than this counts when it arrives, because a run no longer examines the slot of its time again. */
export const lateMsMax = 7 * dayMs;

/** The exceptions for events that count when they arrive, with the time in milliseconds: see `QueryWindow`. */
type LateRule = { lateSince?: number; earlierApart?: boolean };

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
