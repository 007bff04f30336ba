import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import { hitQuery, hitsQuery, type Hit, type HitStatus } from '../../api/hits.ts';
import { useHotkeys } from '../../lib/hotkeys.ts';
import { useOpenKeys } from '../../lib/list-keys.ts';
import { PageHeader } from '../../shell/page-header.tsx';
import { HitLinks } from '../../shell/section-links.tsx';
import { texts } from '../../texts/hits.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { ListAndPanel } from '../../ui/lists/list-panel.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { ViewsMenu } from '../../ui/overlays/views-menu.tsx';
import { BulkBar, useSelectedHits, useShownWave } from './bulk-bar.tsx';
import { GroupList } from './group-list.tsx';
import { HitFilters } from './hit-filters.tsx';
import { HitList } from './hit-list.tsx';
import { HitPanel } from './hit-panel.tsx';
import { statusKeys } from './statuses.tsx';
import { useSetStatus } from './use-set-status.ts';

const HideSimilarDialog = lazy(() => import('../../ui/tuning/hide-similar-dialog.tsx'));
const route = getRouteApi('/shell/hits');

/** The triage queue: a list of hits or of groups of them, made for the keyboard, and the open hit beside it. */
export function HitsPage() {
  const { hit: openId, by, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const isGrouped = (by === 'wave' && !filter.group) || (by === 'entity' && !filter.entity);
  const open = (id: string | undefined): void =>
    void navigate({ search: (search) => ({ ...search, hit: id }), replace: openId !== undefined, resetScroll: false });
  return (
    <>
      <PageHeader
        title={texts.title}
        links={<HitLinks />}
        actions={<ViewsMenu page="hits" current={{ by, ...filter }} onOpen={(search) => void navigate({ search })} />}
      >
        <HitFilters
          search={{ by, ...filter }}
          onChange={(change) => void navigate({ search: (search) => ({ ...search, hit: undefined, ...change }) })}
        />
      </PageHeader>
      {isGrouped ? (
        <div className="min-h-0 grow">
          <GroupList
            by={by!}
            filter={filter}
            onOpen={(key) =>
              void navigate({ search: (search) => ({ ...search, [by === 'wave' ? 'group' : 'entity']: key }) })
            }
          />
        </div>
      ) : (
        <Queue filter={filter} openId={openId} onOpen={open} />
      )}
    </>
  );
}

type QueueProps = {
  filter: Parameters<typeof hitsQuery>[0];
  openId: string | undefined;
  onOpen: (id: string | undefined) => void;
};

function Queue({ filter, openId, onOpen }: QueueProps) {
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const { data, error, refetch, isPending, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    hitsQuery(filter),
  );
  const { wave, isLoading: isWaveLoading } = useShownWave(filter);
  // Hits of a wave appear with it, so that a decision about all of them is one request from the start.
  const isLoading = isPending || isWaveLoading;
  const hits = useMemo(() => (isLoading ? [] : (data?.pages.flatMap((page) => page.hits) ?? [])), [data, isLoading]);
  const [pending, setPending] = useState<HitStatus | null>(null);
  const { setStatus, undo, similar, closeSimilar } = useSetStatus();
  const selection = useSelectedHits(hits, wave, hasNextPage);
  const { chosen, choose, toggle, selected } = selection;
  const isBulk = selected.length > 0;
  const index = hits.findIndex(({ id }) => id === openId);
  const opened: Hit | undefined = hits[index];

  const open = (id: string | undefined): void => {
    if (!isBulk) setPending(null);
    onOpen(id);
  };
  const clear = (): void => {
    choose(new Set());
    setPending(null);
  };
  const save = (status: HitStatus, reason: string): Promise<boolean> => {
    const changed = isBulk ? selected : opened ? [opened] : [];
    clear();
    return setStatus(changed, status, { reason, wave: selection.wave });
  };
  const expand = (): void => {
    if (openId) void navigate({ to: '/hits/$id', params: { id: openId } });
  };
  const close = (): void => (isBulk ? clear() : open(undefined));
  useOpenKeys({ rows: hits, index, onOpen: ({ id }) => open(id), onClose: close });
  useHotkeys({
    x: () => openId && toggle(openId),
    a: () => choose(new Set(chosen.size === hits.length ? [] : hits.map(({ id }) => id))),
    u: undo,
    e: expand,
    Enter: expand,
    ...Object.fromEntries(
      statusKeys.map((status, at) => [
        String(at + 1),
        () => (isBulk || (opened && opened.status !== status)) && setPending(status),
      ]),
    ),
  });

  const list =
    error && hits.length === 0 ? (
      <ErrorState error={error} onRetry={() => void refetch()} />
    ) : !isLoading && hits.length === 0 ? (
      <NoHits isFiltered={Object.values(filter).some(Boolean)} onClear={() => void navigate({ search: {} })} />
    ) : (
      <HitList
        hits={isLoading ? null : hits}
        filter={filter}
        openId={openId}
        chosen={chosen}
        onOpen={open}
        onToggle={toggle}
        onHover={(id) => void client.prefetchQuery({ ...hitQuery(id), staleTime: 30_000 })}
        onEnd={() => hasNextPage && !isFetchingNextPage && void fetchNextPage()}
      />
    );
  return (
    <ListAndPanel
      list={
        <div className="relative h-full">
          {list}
          <Suspense>{similar && <HideSimilarDialog {...similar} onClose={closeSimilar} />}</Suspense>
          {isBulk && (
            <BulkBar
              count={selection.count}
              hitIds={selection.count === selected.length ? selected.map(({ id }) => id) : undefined}
              more={selection.more}
              pending={pending}
              onChoose={setPending}
              onSave={save}
              onClear={clear}
            />
          )}
        </div>
      }
      panel={
        openId === undefined ? null : (
          <HitPanel
            id={openId}
            listed={opened}
            pending={isBulk ? null : pending}
            onChoose={setPending}
            onSave={save}
            onClose={() => open(undefined)}
          />
        )
      }
    />
  );
}

function NoHits({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (isFiltered)
    return <EmptyState title={texts.empty.filtered} action={<Button onClick={onClear}>{texts.empty.clear}</Button>} />;
  return (
    <EmptyState
      title={texts.empty.title}
      action={
        <Link to="/detections" className={buttonClass('primary')}>
          {texts.empty.create}
        </Link>
      }
    >
      {texts.empty.body}
    </EmptyState>
  );
}
