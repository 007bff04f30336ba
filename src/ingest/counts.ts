import { sql } from 'kysely';
import { rows, type Tx } from '../db/db.ts';
import { changeCounts, type CountKey } from './write-items.ts';

/** An item that counts under another key now; `before` is undefined where it is new. */
export type CountMove = { itemId: string; before?: CountKey; after: CountKey };

/**
 * Moves the totals with the items, in their transaction. What an organization says of an item that others see too counts in its private
 * pool, as the difference to what everyone counts. The items' pools must be locked.
 */
export async function moveCounts(tx: Tx, moves: CountMove[]): Promise<void> {
  await changeCounts(
    tx,
    moves.flatMap(({ before, after }) => [
      ...(before ? [{ key: before, by: -1 as const }] : []),
      { key: after, by: 1 as const },
    ]),
  );
  const held = moves.filter(({ before }) => before !== undefined);
  const overridden =
    held.length === 0
      ? []
      : await listStatusOverrides(
          tx,
          held.map(({ itemId }) => itemId),
        );
  const byId = new Map(held.map((move) => [move.itemId, move]));
  await changeCounts(
    tx,
    overridden.flatMap(({ item_id, pool_id, status }) => {
      const { before, after } = byId.get(item_id)!;
      return [
        ...differenceOf(before!, { poolId: pool_id, status }, -1),
        ...differenceOf(after, { poolId: pool_id, status }, 1),
      ];
    }),
  );
}

/** What counts otherwise for an organization for which the item has this status. */
export const differenceOf = (
  key: CountKey,
  own: { poolId: string; status: string },
  by: 1 | -1,
): { key: CountKey; by: 1 | -1 }[] => [
  { key: { ...key, poolId: own.poolId }, by: by === 1 ? -1 : 1 },
  { key: { ...key, ...own }, by },
];

/** Of the organizations that say something of these items, each with its private pool, held until the transaction ends. */
function listStatusOverrides(tx: Tx, ids: string[]): Promise<{ item_id: string; pool_id: string; status: string }[]> {
  return rows(
    tx,
    sql<{ item_id: string; pool_id: string; status: string }>`
      select o.item_id, p.id as pool_id, o.status from feed_overrides o
      join feed_pools p on p.organization_id = o.organization_id and p.kind = 'private'
      where o.item_id = any(${ids}::uuid[]) and o.status is not null order by p.id for update of p`,
  );
}
