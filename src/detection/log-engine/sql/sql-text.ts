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
