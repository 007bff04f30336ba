import { sql } from 'kysely';
import { row, rows, type Tx } from '../../platform/db/db.ts';
import { isVisible } from '../items/items.store.ts';

/** An item that something is said of. */
export type Target = {
  id: string;
  organization_id: string;
  source_id: string | null;
  pool_id: string;
  pool_kind: string;
  status: 'active' | 'corrected' | 'retracted';
  version: number;
  title: string;
  severity: string;
  publisher: string;
  source_name: string;
  platforms: string[];
  duplicate_of: string | null;
  doc: string;
  own_doc: string | null;
  held_back: string | null;
};

const columns = sql`i.id, i.organization_id, i.source_id, i.pool_id, p.kind as pool_kind, i.status, i.version, i.title, i.severity, i.publisher,
  i.source_name, i.platforms, i.duplicate_of, i.doc, i.own_doc, i.held_back`;

/** An item that the transaction's organization sees. */
export function findTarget(tx: Tx, id: string): Promise<Target | undefined> {
  return row(
    tx,
    sql<Target>`
      select ${columns} from items i join feed_pools p on p.id = i.pool_id
      where i.id = ${id} and i.pool_id in (select id from feed_pools where ${isVisible})`,
  );
}

/** Holds the item's source before the pools, as a pull does, until the transaction ends. */
export async function holdSource(tx: Tx, id: string): Promise<void> {
  await sql`select from feed_sources where id = ${id} for update`.execute(tx);
}

/** The item as it is now that its pool is locked. */
export async function lockTarget(tx: Tx, id: string): Promise<Target> {
  return (await row(
    tx,
    sql<Target>`select ${columns} from items i join feed_pools p on p.id = i.pool_id where i.id = ${id}`,
  ))!;
}

const groupMax = 5_000;

/** The items that belong together with this one in its pool and the wider ones, itself left out. */
export async function listCompanions(tx: Tx, item: Target, poolIds: string[]): Promise<string[]> {
  const root = item.duplicate_of ?? item.id;
  const found = await rows(
    tx,
    sql<{ id: string }>`
      select id from items where (id = ${root} or duplicate_of = ${root}) and id <> ${item.id} and pool_id = any(${poolIds}::uuid[])
      limit ${groupMax}`,
  );
  return found.map(({ id }) => id);
}

export async function writeDecisions(
  tx: Tx,
  given: { poolId: string; pairs: [string, string][]; verdict: 'together' | 'apart'; at: Date; by: string | null },
): Promise<void> {
  const [a, b] = [given.pairs.map(([one]) => one), given.pairs.map(([, two]) => two)];
  await sql`
    insert into item_decisions (pool_id, a, b, verdict, decided_at, decided_by)
    select ${given.poolId}, least(n.a, n.b), greatest(n.a, n.b), ${given.verdict}, ${given.at}, ${given.by}
    from unnest(${a}::uuid[], ${b}::uuid[]) as n (a, b)
    on conflict (pool_id, a, b) do update set verdict = excluded.verdict, decided_at = excluded.decided_at, decided_by = excluded.decided_by`.execute(
    tx,
  );
}

/** Forgets that items of two groups were told apart: the later word holds. */
export async function forgetApart(tx: Tx, poolId: string, one: string[], two: string[]): Promise<void> {
  await sql`
    delete from item_decisions where pool_id = ${poolId} and verdict = 'apart'
      and ((a = any(${one}::uuid[]) and b = any(${two}::uuid[])) or (a = any(${two}::uuid[]) and b = any(${one}::uuid[])))`.execute(
    tx,
  );
}

/** Makes a root point at another before its group is put in order, so that the other stays the root. `seq`: where the item's pool then stands. */
export async function pointAt(tx: Tx, id: string, root: string, seq: number): Promise<void> {
  await sql`update items set duplicate_of = ${root}, seq = ${seq} where id = ${id}`.execute(tx);
}
