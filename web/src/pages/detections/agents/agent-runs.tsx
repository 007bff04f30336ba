import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { agentRunsQuery, type Agent, type AgentRun } from '../../../api/agents.ts';
import type { Run, Verdict } from '../../../api/runs.ts';
import { useListKeys } from '../../../lib/list-keys.ts';
import { fieldToWords, formatMoney, formatNumber } from '../../../lib/text.ts';
import { texts } from '../../../texts/agents.ts';
import { texts as runs } from '../../../texts/runs.ts';
import { RunStatusLabel } from '../../../ui/labels/run-status.tsx';
import { DataTable, type Column, useNextPage } from '../../../ui/lists/data-table.tsx';
import { TableSkeleton } from '../../../ui/lists/table-skeleton.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { texts as common } from '../../../texts/common.ts';
import { buttonClass } from '../../../ui/button.tsx';

const dash = <span className="text-faint">–</span>;

/** What the API says of a run of an agent that is not built in. */
type Outcome = { event?: Run['event']; question?: string | null; verdict?: Verdict | null };
const outcomeOf = ({ outcome }: AgentRun): Outcome => outcome;

/** Returns the figures of a run of a built-in agent in words: "Suggested 5, Considered 13". */
const countsOf = ({ outcome }: AgentRun): string =>
  Object.entries(outcome)
    .filter(([, value]) => typeof value === 'number')
    .map(([name, value]) => `${fieldToWords(name)} ${formatNumber(value as number)}`)
    .join(', ');

const columns: Column<AgentRun>[] = [
  {
    id: 'status',
    header: texts.runColumns.status,
    width: '7rem',
    cell: ({ status }) => <RunStatusLabel run={{ status, phase: null }} />,
  },
  {
    id: 'started',
    header: texts.runColumns.started,
    width: '7rem',
    cell: ({ startedAt }) => (startedAt ? <RelativeTime time={startedAt} /> : dash),
  },
  {
    id: 'source',
    header: texts.runColumns.source,
    width: '6.5rem',
    from: 560,
    cell: (run) => {
      // Only the schedule starts a built-in agent, which has no event.
      return texts.sources[outcomeOf(run).event?.source ?? 'cron'];
    },
  },
  {
    id: 'verdict',
    header: texts.runColumns.verdict,
    width: '6rem',
    cell: (run) => {
      const { verdict } = outcomeOf(run);
      return verdict ? texts.verdicts[verdict.verdict] : dash;
    },
  },
  {
    id: 'found',
    header: texts.runColumns.said,
    width: 'minmax(8rem, 3fr)',
    from: 480,
    cell: (run) => {
      const { verdict, question } = outcomeOf(run);
      return run.failure?.message ?? verdict?.headline ?? question ?? (countsOf(run) || dash);
    },
  },
  {
    id: 'cost',
    header: texts.runColumns.cost,
    width: '5.5rem',
    align: 'right',
    from: 820,
    cell: ({ costUsd }) => (costUsd === 0 ? dash : formatMoney(costUsd)),
  },
];

/** The runs of an agent, newest first. Those of a built-in one have no page. */
export function AgentRuns({ agent: { id, isBuiltIn } }: { agent: Agent }) {
  const navigate = useNavigate();
  const { data, error, refetch, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    agentRunsQuery(id),
  );
  const rows = useMemo(() => data?.pages.flatMap((page) => page.runs) ?? [], [data]);
  const open = (run: AgentRun): void => {
    if (!isBuiltIn) void navigate({ to: '/runs/$id', params: { id: run.id } });
  };
  const activeId = useListKeys(rows, (run) => run.id, { onOpen: open });
  const onEnd = useNextPage({ hasNextPage, isFetchingNextPage, fetchNextPage });
  if (error && rows.length === 0) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (isPending) return <TableSkeleton />;
  if (rows.length === 0)
    return (
      <EmptyState
        title={texts.noRuns}
        action={
          <Link to="/hits" className={buttonClass('primary')}>
            {common.nextStep.hits}
          </Link>
        }
      >
        {texts.noRunsHint}
      </EmptyState>
    );
  return (
    <DataTable
      label={runs.title}
      rows={rows}
      columns={columns}
      rowId={(run) => run.id}
      rowLabel={(run) => run.id}
      activeId={activeId}
      {...(!isBuiltIn && { onOpen: open })}
      onEnd={onEnd}
    />
  );
}
