import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { detectionQuery, type Detection } from '../../../api/detections.ts';
import { PageHeader } from '../../../shell/page-header.tsx';
import { texts as list } from '../../../texts/detections.ts';
import { texts } from '../../../texts/detection.ts';
import { ErrorState } from '../../../ui/states.tsx';
import { TableSkeleton } from '../../../ui/lists/table-skeleton.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { DetectionActions } from './detection-actions.tsx';
import { OverviewTab } from './overview-tab.tsx';
import { RunsTab } from './runs-tab.tsx';

const DefinitionTab = lazy(() => import('../editor/definition-tab.tsx'));
const PromptsTab = lazy(() => import('../history/prompts-tab.tsx'));
const RevisionsTab = lazy(() => import('../history/revisions-tab.tsx'));
const TestsTab = lazy(() => import('./tests-tab.tsx'));
const BacktestTab = lazy(() => import('./backtest-tab.tsx'));
const ExceptionsTab = lazy(() => import('./exceptions-tab.tsx'));

const route = getRouteApi('/shell/detections/$id');
const tabs = (Object.keys(texts.tabs) as (keyof typeof texts.tabs)[]).map((key) => ({ key, label: texts.tabs[key] }));

/** One detection: what it found and saw, its definition, and the proof that it works. */
export function DetectionPage() {
  const { id } = route.useParams();
  const { tab = 'overview', days = '30' } = route.useSearch();
  const { data: detection, error, refetch } = useQuery(detectionQuery(id));
  return (
    <>
      <PageHeader
        title={detection?.name ?? list.one}
        parent={
          <Link to="/detections" className="text-muted hover:text-ink">
            {list.title}
          </Link>
        }
        actions={detection && <DetectionActions detection={detection} />}
      />
      <Tabs label={list.one} current={tab} tabs={tabs} />
      <div className="min-h-0 grow overflow-y-auto" key={tab} data-scroll-restoration-id={tab}>
        {error && !detection ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : detection ? (
          <Suspense fallback={<TableSkeleton />}>
            <Tab detection={detection} tab={tab} days={days} />
          </Suspense>
        ) : (
          <TableSkeleton />
        )}
      </div>
    </>
  );
}

function Tab({ detection, tab, days }: { detection: Detection; tab: keyof typeof texts.tabs; days: string }) {
  if (tab === 'definition') return <DefinitionTab detection={detection} />;
  if (tab === 'prompts') return <PromptsTab detection={detection} />;
  if (tab === 'revisions') return <RevisionsTab detection={detection} />;
  if (tab === 'tests') return <TestsTab id={detection.id} />;
  if (tab === 'backtest') return <BacktestTab detection={detection} />;
  if (tab === 'exceptions') return <ExceptionsTab detection={detection} />;
  if (tab === 'runs') return <RunsTab id={detection.id} />;
  return <OverviewTab detection={detection} days={days} />;
}
