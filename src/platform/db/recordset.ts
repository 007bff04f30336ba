import { sql, type RawBuilder } from 'kysely';

type RecordValue = string | number | boolean | Date | string[] | null;

/**
 * Returns rows as the FROM item `n` of a statement. `types` maps the columns to their PostgreSQL types. All rows are one JSON parameter, which
 * takes less time to build than an array for each column. A lone surrogate becomes U+FFFD, as in every other text parameter.
 */
export function toRecordset<Name extends string>(
  rows: Record<Name, RecordValue>[],
  types: Record<Name, string>,
): RawBuilder<unknown> {
  const columns = Object.entries<string>(types).map(([name, type]) => `${name} ${type}`);
  return sql`json_to_recordset(${toJson(rows)}::json) as n (${sql.raw(columns.join(', '))})`;
}

// JSON.stringify escapes lone surrogates, and PostgreSQL refuses the escape. A function for every value makes it slower, so it is only used then.
function toJson(rows: unknown[]): string {
  const text = JSON.stringify(rows);
  return text.includes(String.raw`\ud`) ? JSON.stringify(rows, replaceLoneSurrogates) : text;
}

const replaceLoneSurrogates = (_key: string, value: unknown): unknown =>
  typeof value === 'string' ? value.toWellFormed() : value;
