import type { Tx } from '../../../platform/db/db.ts';
import { changeCounts, type CountKey } from './write-items.ts';

/** An item that counts under another key now; `before` is undefined where it is new. */
export type CountMove = { before?: CountKey; after: CountKey };

/** Moves the totals with the items, in their transaction. The items' pools must be locked. */
export const moveCounts = (tx: Tx, moves: CountMove[]): Promise<void> =>
  changeCounts(
    tx,
    moves.flatMap(({ before, after }) => [
      ...(before ? [{ key: before, by: -1 as const }] : []),
      { key: after, by: 1 as const },
    ]),
  );
