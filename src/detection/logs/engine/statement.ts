import { quoteIdentifier } from './sql-text.ts';
import type { QueryJob } from './protocol.ts';

/** The query as it is embedded in our own statement: without a semicolon at its end. `same` says whether a cut text still parses alike. */
export async function stripTrailingSemicolon(sql: string, same: (cut: string) => Promise<boolean>): Promise<string> {
  let result = sql;
  let at = sql.lastIndexOf(';');
  // A semicolon may also stand in text or in a comment: the shortest text that leaves the same tree is the query.
  for (let tries = 0; at >= 0 && tries < 20; tries++) {
    const cut = sql.slice(0, at);
    if (await same(cut)) result = cut;
    at = at > 0 ? sql.lastIndexOf(';', at - 1) : -1;
  }
  return result;
}

/** The statement that runs a query over its datasets: they are CTEs around it, so that nothing else bears their names. */
export function wrapQuery(job: QueryJob, sql: string, select: string, tail: string): string {
  const tables = job.tables.map((table) => `${quoteIdentifier(table.name)} AS NOT MATERIALIZED (${table.sql})`);
  const head = tables.length > 0 ? `WITH ${tables.join(',\n')}\n` : '';
  return `${head}SELECT ${select} FROM (${sql}\n) AS "_result" ${tail}`;
}

/** The order in which rows are kept when there are too many: by time and id where the result has them. */
export function orderByClause(columns: string[]): string {
  const keys = ['_time', '_id'].filter((name) => columns.includes(name));
  return keys.length > 0 ? `ORDER BY ${keys.map(quoteIdentifier).join(', ')}` : 'ORDER BY ALL';
}
