import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Expand, X } from 'lucide-react';
import { useMemo, useState } from 'react';
import { hitQuery, hitsQuery, type Hit, type HitStatus } from '../../api/hits.ts';
import { useHotkeys } from '../../lib/hotkeys.ts';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/hits.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { FilterSelect } from '../../ui/filter-select.tsx';
import { ListAndPanel } from '../../ui/list-panel.tsx';
import { severities, SeverityLabel } from '../../ui/severity.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { HitList } from './hit-list.tsx';
import { HitView } from './hit-view.tsx';
import { StatusBar } from './status-bar.tsx';
import { statusKeys, StatusLabel } from './statuses.tsx';
import { useSetStatus } from './use-set-status.ts';

const route = getRouteApi('/shell/hits');
const statusOptions = (Object.keys(texts.status) as HitStatus[]).map((value) => ({
  value,
  label: <StatusLabel status={value} />,
}));
const severityOptions = severities.map((value) => ({ value, label: <SeverityLabel severity={value} /> }));

/** The triage queue: a list of hits, made for the keyboard, and the open hit beside it. */
export function HitsPage() {
  const { hit: openId, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const { data, error, refetch, isPending, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    hitsQuery(filter),
  );
  const hits = useMemo(() => data?.pages.flatMap((page) => page.hits) ?? [], [data]);
  const [pending, setPending] = useState<HitStatus | null>(null);
  const { setStatus, undo } = useSetStatus();
  const index = hits.findIndex(({ id }) => id === openId);
  const opened: Hit | undefined = hits[index];

  const open = (id: string | undefined): void => {
    setPending(null);
    void navigate({
      search: (search) => ({ ...search, hit: id }),
      replace: openId !== undefined,
    });
  };
  const move = (step: number): void => {
    const next = hits[Math.min(hits.length - 1, Math.max(0, index + step))];
    if (next) open(next.id);
  };
  const filterBy = (change: Partial<typeof filter>): void =>
    void navigate({ search: (search) => ({ ...search, ...change }) });
  useHotkeys({
    j: () => move(1),
    k: () => move(-1),
    Escape: () => open(undefined),
    u: undo,
    Enter: () => openId && void navigate({ to: '/hits/$id', params: { id: openId } }),
    ...Object.fromEntries(
      statusKeys.map((status, at) => [String(at + 1), () => opened && opened.status !== status && setPending(status)]),
    ),
  });

  return (
    <>
      <PageHeader title={texts.title}>
        <FilterSelect
          label={texts.filters.status}
          value={filter.status}
          options={statusOptions}
          onChange={(status) => filterBy({ status })}
        />
        <FilterSelect
          label={texts.filters.severity}
          value={filter.severity}
          options={severityOptions}
          onChange={(severity) => filterBy({ severity })}
        />
      </PageHeader>
      <ListAndPanel
        list={
          error && hits.length === 0 ? (
            <ErrorState error={error} onRetry={() => void refetch()} />
          ) : !isPending && hits.length === 0 ? (
            <NoHits isFiltered={Object.values(filter).some(Boolean)} onClear={() => void navigate({ search: {} })} />
          ) : (
            <HitList
              hits={isPending ? null : hits}
              openId={openId}
              onOpen={open}
              onHover={(id) => void client.prefetchQuery({ ...hitQuery(id), staleTime: 30_000 })}
              onEnd={() => hasNextPage && !isFetchingNextPage && void fetchNextPage()}
            />
          )
        }
        panel={
          openId === undefined ? null : (
            <>
              <div className="flex min-h-11 items-center gap-2 border-b px-3 py-1.5">
                {opened && (
                  <StatusBar
                    hit={opened}
                    pending={pending}
                    onChoose={setPending}
                    onSave={(status, reason) => {
                      setPending(null);
                      setStatus(opened, status, reason);
                    }}
                  />
                )}
                <span className="ml-auto flex self-start">
                  <IconButton
                    label={common.openPage}
                    onClick={() => void navigate({ to: '/hits/$id', params: { id: openId } })}
                  >
                    <Expand className="size-3.5" aria-hidden />
                  </IconButton>
                  <IconButton label={common.close} onClick={() => open(undefined)}>
                    <X className="size-4" aria-hidden />
                  </IconButton>
                </span>
              </div>
              <div className="min-h-0 grow overflow-y-auto" key={openId}>
                <HitView id={openId} listed={opened} />
              </div>
            </>
          )
        }
      />
    </>
  );
}

function NoHits({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (isFiltered)
    return <EmptyState title={texts.empty.filtered} action={<Button onClick={onClear}>{texts.empty.clear}</Button>} />;
  return <EmptyState title={texts.empty.title}>{texts.empty.body}</EmptyState>;
}
