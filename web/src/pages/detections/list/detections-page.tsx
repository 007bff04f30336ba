import { useInfiniteQuery, useQuery, useQueryClient, useMutation } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { categoriesQuery } from '../../../api/detection-parts.ts';
import {
  detectionQuery,
  summariesQuery,
  type DetectionFilter,
  type DetectionSort,
  type DetectionSummary,
  changeDetections,
} from '../../../api/detections.ts';
import { useHotkeys } from '../../../lib/hotkeys.ts';
import { useListKeys } from '../../../lib/list-keys.ts';
import { formatNumber } from '../../../lib/text.ts';
import { PageHeader } from '../../../shell/page-header.tsx';
import { DetectionLinks } from '../../../shell/section-links.tsx';
import { texts } from '../../../texts/detections.ts';
import { Button, buttonClass } from '../../../ui/button.tsx';
import { DataTable, useNextPage } from '../../../ui/lists/data-table.tsx';
import { FilterSelect } from '../../../ui/forms/filter-select.tsx';
import { SearchField } from '../../../ui/forms/search-field.tsx';
import { ErrorState, EmptyState } from '../../../ui/states.tsx';
import { TableSkeleton } from '../../../ui/lists/table-skeleton.tsx';
import { ViewsMenu } from '../../../ui/overlays/views-menu.tsx';
import { HealthLabel, healthStates } from '../../../ui/labels/health-label.tsx';
import { columns } from './columns.tsx';
import { CopyText } from '../../../ui/copy-text.tsx';
import { toIfMatch, type Versioned } from '../../../api/versions.ts';
import { texts as common } from '../../../texts/common.ts';
import { FloatingBar } from '../../../ui/overlays/floating-bar.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';

const route = getRouteApi('/shell/detections');

const healthOptions = healthStates.map((value) => ({ value, label: <HealthLabel health={value} /> }));
const enabledOptions = (['true', 'false'] as const).map((value) => ({ value, label: texts.enabled[value] }));

/** Every detection with its health, its open hits and what it found in 30 days. */
export function DetectionsPage() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const { data, error, refetch, isPending, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    summariesQuery(filter),
  );
  const { data: categories } = useQuery(categoriesQuery);
  const rows = useMemo(() => data?.pages.flatMap((page) => page.detections) ?? [], [data]);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string): void =>
    setSelected((ids) => new Set(ids.has(id) ? [...ids].filter((other) => other !== id) : [...ids, id]));
  const filterBy = useCallback(
    (change: DetectionFilter) => void navigate({ search: (search) => ({ ...search, ...change }), replace: true }),
    [navigate],
  );
  const open = ({ id }: DetectionSummary): void => void navigate({ to: '/detections/$id', params: { id } });
  const active = useListKeys(rows, ({ id }) => id, { onOpen: open, onSelect: ({ id }) => toggle(id) });
  useHotkeys({ Escape: () => setSelected(new Set()), n: () => void navigate({ to: '/detections/new' }) });
  const onEnd = useNextPage({ hasNextPage, isFetchingNextPage, fetchNextPage });
  const { sort, ...conditions } = filter;
  const total = data?.pages[0]?.total;

  return (
    <>
      <PageHeader
        title={texts.title}
        links={<DetectionLinks />}
        actions={
          <>
            <ViewsMenu
              page="detections"
              current={filter}
              onOpen={(search) => void navigate({ search: search as DetectionFilter })}
            />
            <Button kind="primary" onClick={() => void navigate({ to: '/detections/new' })}>
              {texts.create}
            </Button>
          </>
        }
      >
        <SearchField label={texts.filters.search} value={filter.q} onChange={(q) => filterBy({ q })} />
        <FilterSelect
          label={texts.filters.health}
          value={filter.health}
          options={healthOptions}
          onChange={(health) => filterBy({ health })}
        />
        <FilterSelect
          label={texts.filters.category}
          value={filter.category}
          options={categories?.map(({ name, label }) => ({ value: name, label })) ?? []}
          onChange={(category) => filterBy({ category })}
        />
        <FilterSelect
          label={texts.filters.enabled}
          value={filter.enabled}
          options={enabledOptions}
          onChange={(enabled) => filterBy({ enabled })}
        />
        {total !== undefined && <span className="tabular text-12 text-faint">{texts.total(formatNumber(total))}</span>}
      </PageHeader>
      <div className="relative min-h-0 grow">
        {error && rows.length === 0 ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : isPending ? (
          <TableSkeleton />
        ) : rows.length === 0 ? (
          <NoDetections
            isFiltered={Object.values(conditions).some(Boolean)}
            onClear={() => void navigate({ search: {} })}
          />
        ) : (
          <DataTable
            label={texts.title}
            rows={rows}
            filter={conditions}
            columns={columns}
            rowId={({ id }) => id}
            rowLabel={({ name }) => name}
            activeId={active}
            onOpen={open}
            onHover={({ id }) => void client.prefetchQuery({ ...detectionQuery(id), staleTime: 30_000 })}
            onEnd={onEnd}
            sort={sort ?? '-createdAt'}
            onSort={(next) => filterBy({ sort: next as DetectionSort })}
            selection={{
              ids: selected,
              onToggle: toggle,
              onToggleAll: () =>
                setSelected(selected.size === rows.length ? new Set() : new Set(rows.map(({ id }) => id))),
            }}
          />
        )}
        {selected.size > 0 && (
          <BulkBar
            ids={selected}
            seen={rows.filter(({ id }) => selected.has(id))}
            onDone={() => setSelected(new Set())}
          />
        )}
      </div>
    </>
  );
}

type Props = { isFiltered: boolean; onClear: () => void };

function NoDetections({ isFiltered, onClear }: Props) {
  if (isFiltered)
    return <EmptyState title={texts.empty.filtered} action={<Button onClick={onClear}>{texts.empty.clear}</Button>} />;
  return (
    <EmptyState
      title={texts.empty.title}
      action={
        <span className="flex flex-wrap justify-center gap-2">
          <Link to="/detections/new" className={buttonClass('primary')}>
            {texts.create}
          </Link>
          <Link to="/rule-sources" search={{ source: 'new' }} className={buttonClass('secondary')}>
            {texts.empty.rules}
          </Link>
        </span>
      }
    >
      <p>{texts.empty.body}</p>
      <CopyText text={texts.empty.command} />
    </EmptyState>
  );
}

type Action = 'enable' | 'disable';
const reports: Record<Action, (count: number) => string> = { enable: texts.bulk.enabled, disable: texts.bulk.disabled };
const opposite: Record<Action, Action> = { enable: 'disable', disable: 'enable' };

/** `seen` has the selected detections as the user sees them, as far as the list has them. */
type BulkProps = { ids: ReadonlySet<string>; seen: readonly (Versioned & { id: string })[]; onDone: () => void };
type Change = { action: Action; of: string[]; ifMatch?: Record<string, string> };

/** The actions for the selected detections. */
function BulkBar({ ids, seen, onDone }: BulkProps) {
  const client = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: ({ action, of, ifMatch = {} }: Change) => changeDetections(action, of, ifMatch),
    onSuccess: (results, { action }) => {
      void client.invalidateQueries({ queryKey: ['detections'] });
      const changed = results.flatMap(({ id, outcome }) => (outcome === 'changed' && id !== null ? [id] : []));
      const failed = results.filter(({ outcome, stale }) => outcome === 'failed' && !stale);
      toasts.add({
        title: changed.length === 0 ? texts.bulk.notChanged : reports[action](changed.length),
        ...(failed.length > 0 && {
          description: `${texts.bulk.failed(failed.length)} ${failed[0]!.detail ?? ''}`,
          isError: true,
        }),
        ...(changed.length > 0 && {
          action: { label: common.undo, run: () => mutate({ action: opposite[action], of: changed }) },
        }),
      });
      onDone();
    },
    onError: (error) => toasts.add({ title: texts.bulk.notChanged, description: error.message, isError: true }),
  });
  const ifMatch = Object.fromEntries(seen.map((detection) => [detection.id, toIfMatch(detection)]));
  return (
    <FloatingBar label={texts.bulk.selected(ids.size)}>
      {(['enable', 'disable'] as const).map((action) => (
        <Button key={action} disabled={isPending} onClick={() => mutate({ action, of: [...ids], ifMatch })}>
          {texts.bulk[action]}
        </Button>
      ))}
      <Button kind="quiet" onClick={onDone}>
        {texts.bulk.clear}
      </Button>
    </FloatingBar>
  );
}
