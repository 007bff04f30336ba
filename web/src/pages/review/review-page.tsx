import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useMemo } from 'react';
import { casesQuery, type CaseFilter, type CaseState, type ReviewCase } from '../../api/review.ts';
import { useOpenKeys } from '../../lib/list-keys.ts';
import { classes } from '../../lib/text.ts';
import { PageHeader } from '../../shell/page-header.tsx';
import { HitLinks } from '../../shell/section-links.tsx';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/review.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { FilterChip } from '../../ui/forms/filter-chip.tsx';
import { FilterSelect } from '../../ui/forms/filter-select.tsx';
import { SeverityMark } from '../../ui/labels/severity.tsx';
import { ListAndPanel } from '../../ui/lists/list-panel.tsx';
import { TableSkeleton } from '../../ui/lists/table-skeleton.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { CaseView } from './case-view.tsx';
import { DecisionBar } from './decision-bar.tsx';

const route = getRouteApi('/shell/review');

const states = (Object.keys(texts.states) as CaseState[]).map((value) => ({ value, label: texts.states[value] }));
const kinds = (Object.keys(texts.kinds) as ReviewCase['kind'][]).map((value) => ({ value, label: texts.kinds[value] }));

/** Cases that are no hit: a list, and the open one beside it, with its decision. */
export function ReviewPage() {
  const { case: openId, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const open = (id: string | undefined): void =>
    void navigate({ search: (search) => ({ ...search, case: id }), replace: openId !== undefined, resetScroll: false });
  const change = (next: CaseFilter): void =>
    void navigate({ search: (search) => ({ ...search, case: undefined, ...next }) });
  const query = useInfiniteQuery(casesQuery(filter));
  const cases = useMemo(() => query.data?.pages.flatMap((page) => page.cases), [query.data]);
  const opened = cases?.find(({ id }) => id === openId);
  useOpenKeys({
    rows: cases ?? [],
    index: cases?.findIndex(({ id }) => id === openId) ?? -1,
    onOpen: ({ id }) => open(id),
    onClose: () => open(undefined),
  });
  return (
    <>
      <PageHeader title={texts.title} links={<HitLinks />}>
        <FilterSelect
          label={texts.filters.state}
          value={filter.state}
          options={states}
          onChange={(state) => change({ state })}
        />
        <FilterSelect
          label={texts.filters.kind}
          value={filter.kind}
          options={kinds}
          onChange={(kind) => change({ kind })}
        />
        {filter.detection && (
          <FilterChip
            label={texts.detection}
            value={cases?.[0]?.detectionName ?? '…'}
            onRemove={() => change({ detection: undefined })}
          />
        )}
        {filter.entity && (
          <FilterChip label={texts.entity} value={filter.entity} onRemove={() => change({ entity: undefined })} />
        )}
      </PageHeader>
      <ListAndPanel
        list={<CaseList query={query} cases={cases} openId={openId} filter={filter} onOpen={open} />}
        panel={
          openId === undefined ? null : (
            <>
              <div className="flex min-h-11 shrink-0 items-center gap-1 border-b px-2 py-1.5">
                {opened?.state === 'open' && <DecisionBar key={openId} one={opened} />}
                <span className="ml-auto flex self-start">
                  <IconButton label={common.close} onClick={() => open(undefined)}>
                    <X className="size-4" aria-hidden />
                  </IconButton>
                </span>
              </div>
              <div className="min-h-0 grow overflow-y-auto" key={openId} data-scroll-restoration-id={openId}>
                <CaseView id={openId} />
              </div>
            </>
          )
        }
      />
    </>
  );
}

type ListProps = {
  query: {
    error: Error | null;
    refetch: () => unknown;
    hasNextPage: boolean;
    fetchNextPage: () => unknown;
    isFetchingNextPage: boolean;
  };
  cases: ReviewCase[] | undefined;
  openId: string | undefined;
  filter: CaseFilter;
  onOpen: (id: string) => void;
};

function CaseList({ query, cases, openId, filter, onOpen }: ListProps) {
  if (!cases)
    return query.error ? <ErrorState error={query.error} onRetry={() => void query.refetch()} /> : <TableSkeleton />;
  if (cases.length === 0)
    return Object.values(filter).some(Boolean) ? (
      <EmptyState title={texts.empty.filtered} />
    ) : (
      <EmptyState title={texts.empty.title}>{texts.empty.body}</EmptyState>
    );
  return (
    <ul className="h-full overflow-y-auto" aria-label={texts.title}>
      {cases.map((one) => (
        <li key={one.id}>
          <button
            type="button"
            aria-current={one.id === openId}
            onClick={() => onOpen(one.id)}
            className={classes(
              'grid h-13 w-full grid-cols-[auto_1fr_auto] items-center gap-x-3 border-b pr-row-end pl-4 text-left -outline-offset-2',
              one.id === openId ? 'bg-selected' : 'hover:bg-hover',
            )}
          >
            <SeverityMark severity={one.severity} />
            <span className="min-w-0">
              <span className="block truncate font-strong">{one.headline}</span>
              <span className="block truncate text-12 text-muted">
                {one.openQuestion ?? one.summary} · {one.detectionName}
              </span>
            </span>
            <span className="flex flex-col items-end gap-px text-12 text-muted">
              <RelativeTime time={one.openedAt} />
              <span>{one.state === 'open' ? texts.kinds[one.kind] : texts.states[one.state]}</span>
            </span>
          </button>
        </li>
      ))}
      {query.hasNextPage && (
        <li className="flex justify-center p-3">
          <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {common.loadMore}
          </Button>
        </li>
      )}
    </ul>
  );
}
