import { sql, type RawBuilder } from 'kysely';
import { queryRows, type Tx } from './db.ts';
import type { OrgId } from '../lib/org-id.ts';

/** Replaces an erased value. */
export const erasedMark = '[erased]';

type ChangeAuthor = { keyId: string | null; subject?: string | null | undefined };
type ErasureColumns = { orgId: OrgId; table: string; columns: readonly string[] };

/**
 * Replaces a value in columns of an organization's rows. Returns the number of changed rows. With an author, the rows carry the author and the time of
 * their last change, which moves strictly forward.
 */
export async function replaceValue(
  tx: Tx,
  { orgId, table, columns, author }: ErasureColumns & { author?: ChangeAuthor },
  value: string,
): Promise<number> {
  const spellings = listSpellings(value);
  const assignments = columns.map((column) => sql`${sql.ref(column)} = ${replaceSql(column, spellings)}`);
  const { numAffectedRows } = await sql`
    update ${sql.table(table)} set ${sql.join([...assignments, ...(author ? [authorshipSql(author)] : [])])}
    where organization_id = ${orgId} and ${containsSql(columns, spellings)}`.execute(tx);
  return Number(numAffectedRows ?? 0);
}

/** Returns the IDs of an organization's rows that contain a value in one of the columns. */
export async function listIdsWithValue(
  tx: Tx,
  { orgId, table, columns }: ErasureColumns,
  value: string,
): Promise<string[]> {
  const rows = await queryRows<{ id: string }>(tx)`
    select id from ${sql.table(table)} where organization_id = ${orgId} and ${containsSql(columns, listSpellings(value))}`;
  return rows.map(({ id }) => id);
}

/** Deletes an organization's rows that contain a value in one of the columns. Returns the number of deleted rows. */
export async function deleteRowsWithValue(
  tx: Tx,
  { orgId, table, columns }: ErasureColumns,
  value: string,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)}
      where organization_id = ${orgId} and ${containsSql(columns, listSpellings(value))}`.execute(tx);
  return Number(numAffectedRows ?? 0);
}

/** A column contains a value as plain text, as JSON, or as JSON within JSON. */
function listSpellings(value: string): string[] {
  const inJson = JSON.stringify(value).slice(1, -1);
  return [...new Set([JSON.stringify(inJson).slice(1, -1), inJson, value])];
}

const authorshipSql = ({ keyId, subject = null }: ChangeAuthor): RawBuilder<unknown> => sql`
  key_id = ${keyId}, actor = ${subject},
  updated_at = greatest(date_trunc('milliseconds', clock_timestamp()), updated_at + interval '1 millisecond')`;

function containsSql(columns: readonly string[], spellings: readonly string[]): RawBuilder<boolean> {
  const conditions = columns.flatMap((column) =>
    spellings.map((spelling) => sql`strpos(${sql.ref(column)}, ${spelling}) > 0`),
  );
  return sql<boolean>`(${sql.join(conditions, sql` or `)})`;
}

function replaceSql(column: string, spellings: readonly string[]): RawBuilder<string> {
  return spellings.reduce(
    (inner, spelling) => sql<string>`replace(${inner}, ${spelling}, ${erasedMark})`,
    sql<string>`${sql.ref(column)}`,
  );
}
