import { createHash } from 'node:crypto';
import { z } from 'zod';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';

/**
 * A backup is a tar archive with these entries, in this order: the header, the generated key, the rows of each table in pieces, the log
 * files, and the checksums. An archive without checksums is incomplete.
 */
export const headerEntry = 'tocsin-backup.json';
export const keyEntry = 'secret.key';
export const checksumsEntry = 'checksums.json';
export const tableEntry = (name: string, piece: number): string =>
  `tables/${name}/${String(piece).padStart(8, '0')}.copy`;
export const logEntry = (orgId: string, path: string): string => `logs/${orgId}/${path}`;

/** A table with its columns. `months` lists the partitions of one that has a partition per month, such as `202611`. */
const Table = z.object({ name: z.string(), columns: z.array(z.string()).min(1), months: z.array(z.string()) });
export type Table = z.infer<typeof Table>;

/** A migration. Backups of development versions list names only. */
const Migration = z.union([
  z.object({ name: z.string(), sha256: z.string() }),
  z.string().transform((name) => ({ name, sha256: '' })),
]);

/** `keyCheck` is a text sealed with the key of the installation, in base64. Null if it has no key. */
export const Header = z.object({
  format: z.literal(1, 'is not known to this version: use a newer one'),
  version: z.string(),
  createdAt: z.iso.datetime(),
  migrations: z.array(Migration),
  tables: z.array(Table),
  logs: z.enum(['copied', 'listed']),
  keyCheck: z.string().nullable(),
});
export type Header = z.infer<typeof Header>;

const Tally = z.object({ bytes: z.number(), lines: z.number(), sha256: z.string() });
/** Checksum of each table by name. `lines` is its number of rows. */
export const Checksums = z.object({
  tables: z.record(z.string(), Tally),
  logs: z.object({ files: z.number(), bytes: z.number(), sha256: z.string() }),
});
export type Checksums = z.infer<typeof Checksums>;

/** Counts and hashes bytes. */
export type RunningTally = { add: (bytes: Uint8Array) => void; end: () => z.infer<typeof Tally> };

export function createTally(): RunningTally {
  const hash = createHash('sha256');
  let [bytes, lines] = [0, 0];
  return {
    add: (chunk) => {
      hash.update(chunk);
      bytes += chunk.length;
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
    },
    end: () => ({ bytes, lines, sha256: hash.digest('hex') }),
  };
}

/** Counts and hashes log files with their names, one after the other. */
export type LogTally = {
  start: (name: string) => void;
  add: (bytes: Uint8Array) => void;
  count: () => number;
  end: () => Checksums['logs'];
};

export function createLogTally(): LogTally {
  const hash = createHash('sha256');
  let [files, bytes] = [0, 0];
  return {
    start: (name) => {
      hash.update(`${name}\n`);
      files += 1;
    },
    add: (chunk) => {
      hash.update(chunk);
      bytes += chunk.length;
    },
    count: () => files,
    end: () => ({ files, bytes, sha256: hash.digest('hex') }),
  };
}

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
