import { classes } from '../../lib/text.ts';

export type TableColumn<Row> = { header: string; isFigure?: boolean; cell: (row: Row) => React.ReactNode };

type Props<Row> = {
  label: string;
  columns: readonly TableColumn<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
};

/** A short table. It scrolls sideways in a narrow window. */
export function Table<Row>({ label, columns, rows, rowKey }: Props<Row>) {
  return (
    <div className="overflow-x-auto rounded-control border" tabIndex={0} role="region" aria-label={label}>
      <table className="w-full border-collapse text-12">
        <thead>
          <tr className="border-b text-left text-faint">
            {columns.map(({ header, isFigure }) => (
              <th
                key={header}
                scope="col"
                className={classes('h-8 px-3 font-normal whitespace-nowrap', isFigure && 'text-right')}
              >
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} className="border-b last:border-b-0">
              {columns.map(({ header, isFigure, cell }) => (
                <td
                  key={header}
                  className={classes(
                    'h-8 px-3 py-1.5 first:min-w-40',
                    isFigure && 'tabular text-right whitespace-nowrap',
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
