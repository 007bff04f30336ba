import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { visiblePoolIds } from '../items/snapshot/query.sql.ts';

/** An item that a person decides about. */
export type CuratedItem = {
  id: string;
  organization_id: OrgId;
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

/** The pool that a decision advances, with the decision's time and the pool's next sequence number. */
export type DecisionContext = { caller: Caller; poolId: string; at: Date; seq: number };

const columns = sql`i.id, i.organization_id, i.source_id, i.pool_id, p.kind as pool_kind, i.status, i.version, i.title, i.severity, i.publisher,
  i.source_name, i.platforms, i.duplicate_of, i.doc, i.own_doc, i.held_back`;

/** Returns the item if the transaction's organization sees it. */
export function findVisibleItem(tx: Tx, id: string): Promise<CuratedItem | undefined> {
  return queryRow<CuratedItem>(tx)`
      select ${columns} from items i join feed_pools p on p.id = i.pool_id
      where i.id = ${id} and i.pool_id in ${visiblePoolIds}`;
}

/** Returns the current item. Call it once the item's pool is locked. */
export async function readCuratedItem(tx: Tx, id: string): Promise<CuratedItem> {
  return (await queryRow<CuratedItem>(tx)`
    select ${columns} from items i join feed_pools p on p.id = i.pool_id where i.id = ${id}`)!;
}

const groupMembersMax = 5_000;

/** Returns the other items of the item's group that are in these pools. */
export async function listGroupMembers(tx: Tx, item: CuratedItem, poolIds: string[]): Promise<string[]> {
  const root = item.duplicate_of ?? item.id;
  const found = await queryRows<{ id: string }>(tx)`
      select id from items where (id = ${root} or duplicate_of = ${root}) and id <> ${item.id} and pool_id = any(${poolIds}::uuid[])
      limit ${groupMembersMax}`;
  return found.map(({ id }) => id);
}

export async function upsertDecisions(
  tx: Tx,
  decisions: { poolId: string; pairs: [string, string][]; verdict: 'together' | 'apart'; at: Date; by: string | null },
): Promise<void> {
  const { poolId, pairs, verdict, at, by } = decisions;
  const [a, b] = [pairs.map(([one]) => one), pairs.map(([, two]) => two)];
  await sql`
    insert into item_decisions (pool_id, a, b, verdict, decided_at, decided_by)
    select ${poolId}, least(n.a, n.b), greatest(n.a, n.b), ${verdict}, ${at}, ${by}
    from unnest(${a}::uuid[], ${b}::uuid[]) as n (a, b)
    on conflict (pool_id, a, b) do update set verdict = excluded.verdict, decided_at = excluded.decided_at, decided_by = excluded.decided_by`.execute(
    tx,
  );
}

/** Deletes the decisions that separate items of two groups. A later decision replaces them. */
export async function deleteApartDecisions(tx: Tx, poolId: string, groupA: string[], groupB: string[]): Promise<void> {
  await sql`
    delete from item_decisions where pool_id = ${poolId} and verdict = 'apart'
      and ((a = any(${groupA}::uuid[]) and b = any(${groupB}::uuid[])) or (a = any(${groupB}::uuid[])
      and b = any(${groupA}::uuid[])))`.execute(tx);
}
