import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import type { LogRow } from '../../api/logs.ts';
import { useOpenKeys } from '../../lib/list-keys.ts';
import { classes } from '../../lib/text.ts';
import { formatLocal } from '../../lib/time.ts';
import { texts } from '../../texts/logs.ts';

type Props = {
  columns: readonly string[];
  cells: readonly LogRow[];
  /** The row that is open, or -1. */
  openIndex: number;
  onOpen: (index: number) => void;
};

const rowHeight = 28;
const textMax = 300;

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(value);

function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (isTime(value)) return formatLocal(value);
  return (typeof value === 'object' ? JSON.stringify(value) : String(value)).slice(0, textMax);
}

/** Rows of a query: only those in view exist. It scrolls in both directions, and a click opens a row. */
export function ResultsTable({ columns, cells, openIndex, onOpen }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
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
              onClick={() => onOpen(index)}
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
                  className={classes(
                    'truncate px-2 first:pl-4',
                    name === '_time' ? 'tabular text-muted' : 'font-mono',
                    typeof row[name] === 'number' && 'tabular',
                  )}
                >
                  {toText(row[name])}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}
