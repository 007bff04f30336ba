/** A name as an identifier of the engine. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Text as a literal of the engine. */
export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** JSON pointer (RFC 6901) to a key path: it takes keys with any characters, which a JSON path does not. */
export function jsonPointer(keys: string[]): string {
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** A point in time, given in microseconds since 1970, as the engine's TIMESTAMP (UTC). */
export function timestampSql(micros: number): string {
  return `make_timestamp(${micros})`;
}
