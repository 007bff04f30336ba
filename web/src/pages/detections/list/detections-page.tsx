import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { categoriesQuery } from '../../../api/detection-parts.ts';
import {
  detectionQuery,
  summariesQuery,
  type DetectionFilter,
  type DetectionSort,
  type DetectionSummary,
} from '../../../api/detections.ts';
import { useHotkeys } from '../../../lib/hotkeys.ts';
import { useListKeys } from '../../../lib/list-keys.ts';
import { formatNumber } from '../../../lib/text.ts';
import { PageHeader } from '../../../shell/page-header.tsx';
import { DetectionLinks } from '../../../shell/section-links.tsx';
import { texts } from '../../../texts/detections.ts';
import { Button } from '../../../ui/button.tsx';
import { DataTable, useNextPage } from '../../../ui/lists/data-table.tsx';
import { FilterSelect } from '../../../ui/forms/filter-select.tsx';
import { SearchField } from '../../../ui/forms/search-field.tsx';
import { ErrorState } from '../../../ui/states.tsx';
import { TableSkeleton } from '../../../ui/lists/table-skeleton.tsx';
import { ViewsMenu } from '../../../ui/overlays/views-menu.tsx';
import { HealthLabel, healthStates } from '../../../ui/labels/health-label.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { columns } from './columns.tsx';
import { NoDetections } from './no-detections.tsx';

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
