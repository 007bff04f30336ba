import { useQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { MoreHorizontal } from 'lucide-react';
import {
  detectionQuery,
  type Detection,
  changeDetection,
  deleteDetection,
  restoreDetection,
  runDetection,
} from '../../../api/detections.ts';
import { PageHeader } from '../../../shell/page-header.tsx';
import { texts as list } from '../../../texts/detections.ts';
import { texts } from '../../../texts/detection.ts';
import { ErrorState } from '../../../ui/states.tsx';
import { TableSkeleton } from '../../../ui/lists/table-skeleton.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { OverviewTab } from './overview-tab.tsx';
import { RunsTab } from './runs-tab.tsx';
import { texts as common } from '../../../texts/common.ts';
import { Button } from '../../../ui/button.tsx';
import { MenuButton } from '../../../ui/overlays/menu-button.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';

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

const { actions } = texts;

/** Runs, enables, disables, deletes and restores a detection. */
function DetectionActions({ detection }: { detection: Detection }) {
  const { id, enabled, deletedAt, cronSchedule } = detection;
  const client = useQueryClient();
  const navigate = useNavigate();
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: ['detections'] });
  const onError = ({ message }: Error): void =>
    void toasts.add({ title: actions.failed, description: message, isError: true });
  const enable = useMutation({
    mutationFn: (next: boolean) => changeDetection(detection, { enabled: next }),
    onSuccess: (_record, next) => {
      toasts.add({
        title: next ? actions.enabled : actions.disabled,
        action: { label: common.undo, run: () => enable.mutate(!next) },
      });
      return refresh();
    },
    onError,
  });
  const remove = useMutation({
    mutationFn: (isDeleted: boolean) => (isDeleted ? restoreDetection(id) : deleteDetection(id)),
    onSuccess: (_record, isDeleted) => {
      if (!isDeleted)
        toasts.add({ title: actions.removed, action: { label: common.undo, run: () => remove.mutate(true) } });
      return refresh();
    },
    onError,
  });
  const run = useMutation({
    mutationFn: () => runDetection(id),
    onSuccess: ({ runId }) => {
      void client.invalidateQueries({ queryKey: ['runs', 'list', id] });
      void navigate({ to: '/runs/$id', params: { id: runId } });
    },
    onError,
  });
  if (deletedAt)
    return (
      <Button kind="primary" disabled={remove.isPending} onClick={() => remove.mutate(true)}>
        {actions.restore}
      </Button>
    );
  return (
    <>
      <Button disabled={run.isPending} onClick={() => run.mutate()}>
        {actions.run}
      </Button>
      <MenuButton
        label={common.more}
        align="end"
        className="flex size-7 items-center justify-center rounded-control text-muted hover:bg-hover hover:text-ink"
        entries={[
          {
            kind: 'action',
            label: enabled ? actions.disable : actions.enable,
            isDisabled: !enabled && cronSchedule === null,
            onSelect: () => enable.mutate(!enabled),
          },
          { kind: 'separator' },
          { kind: 'action', label: actions.remove, isDanger: true, onSelect: () => remove.mutate(false) },
        ]}
      >
        <MoreHorizontal className="size-4" aria-hidden />
      </MenuButton>
    </>
  );
}
