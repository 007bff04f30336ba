import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Download, X } from 'lucide-react';
import { coverageQuery, navigatorAddress, type Coverage } from '../../api/coverage.ts';
import { useHotkeys } from '../../lib/hotkeys.ts';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/coverage.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { FilterSelect } from '../../ui/forms/filter-select.tsx';
import { ListAndPanel } from '../../ui/lists/list-panel.tsx';
import { SearchField } from '../../ui/forms/search-field.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../ui/states.tsx';
import { CoverageMatrix } from './coverage-matrix.tsx';
import { CoverageTable } from './coverage-table.tsx';
import { TechniqueView } from './technique-view.tsx';
import { isUnwatchedThreat, isWatched, matches } from './techniques.ts';

const route = getRouteApi('/shell/coverage');
const showOptions = (['threatened', 'unwatched', 'covered', 'silent'] as const).map((value) => ({
  value,
  label: texts.show[value],
}));
const daysOptions = (['30', '365'] as const).map((value) => ({ value, label: texts.days[value] }));

/** Which techniques the detections watch, beside those that the relevant items of the feed mention. */
export function CoveragePage() {
  const { technique: openId, view, days, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(coverageQuery(days));
  const change = (next: Partial<ReturnType<typeof route.useSearch>>): void =>
    void navigate({
      search: (search) => ({ ...search, ...next }),
      replace: 'technique' in next && openId !== undefined,
      resetScroll: false,
    });
  const open = (technique: string | undefined): void => change({ technique });
  useHotkeys({ Escape: () => open(undefined) });
  const shown = data?.techniques.filter((technique) => matches(technique, filter));
  const opened = data?.techniques.find(({ id }) => id === openId);
  return (
    <>
      <PageHeader
        title={texts.title}
        actions={
          <>
            <Button onClick={() => change({ view: view === 'table' ? undefined : 'table' })}>
              {view === 'table' ? texts.matrix : texts.table}
            </Button>
            <a
              href={navigatorAddress(days)}
              download="tocsin-coverage.json"
              className="inline-flex h-7 items-center gap-1.5 rounded-control border px-2.5 hover:bg-hover"
            >
              <Download className="size-3.5" aria-hidden />
              {texts.export}
            </a>
          </>
        }
      >
        <SearchField label={texts.search} value={filter.q} onChange={(q) => change({ q })} />
        <FilterSelect
          label={texts.filters.show}
          value={filter.show}
          options={showOptions}
          onChange={(show) => change({ show })}
        />
        <FilterSelect
          label={texts.filters.days}
          value={days}
          options={daysOptions}
          onChange={(value) => change({ days: value })}
        />
      </PageHeader>
      <ListAndPanel
        list={
          error && !data ? (
            <ErrorState error={error} onRetry={() => void refetch()} />
          ) : !data || !shown ? (
            <MatrixSkeleton />
          ) : (
            <div className="flex h-full flex-col">
              <Summary coverage={data} />
              {shown.length === 0 ? (
                <EmptyState
                  title={texts.empty}
                  action={<Button onClick={() => change({ q: undefined, show: undefined })}>{texts.clear}</Button>}
                />
              ) : view === 'table' ? (
                <CoverageTable coverage={data} techniques={shown} openId={openId} onOpen={open} />
              ) : (
                <CoverageMatrix coverage={data} techniques={shown} openId={openId} onOpen={open} />
              )}
            </div>
          )
        }
        panel={
          data && opened ? (
            <>
              <div className="flex min-h-11 items-center justify-end border-b px-3">
                <IconButton label={common.close} onClick={() => open(undefined)}>
                  <X className="size-4" aria-hidden />
                </IconButton>
              </div>
              <div className="min-h-0 grow overflow-y-auto" key={openId} data-scroll-restoration-id={openId}>
                <TechniqueView coverage={data} technique={opened} onOpen={open} />
              </div>
            </>
          ) : null
        }
      />
    </>
  );
}

/** A summary of the matrix in one line of text. */
function Summary({ coverage }: { coverage: Coverage }) {
  const parents = coverage.techniques.filter(({ parentId }) => parentId === null);
  const unwatched = parents.filter(isUnwatchedThreat).length;
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-x-4 gap-y-1 border-b px-4 py-2 text-12 text-muted">
      <span className="tabular">{texts.summary(parents.filter(isWatched).length, parents.length)}</span>
      {unwatched > 0 && <span className="tabular text-high">{texts.unwatched(unwatched)}</span>}
      {coverage.profile === 'none' && <span>{texts.noProfile}</span>}
      {!coverage.isComplete && <span>{texts.incomplete}</span>}
    </div>
  );
}

const MatrixSkeleton = () => (
  <div className="grid grid-cols-6 gap-2 p-4">
    {Array.from({ length: 36 }, (_, cell) => (
      <Skeleton key={cell} className="h-10" />
    ))}
  </div>
);
