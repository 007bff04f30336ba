import { sql } from 'kysely';
import {
  resealJson,
  type SealedColumn,
  type SealedRecord,
  UnreadableSecretError,
  type Secretbox,
} from '../lib/secretbox.ts';
import { acrossOrgs, queryRows, type Db } from './db.ts';

const pageRows = 200;
type SealedRow = SealedRecord & { sealed: Buffer };

/** Numbers of values. `unreadable` lists those that neither the current nor the previous key opens. */
export type ResealResult = { resealed: number; unchanged: number; unreadable: string[] };

/**
 * Seals the values of a column with the current key that the previous key sealed. A value that changes meanwhile stays as it is, because a
 * running process seals with the current key. May be interrupted and called again.
 */
export async function resealColumn(db: Db, secrets: Secretbox, sealed: SealedColumn): Promise<ResealResult> {
  const result: ResealResult = { resealed: 0, unchanged: 0, unreadable: [] };
  let last: SealedRecord | undefined;
  for (;;) {
    const rows = await listSealed(db, sealed, last);
    for (const row of rows) await resealRow(db, { secrets, sealed, result }, row);
    if (rows.length < pageRows) return result;
    last = rows.at(-1);
  }
}

type Resealing = { secrets: Secretbox; sealed: SealedColumn; result: ResealResult };

async function resealRow(db: Db, { secrets, sealed, result }: Resealing, row: SealedRow): Promise<void> {
  const { table, column, kind } = sealed;
  try {
    const value = resealJson(secrets, kind, row, row.sealed);
    if (value === undefined) result.unchanged += 1;
    else {
      await acrossOrgs(db, (tx) =>
        sql`update ${sql.table(table)} set ${sql.ref(column)} = ${value}
          where organization_id = ${row.organization_id} and id = ${row.id}
          and ${sql.ref(column)} = ${row.sealed}`.execute(tx),
      );
      result.resealed += 1;
    }
  } catch (error) {
    if (!(error instanceof UnreadableSecretError)) throw error;
    result.unreadable.push(`${kind} ${row.id}`);
  }
}

function listSealed(db: Db, { table, column }: SealedColumn, after: SealedRecord | undefined): Promise<SealedRow[]> {
  const start = after ? sql`and (organization_id, id) > (${after.organization_id}, ${after.id})` : sql``;
  return acrossOrgs(
    db,
    (tx) => queryRows<SealedRow>(tx)`
      select organization_id, id, ${sql.ref(column)} as sealed from ${sql.table(table)}
      where ${sql.ref(column)} is not null ${start} order by organization_id, id limit ${pageRows}`,
  );
}
