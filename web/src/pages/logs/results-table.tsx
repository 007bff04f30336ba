import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import type { LogRow } from '../../api/logs.ts';
import { useOpenKeys } from '../../lib/list-keys.ts';
import { classes } from '../../lib/text.ts';
import { formatLocal } from '../../lib/time.ts';
import { texts } from '../../texts/logs.ts';
import { isFromMenu } from '../../ui/overlays/menu-button.tsx';
import { Value } from '../../ui/value.tsx';

export type Props = {
  columns: readonly string[];
  cells: readonly LogRow[];
  /** The row that is open, or -1. */
  openIndex: number;
  onOpen: (index: number) => void;
  /** Narrows the query to a value of a field. Returns undefined for a field that has no condition. */
  onFilter: (field: string, value: string) => (() => void) | undefined;
};

const rowHeight = 28;
const textMax = 300;

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(value);

const isScalar = (value: unknown): boolean => value !== null && value !== undefined && typeof value !== 'object';

function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (isTime(value)) return formatLocal(value);
  return (typeof value === 'object' ? JSON.stringify(value) : String(value)).slice(0, textMax);
}

/** Rows of a query: only those in view exist. It scrolls in both directions, and a click opens a row. */
export function ResultsTable({ columns, cells, openIndex, onOpen, onFilter }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  // Only the cell under the pointer has a menu, because a menu in each would slow down scrolling. An open one stays.
  const [pointed, setPointed] = useState('');
  const point = (cell: string): void => {
    if (!scroller.current?.querySelector('[aria-expanded=true]')) setPointed(cell);
  };
  const virtual = useVirtualizer({
    count: cells.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 16,
    scrollPaddingStart: rowHeight,
  });
  useEffect(() => {
    if (openIndex >= 0) virtual.scrollToIndex(openIndex, { align: 'auto' });
  }, [openIndex, virtual]);
  useOpenKeys({
    rows: cells,
    index: openIndex,
    onOpen: (row) => onOpen(cells.indexOf(row)),
    onClose: () => onOpen(-1),
  });
  const template = {
    gridTemplateColumns: columns.map((name) => (name === '_time' ? '12rem' : 'minmax(11rem, 1fr)')).join(' '),
    minWidth: `${columns.length * 11 + 1}rem`,
  };
  return (
    <div
      ref={scroller}
      role="grid"
      aria-label={texts.results}
      aria-rowcount={cells.length + 1}
      tabIndex={0}
      className="h-full overflow-auto text-12 -outline-offset-2"
    >
      <div role="rowgroup" className="sticky top-0 z-10 min-w-fit border-b bg-surface">
        <div role="row" aria-rowindex={1} className="grid h-7 items-center text-faint" style={template}>
          {columns.map((name) => (
            <div key={name} role="columnheader" className="truncate px-2 first:pl-4">
              {name}
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize(), minWidth: template.minWidth }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = cells[index]!;
          return (
            <div
              key={index}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={index === openIndex}
              onClick={(event) => !isFromMenu(event) && onOpen(index)}
              className={classes(
                'absolute inset-x-0 top-0 grid items-center border-b',
                index === openIndex ? 'bg-selected' : 'hover:bg-hover',
              )}
              style={{ ...template, height: rowHeight, transform: `translateY(${start}px)` }}
            >
              {columns.map((name) => (
                <div
                  key={name}
                  role="gridcell"
                  onPointerEnter={() => point(`${index} ${name}`)}
                  className={classes(
                    'truncate px-2 first:pl-4',
                    name === '_time' ? 'tabular text-muted' : 'font-mono',
                    typeof row[name] === 'number' && 'tabular',
                  )}
                >
                  {pointed === `${index} ${name}` && isScalar(row[name]) ? (
                    <Value
                      isCut
                      value={String(row[name])}
                      at={isTime(row['_time']) ? row['_time'] : undefined}
                      onFilter={onFilter(name, String(row[name]))}
                    >
                      {toText(row[name])}
                    </Value>
                  ) : (
                    toText(row[name])
                  )}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}
