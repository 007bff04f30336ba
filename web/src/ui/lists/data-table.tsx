import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { memo, useCallback, useEffect, useId, useMemo, useRef } from 'react';
import { classes } from '../../lib/text.ts';
import { useListPlace } from '../../lib/use-list-place.ts';
import { useWidth } from '../../lib/use-width.ts';
import { isFromMenu } from '../overlays/menu-button.tsx';
import { SelectBox } from '../forms/select-box.tsx';

export type Column<Row> = {
  id: string;
  header: string;
  /** A CSS grid track, such as `minmax(12rem, 2fr)` or `6rem`. */
  width: string;
  /** Figures are aligned at the right. */
  align?: 'right';
  /** Width of the table, in pixels, from which the column is shown. */
  from?: number;
  /** Name of the sort order of this column. */
  sort?: string;
  cell: (row: Row) => React.ReactNode;
};

export type Selection = { ids: ReadonlySet<string>; onToggle: (id: string) => void; onToggleAll: () => void };

type Props<Row> = {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  /** The filter of the rows. */
  filter?: object;
  rowId: (row: Row) => string;
  rowLabel: (row: Row) => string;
  /** Row that the keyboard is on. */
  activeId?: string | undefined;
  onOpen?: (row: Row) => void;
  onHover?: (row: Row) => void;
  /** Called when the end of the list comes into view. */
  onEnd?: () => void;
  /** The order, with a minus in front if it descends. */
  sort?: string;
  onSort?: (sort: string) => void;
  selection?: Selection;
};

const rowHeight = 32;

/** A table of any length: only the rows in view exist. Columns share the width by their tracks, and the least important go first. */
export function DataTable<Row>(props: Props<Row>) {
  const { label, rows, rowId, rowLabel, activeId, onOpen, onHover, onEnd, selection } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const place = useListPlace(scroller, label, [props.filter, props.sort]);
  const id = useId();
  const width = useWidth(scroller);
  const { columns: all } = props;
  const columns = useMemo(() => all.filter(({ from = 0 }) => width >= from), [all, width]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 16,
    scrollPaddingStart: rowHeight,
    // The header moves the rows down by its height and border.
    scrollPaddingEnd: rowHeight + 1,
  });
  const items = virtual.getVirtualItems();
  const lastIndex = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (lastIndex >= rows.length - 30) onEnd?.();
  }, [lastIndex, rows.length, onEnd]);
  const activeIndex = activeId === undefined ? -1 : rows.findIndex((row) => rowId(row) === activeId);
  useEffect(() => {
    if (activeIndex >= 0) virtual.scrollToIndex(activeIndex, { align: 'auto' });
  }, [activeIndex, virtual]);
  const tracks = [...(selection ? ['2.25rem'] : []), ...columns.map((column) => column.width)];
  const template = { gridTemplateColumns: tracks.join(' ') };
  const isAllSelected =
    selection !== undefined && rows.length > 0 && rows.every((row) => selection.ids.has(rowId(row)));
  return (
    <div
      ref={scroller}
      {...place}
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={activeIndex >= 0 ? `${id}-${activeIndex}` : undefined}
      aria-multiselectable={selection ? true : undefined}
      className="group h-full overflow-auto text-12 -outline-offset-2 [&[aria-activedescendant]]:outline-none"
      tabIndex={0}
    >
      <div role="rowgroup" className="sticky top-0 z-10 border-b bg-surface">
        <div role="row" aria-rowindex={1} className="grid h-8 items-center pr-table-end text-faint" style={template}>
          {selection && (
            <div role="columnheader" className="pl-4">
              <SelectBox label={`${label}: all`} isChecked={isAllSelected} onToggle={selection.onToggleAll} />
            </div>
          )}
          {columns.map((column) => (
            <HeaderCell key={column.id} column={column} sort={props.sort} onSort={props.onSort} />
          ))}
        </div>
      </div>
      <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, start }) => {
          const row = rows[index]!;
          const key = rowId(row);
          const isSelected = selection?.ids.has(key) ?? false;
          return (
            <div
              key={key}
              id={`${id}-${index}`}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={selection ? isSelected : key === activeId}
              onClick={(event) => !isFromMenu(event) && onOpen?.(row)}
              onPointerEnter={() => onHover?.(row)}
              className={classes(
                'absolute inset-x-0 top-0 grid items-center border-b pr-table-end',
                isSelected ? 'bg-selected' : key === activeId ? 'bg-hover' : onOpen && 'hover:bg-hover',
                key === activeId &&
                  'shadow-[inset_2px_0_0_var(--color-accent)] -outline-offset-2 group-focus-visible:outline-2 group-focus-visible:outline-accent',
              )}
              style={{ ...template, height: rowHeight, transform: `translateY(${start}px)` }}
            >
              {selection && (
                <div role="gridcell" className="pl-4">
                  <SelectBox label={rowLabel(row)} isChecked={isSelected} onToggle={() => selection.onToggle(key)} />
                </div>
              )}
              <Cells row={row} columns={columns} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** The cells of a row, drawn again only when the row or the columns change, and not while the table scrolls. */
const Cells = memo(function Cells<Row>({ row, columns }: { row: Row; columns: readonly Column<Row>[] }) {
  return columns.map((column) => (
    <div key={column.id} role="gridcell" className={cellClass(column)}>
      {column.cell(row)}
    </div>
  ));
}) as <Row>(props: { row: Row; columns: readonly Column<Row>[] }) => React.ReactNode;

const cellClass = <Row,>({ align }: Column<Row>): string =>
  classes('truncate px-2 first:pl-4 last:pr-4', align === 'right' && 'tabular text-right');

type HeaderProps<Row> = { column: Column<Row> } & Pick<Props<Row>, 'sort' | 'onSort'>;

function HeaderCell<Row>({ column, sort, onSort }: HeaderProps<Row>) {
  const order = column.sort;
  if (order === undefined || !onSort)
    return (
      <div role="columnheader" className={cellClass(column)}>
        {column.header}
      </div>
    );
  const isDescending = sort === `-${order}`;
  const isSorted = isDescending || sort === order;
  const Arrow = isDescending ? ArrowDown : ArrowUp;
  return (
    <div
      role="columnheader"
      aria-sort={isSorted ? (isDescending ? 'descending' : 'ascending') : 'none'}
      className={cellClass(column)}
    >
      <button
        type="button"
        onClick={() => onSort(isDescending ? order : `-${order}`)}
        className={classes('inline-flex items-center gap-1 hover:text-ink', isSorted && 'text-ink')}
      >
        {column.header}
        {isSorted && <Arrow className="size-3" aria-hidden />}
      </button>
    </div>
  );
}

type Pages = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };

/** Returns the `onEnd` of a table whose rows come in pages. */
export const useNextPage = ({ hasNextPage, isFetchingNextPage, fetchNextPage }: Pages): (() => void) =>
  useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
