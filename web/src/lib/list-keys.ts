import { useState } from 'react';
import { useHotkeys } from './hotkeys.ts';

type Actions<Row> = { onOpen: (row: Row) => void; onSelect?: (row: Row) => void };

/** Moves through a list with `j` and `k`, opens with Enter and selects with `x`. Returns the ID of the row that the keyboard is on. */
export function useListKeys<Row>(
  rows: readonly Row[],
  idOf: (row: Row) => string,
  { onOpen, onSelect }: Actions<Row>,
): string | undefined {
  const [activeId, setActiveId] = useState<string>();
  const index = rows.findIndex((row) => idOf(row) === activeId);
  const move = (step: number): void => {
    const next = rows[Math.min(rows.length - 1, Math.max(0, index + step))];
    if (next) setActiveId(idOf(next));
  };
  const active = rows[index];
  useHotkeys({
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    x: () => active && onSelect?.(active),
    Enter: () => active && onOpen(active),
  });
  return activeId;
}

type OpenRow<Row> = {
  rows: readonly Row[] | undefined;
  index: number;
  onOpen: (row: Row) => void;
  onClose: () => void;
};

/** Opens the next and the previous row of a list with `j`, `k` and the arrow keys, and closes the open one with Escape. `index` is -1 if none is open. */
export function useOpenKeys<Row>({ rows = [], index, onOpen, onClose }: OpenRow<Row>): void {
  const move = (step: number): void => {
    const next = rows[Math.min(rows.length - 1, Math.max(0, index + step))];
    if (next) onOpen(next);
  };
  useHotkeys({
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Escape: onClose,
  });
}

/** Returns the open row of a list of entries, with the keys of `useOpenKeys`. */
export function useOpenEntry<Row extends { id: string }>(
  rows: readonly Row[] | undefined,
  openId: string | undefined,
  open: (id: string | undefined) => void,
): Row | undefined {
  const index = rows?.findIndex(({ id }) => id === openId) ?? -1;
  useOpenKeys({ rows, index, onOpen: ({ id }) => open(id), onClose: () => open(undefined) });
  return rows?.[index];
}
