// SQL fragments for the engine.

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

/** Returns the TIMESTAMP (UTC) for a time in microseconds since 1970. */
export function timestampSql(micros: number): string {
  return `make_timestamp(${micros})`;
}

export function coalesceSql(values: string[]): string {
  return values.length === 1 ? values[0]! : `coalesce(${values.join(', ')})`;
}
