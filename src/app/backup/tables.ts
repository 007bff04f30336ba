import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { Table } from './manifest.ts';

type TableRow = Table & { parents: string[] };

/**
 * Returns all tables except the list of migrations, each after the tables that its foreign keys reference. Partitions are part of their
 * table.
 */
export async function listTables(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<TableRow>(`
    select c.relname as name,
      (select array_agg(attname::text order by attnum) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
      array(select right(p.relname, 6) from pg_inherits join pg_class p on p.oid = inhrelid
        where inhparent = c.oid and p.relname ~ '_[0-9]{6}$' order by 1) as months,
      array(select f.relname::text from pg_constraint k join pg_class f on f.oid = k.confrelid
        where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid) as parents
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'migrations'
    order by c.relname`);
  return sortByParents(rows).map(({ name, columns, months }) => ({ name, columns, months }));
}

function sortByParents(tables: TableRow[]): TableRow[] {
  const sorted = new Set<TableRow>();
  const place = (table: TableRow, above: TableRow[]): void => {
    if (above.includes(table)) throw new Error(`The foreign keys of the table ${table.name} form a circle.`);
    for (const parent of tables) if (table.parents.includes(parent.name)) place(parent, [...above, table]);
    sorted.add(table);
  };
  for (const table of tables) place(table, []);
  return [...sorted];
}

const list = (columns: string[]): string => columns.map((column) => pg.escapeIdentifier(column)).join(', ');
export const copyFromSql = ({ name, columns }: Table): string =>
  `copy ${pg.escapeIdentifier(name)} (${list(columns)}) from stdin`;

const pieceBytes = 4 * 1024 * 1024;

/** Yields the rows of a table in the text format of COPY, in pieces of about 4 MiB. */
export async function* readTable(client: pg.Client, { name, columns }: Table): AsyncGenerator<Buffer> {
  const rows = client.query(copyTo(`copy (select ${list(columns)} from ${pg.escapeIdentifier(name)}) to stdout`));
  let [waiting, bytes]: [Buffer[], number] = [[], 0];
  for await (const chunk of rows as AsyncIterable<Buffer>) {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes < pieceBytes) continue;
    yield Buffer.concat(waiting);
    [waiting, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}

/** Makes the text of values independent of the settings of the server and the user, and lifts time limits. */
export async function prepareCopy(client: pg.Client): Promise<void> {
  await client.query(
    `set datestyle = 'ISO, YMD'; set intervalstyle = 'postgres'; set timezone = 'UTC'; set extra_float_digits = 3;
     set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0`,
  );
}
