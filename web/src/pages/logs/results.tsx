import type { UseQueryResult } from '@tanstack/react-query';
import { CircleAlert, X } from 'lucide-react';
import { useMemo, useState } from 'react';
import { ApiProblem } from '../../api/problem.ts';
import type { LogRow, SearchResult } from '../../api/logs.ts';
import { formatNumber } from '../../lib/text.ts';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/logs.ts';
import { IconButton, Button } from '../../ui/button.tsx';
import { ListAndPanel } from '../../ui/lists/list-panel.tsx';
import { EmptyState, Skeleton } from '../../ui/states.tsx';
import { Value } from '../../ui/value.tsx';
import { ResultsTable, type Props as ResultsTableProps } from './results-table.tsx';

type Props = {
  search: UseQueryResult<SearchResult>;
  /** Looks in the longest range. */
  onWiden: () => void;
  onFilter: ResultsTableProps['onFilter'];
};

/** The rows of a query, or why it did not run. */
export function Results({ search, onWiden, onFilter }: Props) {
  const { data, error } = search;
  const [openRow, setOpenRow] = useState<LogRow | null>(null);
  // Events come oldest first, and the newest matter most. Groups keep the order of the query.
  const found = useMemo(() => {
    if (!data) return null;
    const rows = !data.aggregate && data.columns.includes('_time') ? data.rows.toReversed() : data.rows;
    return { rows, ...flattenRows(rows, data.columns) };
  }, [data]);
  if (error) return <Failure error={error} />;
  if (!data || !found) return <Skeleton className="m-4 h-48" />;
  const { rows, columns, cells } = found;
  if (rows.length === 0)
    return (
      <EmptyState title={texts.noRows} action={<Button onClick={onWiden}>{common.nextStep.wider}</Button>}>
        {texts.noRowsBody}
      </EmptyState>
    );
  const isOpen = openRow !== null && rows.includes(openRow);
  return (
    <>
      <ListAndPanel
        list={
          <ResultsTable
            columns={columns}
            cells={cells}
            openIndex={isOpen ? rows.indexOf(openRow) : -1}
            onOpen={(index) => setOpenRow(rows[index] ?? null)}
            onFilter={onFilter}
          />
        }
        panel={isOpen ? <RowPanel row={openRow} onFilter={onFilter} onClose={() => setOpenRow(null)} /> : null}
      />
      <p role="status" className="tabular flex shrink-0 flex-wrap gap-x-3 border-t px-4 py-1.5 text-12 text-muted">
        <span>{texts.rows(formatNumber(rows.length), formatNumber(data.total))}</span>
        <span>{texts.took(formatNumber(data.ms))}</span>
        {data.truncated && <span>{texts.truncated}</span>}
        {data.warnings.map(({ code, detail }) => (
          <span key={code + detail} className="text-medium">
            {detail}
          </span>
        ))}
      </p>
    </>
  );
}

function Failure({ error }: { error: Error }) {
  const problems = error instanceof ApiProblem ? error.errors : [];
  return (
    <div role="alert" className="flex gap-2.5 px-4 py-4">
      <CircleAlert className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden />
      <div className="max-w-[72ch] min-w-0 break-words">
        <p className="font-strong">{texts.failed}</p>
        {problems.length === 0 && <p className="text-muted">{error.message}</p>}
        {problems.map(({ detail }) => (
          <p key={detail} className="font-mono text-12 whitespace-pre-wrap text-muted">
            {detail}
          </p>
        ))}
        {error instanceof ApiProblem && error.requestId && (
          <p className="pt-1 font-mono text-12 text-faint select-all">{error.requestId}</p>
        )}
      </div>
    </div>
  );
}

type RowProps = { row: LogRow; onFilter: Props['onFilter']; onClose: () => void };

function RowPanel({ row, onFilter, onClose }: RowProps) {
  const at = typeof row['_time'] === 'string' ? row['_time'] : undefined;
  return (
    <>
      <div className="flex min-h-11 shrink-0 items-center justify-between border-b py-1.5 pr-3 pl-5">
        <h2 className="font-strong">{texts.row}</h2>
        <IconButton label={common.close} onClick={onClose}>
          <X className="size-4" aria-hidden />
        </IconButton>
      </div>
      <div className="min-h-0 grow overflow-y-auto px-4 py-3 text-12" tabIndex={0} role="region" aria-label={texts.row}>
        <dl>
          {Object.entries(row)
            .filter(([, value]) => value !== null)
            .map(([name, value]) => (
              <div key={name} className="grid gap-x-4 py-1 md:grid-cols-[9rem_1fr]">
                <dt className="min-w-0 break-words text-muted">{name}</dt>
                <dd className="min-w-0 font-mono break-words whitespace-pre-wrap">
                  {typeof value === 'object' ? (
                    JSON.stringify(value, null, 2)
                  ) : (
                    <Value value={String(value)} at={at} onFilter={onFilter(name, String(value))} />
                  )}
                </dd>
              </div>
            ))}
        </dl>
      </div>
    </>
  );
}

/** The most columns of the table. The open row shows the others. */
const columnsMax = 80;
/** Columns that say little in a table. The open row shows them. */
const quiet = new Set(['_id', '_ingested', '_event']);

const isObject = (value: unknown): value is LogRow =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function flatten(row: LogRow, prefix = ''): [string, unknown][] {
  return Object.entries(row).flatMap(([name, value]): [string, unknown][] =>
    isObject(value) ? flatten(value, `${prefix}${name}.`) : [[prefix + name, value]],
  );
}

/**
 * Turns rows into cells with dotted names, as a query writes them. Columns that are empty or repeat the time in every row are left out, unless
 * nothing else remains.
 */
function flattenRows(rows: readonly LogRow[], columns: readonly string[]): { columns: string[]; cells: LogRow[] } {
  const shown = columns.filter((name) => !quiet.has(name));
  const used = shown.length > 0 ? shown : columns;
  const cells = rows.map((row) =>
    Object.fromEntries(flatten(Object.fromEntries(used.map((name) => [name, row[name]])))),
  );
  const names = [...new Set(cells.flatMap((row) => Object.keys(row)))];
  const isTelling = (name: string): boolean =>
    name === '_time' ||
    cells.some((row) => row[name] !== undefined && row[name] !== null && row[name] !== row['_time']);
  const telling = names.filter(isTelling);
  const ordered = [...telling.filter((name) => name === '_time'), ...telling.filter((name) => name !== '_time')];
  return { columns: (ordered.length > 0 ? ordered : names).slice(0, columnsMax), cells };
}
