import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { classes } from '../lib/text.ts';

export type Column<Row> = {
  id: string;
  header: React.ReactNode;
  /** A CSS grid track, such as `minmax(12rem, 2fr)` or `6rem`. */
  width: string;
  /** Figures are aligned at the right. */
  align?: 'right';
  cell: (row: Row) => React.ReactNode;
};

type Props<Row> = {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  rowId: (row: Row) => string;
  selectedId?: string | undefined;
  onOpen?: (row: Row) => void;
  onHover?: (row: Row) => void;
  /** Called when the end of the list comes into view. */
  onEnd?: () => void;
};

const rowHeight = 32;

/** A table of any length: only the rows in view exist. Columns share the width by their tracks. */
export function DataTable<Row>({ label, rows, columns, rowId, selectedId, onOpen, onHover, onEnd }: Props<Row>) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 16,
    onChange: ({ range }) => range && range.endIndex >= rows.length - 20 && onEnd?.(),
  });
  const template = { gridTemplateColumns: columns.map(({ width }) => width).join(' ') };
  const cellClass = ({ align }: Column<Row>): string =>
    classes('truncate px-2 first:pl-4 last:pr-4', align === 'right' && 'tabular text-right');
  return (
    <div
      ref={scroller}
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      className="h-full overflow-auto text-12"
      tabIndex={0}
    >
      <div role="rowgroup" className="sticky top-0 z-10 min-w-fit border-b bg-surface">
        <div role="row" aria-rowindex={1} className="grid h-8 items-center text-faint" style={template}>
          {columns.map((column) => (
            <div key={column.id} role="columnheader" className={cellClass(column)}>
              {column.header}
            </div>
          ))}
        </div>
      </div>
      <div role="rowgroup" className="relative min-w-fit" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index]!;
          const id = rowId(row);
          return (
            <div
              key={id}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={id === selectedId}
              onClick={() => onOpen?.(row)}
              onPointerEnter={() => onHover?.(row)}
              className={classes(
                'absolute inset-x-0 top-0 grid items-center border-b',
                id === selectedId ? 'bg-selected' : onOpen && 'hover:bg-hover',
              )}
              style={{ ...template, height: rowHeight, transform: `translateY(${start}px)` }}
            >
              {columns.map((column) => (
                <div key={column.id} role="cell" className={cellClass(column)}>
                  {column.cell(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}
