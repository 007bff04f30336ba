import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { agentQuery } from '../../api/agents.ts';
import { cancelRun, isResponse, runQuery, type Run } from '../../api/runs.ts';
import { shortenMiddle } from '../../lib/text.ts';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts as agents } from '../../texts/agents.ts';
import { texts as list } from '../../texts/detections.ts';
import { texts } from '../../texts/runs.ts';
import { Button } from '../../ui/button.tsx';
import { RunStatusLabel } from '../../ui/labels/run-status.tsx';
import { ErrorState } from '../../ui/states.tsx';
import { TableSkeleton } from '../../ui/lists/table-skeleton.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { toasts } from '../../ui/overlays/toasts.tsx';
import { InvestigationsTab } from './investigations-tab.tsx';
import { ReplayTab } from './replay-tab.tsx';
import { RunSummary } from './run-summary.tsx';
import { VerdictsTab } from './verdicts-tab.tsx';

const route = getRouteApi('/shell/runs/$id');
const tabs = (Object.keys(texts.tabs) as (keyof typeof texts.tabs)[]).map((key) => ({ key, label: texts.tabs[key] }));
/** A response has no candidates that could be judged again. */
const responseTabs = tabs.filter(({ key }) => key !== 'replay');

/** One run of a detection or a response agent: when and how long, what it examined, what it decided and how. */
export function RunPage() {
  const { id } = route.useParams();
  const { tab = 'verdicts', entity } = route.useSearch();
  const { data: run, error, refetch } = useQuery(runQuery(id));
  return (
    <>
      <PageHeader
        title={`${texts.one} ${shortenMiddle(id)}`}
        parent={run && <AgentLink run={run} />}
        actions={run && <CancelButton run={run} />}
      >
        {run && <RunStatusLabel run={run} />}
      </PageHeader>
      <div className="min-h-0 grow overflow-y-auto">
        {error && !run ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : run ? (
          <>
            <RunSummary run={run} />
            <Tabs label={texts.one} current={tab} tabs={isResponse(run) ? responseTabs : tabs} />
            {/* As high as its content: an empty state stands below the tabs, not in the middle of a whole page. */}
            <div>
              {tab === 'steps' ? (
                <InvestigationsTab run={run} entity={entity} />
              ) : tab === 'replay' && !isResponse(run) ? (
                <ReplayTab run={run} />
              ) : (
                <VerdictsTab run={run} />
              )}
            </div>
          </>
        ) : (
          <TableSkeleton />
        )}
      </div>
    </>
  );
}

/** Leads to the runs of what ran: a detection or a response agent. */
function AgentLink({ run }: { run: Run }) {
  const { data: agent } = useQuery(agentQuery(run.detectionId));
  const link = isResponse(run) ? ({ to: '/agents/$id' } as const) : ({ to: '/detections/$id' } as const);
  return (
    <Link
      {...link}
      params={{ id: run.detectionId }}
      search={{ tab: 'runs' }}
      className="max-w-72 truncate text-muted hover:text-ink"
    >
      {agent?.name ?? (isResponse(run) ? agents.one : list.one)}
    </Link>
  );
}

function CancelButton({ run }: { run: Run }) {
  const client = useQueryClient();
  const { mutate, isPending, isSuccess } = useMutation({
    mutationFn: () => cancelRun(run.id),
    onSuccess: ({ status }) => {
      toasts.add({ title: status === 'cancelled' ? texts.cancelled : texts.stopping });
      return client.invalidateQueries({ queryKey: ['runs'] });
    },
    onError: ({ message }) => toasts.add({ title: texts.failed, description: message, isError: true }),
  });
  if (run.status !== 'queued' && run.status !== 'running') return null;
  return (
    <Button disabled={isPending || isSuccess} onClick={() => mutate()}>
      {texts.cancel}
    </Button>
  );
}
