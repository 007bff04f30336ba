// SQL fragments for the engine.

export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
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
