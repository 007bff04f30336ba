import pg from 'pg';
import { insertCopiesSql, saveSeedsSql, updateCountsSql } from './copies.sql.ts';
import { measureMs } from '../benchmark.ts';

/**
 * `copies`: the copies of each pulled item of the public pool, the pulled one included. `existing`: how many of them are stored already.
 * `numbers`: the range of numbers that the entries of one copy use.
 */
export type CopyOptions = { copies: number; existing: number; numbers: number };

const connections = 2;
const itemsPerStatement = 20_000;
const fillingWal = "'2GB'";
const reportEvery = 100_000;

/**
 * Copies every pulled item of the public pool, or adds copies to those that exist. Each copy is what the program would have stored for the same
 * entry with another number (see `seed-sources.ts`) in a later pull. Only the hashes stay the original ones; nothing but another pull reads
 * them. Returns the number of items.
 */
export async function multiplyItems(
  databaseUrl: string,
  size: CopyOptions,
  report: (text: string) => void,
): Promise<number> {
  // Copies satisfy all references by construction. Checking every row would take longer than inserting it.
  const settings = ['session_replication_role=replica', 'synchronous_commit=off', 'maintenance_work_mem=512MB'];
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: connections,
    options: settings.map((setting) => `-c ${setting}`).join(' '),
  });
  const phase = async (name: string, work: () => Promise<void>): Promise<void> =>
    report(`${name}: ${Math.round((await measureMs(work)) / 1_000)} s`);
  try {
    await allowWal(pool, fillingWal);
    const indexes = await dropIndexes(pool);
    await saveSeeds(pool, size.existing);
    await forEachTable(pool, (table) => `alter table ${table} set (autovacuum_enabled = false)`);
    await phase('rows', () => addCopies(pool, size, report));
    await pool.query(updateCountsSql(size));
    await phase('indexes', () => inParallel(pool, indexes));
    await phase('keys', () => rebuildKeys(pool));
    await phase('vacuum', () => forEachTable(pool, (table) => `vacuum (analyze) ${table}`));
    await forEachTable(pool, (table) => `alter table ${table} reset (autovacuum_enabled)`);
    await phase('checkpoint', () => inParallel(pool, ['drop schema bench cascade', 'checkpoint']));
    await allowWal(pool, 'default');
    return Number((await pool.query('select count(*) as n from items')).rows[0].n);
  } finally {
    await pool.end();
  }
}

const tables = ['items', 'item_versions', 'item_terms', 'item_search', 'item_search_sample'];

const forEachTable = (pool: pg.Pool, statement: (table: string) => string): Promise<void> =>
  inParallel(pool, tables.map(statement));

async function inParallel(pool: pg.Pool, statements: string[]): Promise<void> {
  await Promise.all(statements.map((statement) => pool.query(statement)));
}

/** Drops all non-unique indexes. Returns the statements to create them again, slowest first. */
async function dropIndexes(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string; definition: string }>(`
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = any('{${tables}}'::regclass[]) and not i.indisunique order by c.relam desc, i.indrelid desc`);
  for (const { name } of rows) await pool.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}

/** Rebuilds the unique indexes, whose pages are half empty because two connections filled them. A pull writes in the order of the keys. */
async function rebuildKeys(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(`
    select indexrelid::regclass::text as name from pg_index where indrelid = any('{${tables}}'::regclass[]) and indisunique`);
  await inParallel(
    pool,
    rows.map(({ name }) => `reindex index ${name}`),
  );
}

/** Fewer checkpoints write fewer whole pages. */
async function allowWal(pool: pg.Pool, size: string): Promise<void> {
  await pool.query(`alter system set max_wal_size = ${size}`);
  await pool.query('select pg_reload_conf()');
}

async function saveSeeds(pool: pg.Pool, existing: number): Promise<void> {
  await pool.query(saveSeedsSql(existing));
  await inParallel(
    pool,
    ['items', 'versions', 'terms', 'words', 'seeds'].map((name) => `analyze bench.${name}`),
  );
}

async function addCopies(
  pool: pg.Pool,
  { copies, existing, numbers }: CopyOptions,
  report: (text: string) => void,
): Promise<void> {
  const seeds = Number((await pool.query('select count(*) as n from bench.seeds')).rows[0].n);
  const step = Math.max(1, Math.floor(itemsPerStatement / seeds));
  const starts = Array.from({ length: Math.ceil((copies - existing) / step) }, (_, index) => existing + index * step);
  const startMs = performance.now();
  let done = 0;
  await Promise.all(
    starts.map(async (from) => {
      const to = Math.min(from + step, copies) - 1;
      await pool.query(insertCopiesSql(from, to, numbers));
      done += (to - from + 1) * seeds;
      if (done % reportEvery < itemsPerStatement)
        report(`  ${done.toLocaleString('en')} items after ${Math.round((performance.now() - startMs) / 1_000)} s`);
    }),
  );
}
