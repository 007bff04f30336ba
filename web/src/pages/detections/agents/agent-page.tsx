import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { agentQuery, type Agent } from '../../../api/agents.ts';
import { PageHeader } from '../../../shell/page-header.tsx';
import { texts } from '../../../texts/agents.ts';
import { TableSkeleton } from '../../../ui/lists/table-skeleton.tsx';
import { ErrorState } from '../../../ui/states.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { AgentActions } from './agent-actions.tsx';
import { AgentOverview } from './agent-overview.tsx';
import { AgentRuns } from './agent-runs.tsx';

const AgentDefinition = lazy(() => import('./agent-definition.tsx'));
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
