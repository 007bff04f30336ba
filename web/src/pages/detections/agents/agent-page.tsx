import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { MoreHorizontal } from 'lucide-react';
import { agentQuery, type Agent, changeAgent, deleteAgent, restoreAgent } from '../../../api/agents.ts';
import { PageHeader } from '../../../shell/page-header.tsx';
import { texts } from '../../../texts/agents.ts';
import { texts as common } from '../../../texts/common.ts';
import { texts as detection } from '../../../texts/detection.ts';
import { Button } from '../../../ui/button.tsx';
import { useChange } from '../../../ui/forms/use-change.ts';
import { TableSkeleton } from '../../../ui/lists/table-skeleton.tsx';
import { MenuButton } from '../../../ui/overlays/menu-button.tsx';
import { ErrorState } from '../../../ui/states.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { AgentOverview } from './agent-overview.tsx';
import { AgentRuns } from './agent-runs.tsx';

const AgentDefinition = lazy(() => import('./agent-definition.tsx'));
const RunDialog = lazy(() => import('../../../ui/agents/run-dialog.tsx'));
const PromptsTab = lazy(() => import('../history/prompts-tab.tsx'));
const RevisionsTab = lazy(() => import('../history/revisions-tab.tsx'));
const TriggersTab = lazy(() => import('./triggers-tab.tsx'));

const route = getRouteApi('/shell/agents/$id');
type Tab = keyof typeof texts.tabs;
const tabs = (Object.keys(texts.tabs) as Tab[]).map((key) => ({ key, label: texts.tabs[key] }));
/** The triggers and the definition of a built-in agent cannot be changed here, and have no history. */
const builtInTabs = tabs.filter(({ key }) => key === 'overview' || key === 'runs');

/** One response agent: what it is for, what starts it, its definition, and what it did. */
export function AgentPage() {
  const { id } = route.useParams();
  const { tab = 'overview' } = route.useSearch();
  const { data: agent, error, refetch } = useQuery(agentQuery(id));
  return (
    <>
      <PageHeader
        title={agent?.name ?? texts.one}
        parent={
          <Link to="/agents" className="text-muted hover:text-ink">
            {texts.title}
          </Link>
        }
        actions={agent && !agent.isBuiltIn && <AgentActions agent={agent} />}
      />
      <Tabs label={texts.one} current={tab} tabs={agent?.isBuiltIn ? builtInTabs : tabs} />
      <div className="min-h-0 grow overflow-y-auto" key={tab} data-scroll-restoration-id={tab}>
        {error && !agent ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : agent ? (
          <Suspense fallback={<TableSkeleton />}>
            <TabContent agent={agent} tab={tab} />
          </Suspense>
        ) : (
          <TableSkeleton />
        )}
      </div>
    </>
  );
}

function TabContent({ agent, tab }: { agent: Agent; tab: Tab }) {
  if (tab === 'runs') return <AgentRuns agent={agent} />;
  if (tab === 'overview' || agent.isBuiltIn) return <AgentOverview agent={agent} />;
  if (tab === 'triggers') return <TriggersTab agent={agent} />;
  if (tab === 'prompts') return <PromptsTab detection={agent} />;
  if (tab === 'revisions') return <RevisionsTab detection={agent} />;
  return <AgentDefinition agent={agent} />;
}

const { actions } = detection;
const refresh = [['agents']];

/** Runs, deletes and restores a response agent, and turns its schedule on and off. */
function AgentActions({ agent }: { agent: Agent }) {
  const { id, enabled, deletedAt, cronSchedule } = agent;
  const navigate = useNavigate();
  const [isRunning, setRunning] = useState(false);
  const enable = useChange({
    change: (next: boolean) => changeAgent(agent, { enabled: next }),
    refresh,
    done: (_record, next) => (next ? actions.enabled : actions.disabled),
    failed: actions.failed,
  });
  const restore = useChange({ change: () => restoreAgent(id), refresh, failed: actions.failed });
  const remove = useChange({
    change: () => deleteAgent(id),
    refresh,
    done: () => ({
      title: actions.removed,
      action: { label: common.undo, run: () => restore.mutate(undefined) },
    }),
    failed: actions.failed,
  });
  if (deletedAt)
    return (
      <Button kind="primary" disabled={restore.isPending} onClick={() => restore.mutate(undefined)}>
        {actions.restore}
      </Button>
    );
  return (
    <>
      <Button onClick={() => setRunning(true)}>{texts.run.action}</Button>
      <MenuButton
        label={common.more}
        align="end"
        className="flex size-7 items-center justify-center rounded-control text-muted hover:bg-hover hover:text-ink"
        entries={[
          {
            kind: 'action',
            label: enabled ? texts.disableSchedule : texts.enableSchedule,
            isDisabled: cronSchedule === null,
            onSelect: () => enable.mutate(!enabled),
          },
          { kind: 'separator' },
          { kind: 'action', label: actions.remove, isDanger: true, onSelect: () => remove.mutate(undefined) },
        ]}
      >
        <MoreHorizontal className="size-4" aria-hidden />
      </MenuButton>
      <Suspense>
        {isRunning && (
          <RunDialog
            agent={agent}
            onStarted={({ runId }) => void navigate({ to: '/runs/$id', params: { id: runId } })}
            onClose={() => setRunning(false)}
          />
        )}
      </Suspense>
    </>
  );
}
