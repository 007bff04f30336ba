import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { runQuery, runsQuery, type Run } from '../../../api/runs.ts';
import { useListKeys } from '../../../lib/list-keys.ts';
import { formatMoney, formatNumber } from '../../../lib/text.ts';
import { formatDuration } from '../../../lib/time.ts';
import { texts } from '../../../texts/runs.ts';
import { DataTable, type Column, useNextPage } from '../../../ui/lists/data-table.tsx';
import { RunStatusLabel } from '../../../ui/labels/run-status.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { TableSkeleton } from '../../../ui/lists/table-skeleton.tsx';
import { ExactTime, RelativeTime } from '../../../ui/time.tsx';
import { buttonClass } from '../../../ui/button.tsx';
import { texts as detection } from '../../../texts/detection.ts';

const dash = <span className="text-faint">–</span>;

const columns: Column<Run>[] = [
  {
    id: 'status',
    header: texts.columns.status,
    width: '7rem',
    cell: (run) => <RunStatusLabel run={run} />,
  },
  {
    id: 'started',
    header: texts.columns.started,
    width: 'minmax(6rem, 1fr)',
    cell: ({ startedAt }) => (startedAt ? <RelativeTime time={startedAt} /> : dash),
  },
  {
    id: 'window',
    header: texts.columns.window,
    width: 'minmax(9rem, 2fr)',
    from: 620,
    cell: ({ windowFrom }) => (windowFrom ? <ExactTime time={windowFrom} /> : dash),
  },
  {
    id: 'trigger',
    header: texts.columns.trigger,
    width: '6rem',
    from: 760,
    cell: ({ trigger }) => texts.trigger[trigger],
  },
  {
    id: 'rows',
    header: texts.columns.rows,
    width: '5rem',
    align: 'right',
    from: 520,
    cell: ({ rowsTotal }) => formatNumber(rowsTotal),
  },
  {
    id: 'hits',
    header: texts.columns.hits,
    width: '4rem',
    align: 'right',
    cell: ({ hitCount }) => (hitCount === 0 ? dash : formatNumber(hitCount)),
  },
  {
    id: 'score',
    header: texts.columns.score,
    width: '4.5rem',
    align: 'right',
    from: 820,
    cell: ({ score }) => score ?? dash,
  },
  {
    id: 'lag',
    header: texts.columns.lag,
    width: '5rem',
    align: 'right',
    from: 900,
    cell: ({ lagMs }) => (lagMs === null ? dash : formatDuration(lagMs)),
  },
  {
    id: 'cost',
    header: texts.columns.cost,
    width: '5.5rem',
    align: 'right',
    from: 900,
    cell: ({ costUsd }) => (costUsd === 0 ? dash : formatMoney(costUsd)),
  },
];

/** The runs of a detection, newest first. */
export function RunsTab({ id }: { id: string }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const { data, error, refetch, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    runsQuery(id),
  );
  const rows = useMemo(() => data?.pages.flatMap((page) => page.runs) ?? [], [data]);
  const open = (run: Run): void => void navigate({ to: '/runs/$id', params: { id: run.id } });
  const activeId = useListKeys(rows, (run) => run.id, { onOpen: open });
  const onEnd = useNextPage({ hasNextPage, isFetchingNextPage, fetchNextPage });
  if (error && rows.length === 0) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (isPending) return <TableSkeleton />;
  if (rows.length === 0)
    return (
      <EmptyState
        title={texts.empty}
        action={
          <Link to="/detections/$id" params={{ id }} search={{ tab: 'backtest' }} className={buttonClass('primary')}>
            {detection.tabs.backtest}
          </Link>
        }
      >
        {texts.emptyHint}
      </EmptyState>
    );
  return (
    <DataTable
      label={texts.title}
      rows={rows}
      columns={columns}
      rowId={(run) => run.id}
      rowLabel={(run) => run.id}
      activeId={activeId}
      onOpen={open}
      onHover={(run) => void client.prefetchQuery({ ...runQuery(run.id), staleTime: 30_000 })}
      onEnd={onEnd}
    />
  );
}
