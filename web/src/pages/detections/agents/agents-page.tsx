import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { agentsQuery, type Agent } from '../../../api/agents.ts';
import { useHotkeys } from '../../../lib/hotkeys.ts';
import { useListKeys } from '../../../lib/list-keys.ts';
import { classes, formatNumber } from '../../../lib/text.ts';
import { PageHeader } from '../../../shell/page-header.tsx';
import { DetectionLinks } from '../../../shell/section-links.tsx';
import { texts } from '../../../texts/agents.ts';
import { Button, buttonClass } from '../../../ui/button.tsx';
import { DataTable, type Column } from '../../../ui/lists/data-table.tsx';
import { TableSkeleton } from '../../../ui/lists/table-skeleton.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { ShippedAgents } from './shipped-agents.tsx';
import { listStarts } from './starts.ts';

const dash = <span className="text-faint">–</span>;

const columns: Column<Agent>[] = [
  {
    id: 'name',
    header: texts.columns.name,
    width: 'minmax(10rem, 3fr)',
    cell: ({ id, name, isBuiltIn }) => (
      <Link
        to="/agents/$id"
        params={{ id }}
        tabIndex={-1}
        onClick={(event) => event.stopPropagation()}
        className="text-13 text-ink"
      >
        {name}
        {isBuiltIn && <span className="ml-2 text-12 text-muted">{texts.builtIn}</span>}
      </Link>
    ),
  },
  {
    id: 'starts',
    header: texts.columns.starts,
    width: 'minmax(8rem, 2fr)',
    cell: (agent) => {
      const starts = listStarts(agent);
      return starts.length === 0 ? (
        <span className="text-muted">{agent.isBuiltIn ? texts.trigger.isOff : texts.byHand}</span>
      ) : (
        starts.map(({ id, label, enabled }, index) => (
          <span key={id} className={classes(!enabled && 'text-muted')}>
            {index > 0 && ', '}
            {enabled ? label : texts.off(label)}
          </span>
        ))
      );
    },
  },
  {
    id: 'model',
    header: texts.columns.model,
    width: 'minmax(6rem, 1fr)',
    from: 620,
    cell: ({ modelAlias }) => <span className="text-muted">{modelAlias}</span>,
  },
  {
    id: 'runs',
    header: texts.columns.runs,
    width: '7rem',
    align: 'right',
    from: 480,
    cell: ({ runs30d }) => (runs30d === 0 ? dash : formatNumber(runs30d)),
  },
  {
    id: 'score',
    header: texts.columns.score,
    width: '4.5rem',
    align: 'right',
    from: 760,
    cell: ({ avgEvalScore30d }) => avgEvalScore30d ?? dash,
  },
  {
    id: 'changed',
    header: texts.columns.changed,
    width: '6rem',
    align: 'right',
    from: 880,
    cell: ({ updatedAt }) => (updatedAt === null ? dash : <RelativeTime time={updatedAt} />),
  },
];

/** The response agents, those that come with the service included, with what starts them. */
export function AgentsPage() {
  const navigate = useNavigate();
  const { data: agents, error, refetch } = useQuery(agentsQuery);
  const open = ({ id }: Agent): void => void navigate({ to: '/agents/$id', params: { id } });
  const active = useListKeys(agents ?? [], ({ id }) => id, { onOpen: open });
  useHotkeys({ n: () => void navigate({ to: '/agents/new' }) });
  return (
    <>
      <PageHeader
        title={texts.title}
        links={<DetectionLinks />}
        actions={
          <Button kind="primary" onClick={() => void navigate({ to: '/agents/new' })}>
            {texts.create}
          </Button>
        }
      />
      <ShippedAgents />
      <div className="min-h-0 grow">
        {error && !agents ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : !agents ? (
          <TableSkeleton />
        ) : agents.length === 0 ? (
          <EmptyState
            title={texts.empty.title}
            action={
              <Link to="/agents/new" className={buttonClass('primary')}>
                {texts.create}
              </Link>
            }
          >
            {texts.empty.body}
          </EmptyState>
        ) : (
          <DataTable
            label={texts.title}
            rows={agents}
            columns={columns}
            rowId={({ id }) => id}
            rowLabel={({ name }) => name}
            activeId={active}
            onOpen={open}
          />
        )}
      </div>
    </>
  );
}
