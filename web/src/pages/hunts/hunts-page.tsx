import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { deleteHunt, huntsQuery, isUnderWay, runHunt, type Hunt } from '../../api/hunts.ts';
import { useOpenKeys } from '../../lib/list-keys.ts';
import { formatNumber } from '../../lib/text.ts';
import { PageHeader } from '../../shell/page-header.tsx';
import { HitLinks } from '../../shell/section-links.tsx';
import { texts } from '../../texts/hunts.ts';
import { Button } from '../../ui/button.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { DataTable, type Column } from '../../ui/lists/data-table.tsx';
import { ListAndPanel } from '../../ui/lists/list-panel.tsx';
import { OpenPanel } from '../../ui/lists/open-panel.tsx';
import { TableSkeleton } from '../../ui/lists/table-skeleton.tsx';
import { toasts } from '../../ui/overlays/toasts.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { HuntForm } from './hunt-form.tsx';
import { HuntView } from './hunt-view.tsx';

const ConfirmDialog = lazy(() => import('../../ui/overlays/confirm-dialog.tsx'));

const route = getRouteApi('/shell/hunts');

/** The saved questions about the past, and beside them the open one with what its runs found. */
export function HuntsPage() {
  const { hunt: openId, edit } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: hunts, error, refetch } = useQuery(huntsQuery);
  const index = hunts?.findIndex(({ id }) => id === openId) ?? -1;
  const opened = hunts?.[index];
  const open = (hunt: string | undefined, isEdited?: boolean): void =>
    void navigate({
      search: { hunt, edit: isEdited ? 'yes' : undefined },
      replace: openId !== undefined,
      resetScroll: false,
    });
  const isEdited = openId === 'new' || edit !== undefined;
  const close = (): void => open(edit === undefined ? undefined : openId);
  useOpenKeys({ rows: hunts, index, onOpen: ({ id }) => open(id), onClose: close });
  const add = (
    <Button kind="primary" onClick={() => open('new')}>
      <Plus className="size-3.5" aria-hidden />
      {texts.add}
    </Button>
  );
  return (
    <>
      <PageHeader title={texts.title} links={<HitLinks />} actions={hunts?.length === 0 ? undefined : add} />
      <ListAndPanel
        list={
          error && !hunts ? (
            <ErrorState error={error} onRetry={() => void refetch()} />
          ) : !hunts ? (
            <TableSkeleton />
          ) : hunts.length === 0 ? (
            <EmptyState title={texts.empty} action={add}>
              {texts.emptyBody}
            </EmptyState>
          ) : (
            <DataTable
              label={texts.title}
              rows={hunts}
              columns={columns}
              rowId={({ id }) => id}
              rowLabel={({ name }) => name}
              activeId={openId}
              onOpen={({ id }) => open(id)}
            />
          )
        }
        panel={
          hunts && (opened || openId === 'new') ? (
            <OpenPanel
              id={opened?.id ?? 'new'}
              actions={
                opened &&
                !isEdited && (
                  <HuntActions
                    key={opened.id}
                    hunt={opened}
                    onEdit={() => open(opened.id, true)}
                    onDelete={() => open(undefined)}
                  />
                )
              }
              onClose={close}
            >
              {isEdited ? <HuntForm hunt={opened} onSaved={open} /> : opened && <HuntView hunt={opened} />}
            </OpenPanel>
          ) : null
        }
      />
    </>
  );
}

const dash = <span className="text-faint">–</span>;

const columns: Column<Hunt>[] = [
  {
    id: 'name',
    header: texts.name,
    width: 'minmax(8rem, 1fr)',
    cell: ({ name }) => (
      <span title={name} className="text-13">
        {name}
      </span>
    ),
  },
  { id: 'kind', header: texts.kind, width: '7rem', from: 560, cell: ({ kind }) => texts.kinds[kind] },
  {
    id: 'cadence',
    header: texts.cadence,
    width: '7rem',
    from: 680,
    cell: ({ cadence }) => texts.cadences[cadence ?? 'never'],
  },
  {
    id: 'state',
    header: texts.state,
    width: '6rem',
    from: 380,
    cell: ({ lastRun }) => (lastRun === null ? dash : texts.states[lastRun.state]),
  },
  {
    id: 'findings',
    header: texts.findings,
    width: '5rem',
    align: 'right',
    cell: ({ lastRun }) => (lastRun === null ? dash : formatNumber(lastRun.findings)),
  },
  {
    id: 'new',
    header: texts.newFindings,
    width: '4rem',
    align: 'right',
    cell: ({ lastRun }) => (lastRun === null || lastRun.newFindings === 0 ? dash : formatNumber(lastRun.newFindings)),
  },
  {
    id: 'lastRun',
    header: texts.lastRun,
    width: '6rem',
    align: 'right',
    from: 680,
    cell: ({ lastRun }) => (
      <span className="text-muted">{lastRun === null ? dash : <RelativeTime time={lastRun.createdAt} />}</span>
    ),
  },
];

type Props = { hunt: Hunt; onEdit: () => void; onDelete: () => void };

function HuntActions({ hunt, onEdit, onDelete }: Props) {
  const client = useQueryClient();
  const [isSure, setIsSure] = useState(false);
  const run = useChange({ change: () => runHunt(hunt.id), refresh: [['hunts', 'list']], failed: texts.notRun });
  const isRunning = run.isPending || isUnderWay(hunt.lastRun);
  const remove = async (): Promise<void> => {
    await deleteHunt(hunt);
    toasts.add({ title: texts.removed, description: hunt.name });
    onDelete();
    await client.invalidateQueries({ queryKey: ['hunts'] });
  };
  return (
    <div className="flex flex-wrap gap-1.5">
      <Button disabled={isRunning} onClick={() => run.mutate(undefined)}>
        {isRunning ? texts.running : texts.run}
      </Button>
      <Button onClick={onEdit}>{texts.edit}</Button>
      <Button kind="quiet" onClick={() => setIsSure(true)}>
        {texts.remove}
      </Button>
      <Suspense>
        {isSure && (
          <ConfirmDialog
            title={texts.removeTitle(hunt.name)}
            action={texts.remove}
            onConfirm={remove}
            onClose={() => setIsSure(false)}
          >
            {texts.removeBody}
          </ConfirmDialog>
        )}
      </Suspense>
    </div>
  );
}
