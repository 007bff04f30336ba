import { quoteIdentifier } from './sql-text.ts';
import type { QueryJob } from './protocol.ts';

const semicolonsMax = 20;

/** Removes trailing semicolons and what follows them. `parsesAlike` reports whether a shortened text has the same parse tree as the query. */
export async function stripTrailingSemicolon(
  sql: string,
  parsesAlike: (shortened: string) => Promise<boolean>,
): Promise<string> {
  let result = sql;
  let at = sql.lastIndexOf(';');
  // A semicolon may also be part of a string or a comment, so the result is the shortest text with the same tree.
  for (let tries = 0; at >= 0 && tries < semicolonsMax; tries++) {
    const shortened = sql.slice(0, at);
    if (await parsesAlike(shortened)) result = shortened;
    at = at > 0 ? sql.lastIndexOf(';', at - 1) : -1;
  }
  return result;
}

/** Returns the statement that runs a query over its datasets. They are CTEs around the query, so that their names cannot refer to anything else. */
export function wrapQuery(job: QueryJob, sql: string, select: string, tail: string): string {
  const tables = job.tables.map((table) => `${quoteIdentifier(table.name)} AS NOT MATERIALIZED (${table.sql})`);
  const head = tables.length > 0 ? `WITH ${tables.join(',\n')}\n` : '';
  return `${head}SELECT ${select} FROM (${sql}\n) AS "_result" ${tail}`;
}

/** Returns the order that decides which rows are kept if there are too many: by time and ID if the result has them. */
export function orderByClause(columns: string[]): string {
  const keys = ['_time', '_id'].filter((name) => columns.includes(name));
  return keys.length > 0 ? `ORDER BY ${keys.map(quoteIdentifier).join(', ')}` : 'ORDER BY ALL';
}
