import { classes } from '../../lib/text.ts';

export type TableColumn<Row> = { header: string; isFigure?: boolean; cell: (row: Row) => React.ReactNode };

type Props<Row> = {
  label: string;
  columns: readonly TableColumn<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
};

/**
 * A short table. Where it has little room, each row becomes a block: its first cell, and the others below it with their headers. The roles
 * are explicit, because the browser drops those of a table whose rows are blocks.
 */
export function Table<Row>({ label, columns, rows, rowKey }: Props<Row>) {
  return (
    <div className="@container overflow-x-auto rounded-control border" tabIndex={0} role="region" aria-label={label}>
      <table role="table" className="w-full border-collapse text-12 @max-lg:block">
        <thead role="rowgroup" className="@max-lg:sr-only">
          <tr role="row" className="border-b text-left text-faint">
            {columns.map(({ header, isFigure }) => (
              <th
                key={header}
                role="columnheader"
                scope="col"
                className={classes('h-8 px-3 font-normal whitespace-nowrap', isFigure && 'text-right')}
              >
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" className="@max-lg:block">
          {rows.map((row) => (
            <tr
              key={rowKey(row)}
              role="row"
              className="border-b last:border-b-0 @max-lg:flex @max-lg:flex-wrap @max-lg:gap-x-4 @max-lg:gap-y-0.5 @max-lg:px-3 @max-lg:py-2"
            >
              {columns.map(({ header, isFigure, cell }, index) => (
                <td
                  key={header}
                  role="cell"
                  data-header={header}
                  className={classes(
                    'h-8 px-3 py-1.5 first:min-w-40 @max-lg:h-auto @max-lg:p-0 @max-lg:first:w-full',
                    isFigure && 'tabular whitespace-nowrap @lg:text-right',
                    index > 0 &&
                      '@max-lg:before:mr-1.5 @max-lg:before:text-faint @max-lg:before:content-[attr(data-header)]',
                  )}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
