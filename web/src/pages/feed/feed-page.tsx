import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Expand, X, ChevronLeft, ChevronRight } from 'lucide-react';
import { lazy, Suspense, useMemo, useState } from 'react';
import { itemQuery, itemsQuery, type FeedFilter, type FeedItem, type ItemHighlight } from '../../api/feed.ts';
import { useHotkeys } from '../../lib/hotkeys.ts';
import { useOpenKeys } from '../../lib/list-keys.ts';
import { FeedLinks } from '../../shell/section-links.tsx';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/feed.ts';
import { Button, buttonClass, IconButton } from '../../ui/button.tsx';
import { ListAndPanel } from '../../ui/lists/list-panel.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { ViewsMenu } from '../../ui/overlays/views-menu.tsx';
import { FeedFilters } from './list/feed-filters.tsx';
import { FeedList } from './list/feed-list.tsx';
import { foldParts, isLongDocument, type FeedEntry, readPart } from './list/fold-parts.ts';
import { ItemView } from './item/item-view.tsx';
import { RelevanceBar } from './relevance-bar.tsx';
import { toSearchMatches } from './list/search-matches.ts';
import { useOverride } from './use-override.ts';

const AddReport = lazy(() => import('./add-report.tsx'));

const route = getRouteApi('/shell/feed');

/** The verdict whose reason is being entered. */
type PendingVerdict = 'relevant' | 'irrelevant' | null;

/** The items of the feed, and the open item beside them. */
export function FeedPage() {
  const { item: openId, text, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const { data, error, refetch, isPending, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    itemsQuery(filter),
  );
  const items = useMemo(() => data?.pages.flatMap((page) => page.items) ?? [], [data]);
  const entries = useMemo(() => foldParts(items), [items]);
  const matches = useMemo(() => readMatches(data?.pages ?? []), [data]);
  const correction = data?.pages[0]?.validations?.warnings.find(({ code }) => code.endsWith('_search'))?.message;
  const { judge, undo } = useOverride();
  const [pending, setPending] = useState<PendingVerdict>(null);
  const index = entries.findIndex((entry) => entry.items.some(({ id }) => id === openId));
  // A link can open an item that the list does not have.
  const { data: detail } = useQuery({ ...itemQuery(openId ?? ''), enabled: openId !== undefined });
  const opened: FeedItem | undefined = items.find(({ id }) => id === openId) ?? detail;
  const [passedId, setPassedId] = useState<string>();
  const lastId = entries.at(-1)?.id;
  const isHeld = hasNextPage && lastId !== passedId && isLongDocument(entries.at(-1));

  const open = (id: string | undefined): void => {
    setPending(null);
    void navigate({ search: (search) => ({ ...search, item: id }), replace: openId !== undefined, resetScroll: false });
  };
  const openPage = (id: string): void => void navigate({ to: '/feed/$id', params: { id }, search: { text } });
  useOpenKeys({
    rows: entries,
    index,
    onOpen: ({ items: [first] }) => open(first!.id),
    onClose: () => open(undefined),
  });
  useHotkeys({
    e: () => openId && openPage(openId),
    Enter: () => openId && openPage(openId),
    1: () => opened && setPending('relevant'),
    2: () => opened && setPending('irrelevant'),
    u: undo,
  });

  return (
    <>
      <PageHeader
        title={texts.title}
        links={<FeedLinks />}
        actions={
          <>
            <ViewsMenu
              page="feed"
              current={filter}
              onOpen={(search) => void navigate({ search: search as FeedFilter })}
            />
            <AddReportButton onAdded={openPage} />
          </>
        }
      >
        <FeedFilters
          filter={filter}
          onChange={(change) => void navigate({ search: (search) => ({ ...search, ...change }) })}
        />
        {data && (
          <span className="tabular text-12 whitespace-nowrap text-faint">
            {texts.total(data.pages[0]?.total ?? 0, data.pages[0]?.outputs?.totalIsEstimated)}
          </span>
        )}
        {correction && <span className="truncate text-12 text-muted">{correction}</span>}
      </PageHeader>
      <ListAndPanel
        list={
          error && items.length === 0 ? (
            <ErrorState error={error} onRetry={() => void refetch()} />
          ) : !isPending && items.length === 0 ? (
            <NoItems isFiltered={Object.values(filter).some(Boolean)} onClear={() => void navigate({ search: {} })} />
          ) : (
            <FeedList
              entries={isPending ? null : entries}
              matches={matches}
              filter={filter}
              openIndex={index}
              onOpen={open}
              onHover={(id) => void client.prefetchQuery({ ...itemQuery(id), staleTime: 30_000 })}
              onEnd={() => hasNextPage && !isHeld && !isFetchingNextPage && void fetchNextPage()}
              end={
                isHeld && (
                  <Button kind="quiet" className="m-2" onClick={() => setPassedId(lastId)}>
                    {texts.parts.pass}
                  </Button>
                )
              }
            />
          )
        }
        panel={
          openId === undefined ? null : (
            <FeedPanel
              id={openId}
              item={opened}
              entry={entries[index]}
              pending={pending}
              onChoose={setPending}
              onSave={judge}
              onOpen={open}
              onExpand={() => openPage(openId)}
            />
          )
        }
      />
    </>
  );
}

function AddReportButton({ onAdded }: { onAdded: (id: string) => void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{texts.report.open}</Button>
      {isOpen && (
        <Suspense>
          <AddReport onAdded={onAdded} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

type FeedPanelProps = {
  id: string;
  item: FeedItem | undefined;
  /** The entry of the list that has the item. */
  entry: FeedEntry | undefined;
  pending: PendingVerdict;
  onChoose: (verdict: PendingVerdict) => void;
  onSave: Parameters<typeof RelevanceBar>[0]['onSave'];
  onOpen: (id: string | undefined) => void;
  onExpand: () => void;
};

/** The open item beside the list. */
function FeedPanel({ id, item, entry, pending, onChoose, onSave, onOpen, onExpand }: FeedPanelProps) {
  return (
    <>
      <div className="flex min-h-11 items-center gap-2 border-b px-4 py-1.5">
        {item && <RelevanceBar item={item} pending={pending} onChoose={onChoose} onSave={onSave} />}
        <span className="ml-auto flex self-start">
          <IconButton label={common.openPage} onClick={onExpand}>
            <Expand className="size-3.5" aria-hidden />
          </IconButton>
          <IconButton label={common.close} onClick={() => onOpen(undefined)}>
            <X className="size-4" aria-hidden />
          </IconButton>
        </span>
      </div>
      {item && entry && <PartNavigation entry={entry} item={item} onOpen={onOpen} />}
      <div className="min-h-0 grow overflow-y-auto" key={id} data-scroll-restoration-id={id}>
        <ItemView id={id} listed={item} />
      </div>
    </>
  );
}

type SearchedPage = { outputs?: { highlights?: Record<string, ItemHighlight[]> | undefined } | undefined };

/** Returns the matches of the search by the ID of the item. */
const readMatches = (pages: readonly SearchedPage[]) =>
  new Map(
    pages.flatMap(({ outputs }) =>
      Object.entries(outputs?.highlights ?? {}).map(([id, list]) => [id, toSearchMatches(list)] as const),
    ),
  );

function NoItems({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (isFiltered)
    return <EmptyState title={texts.empty.filtered} action={<Button onClick={onClear}>{texts.empty.clear}</Button>} />;
  return (
    <EmptyState
      title={texts.empty.title}
      action={
        <Link to="/sources" search={{ source: 'new' }} className={buttonClass('primary')}>
          {texts.empty.addSource}
        </Link>
      }
    >
      {texts.empty.body}
    </EmptyState>
  );
}

type PartProps = { entry: FeedEntry; item: FeedItem; onOpen: (id: string) => void };

/** Leads through the parts of a long document that the list shows as one row. */
function PartNavigation({ entry: { items, document }, item, onOpen }: PartProps) {
  const part = readPart(item);
  if (!document || !part) return null;
  const index = items.findIndex(({ id }) => id === item.id);
  const previous = items[index - 1];
  const next = items[index + 1];
  return (
    <nav aria-label={texts.parts.label} className="flex items-center gap-1 border-b px-4 py-1 text-12 text-muted">
      <span className="tabular mr-auto">{texts.parts.one(part.number, document.count)}</span>
      <IconButton label={texts.parts.previous} disabled={!previous} onClick={() => previous && onOpen(previous.id)}>
        <ChevronLeft className="size-4" aria-hidden />
      </IconButton>
      <IconButton label={texts.parts.next} disabled={!next} onClick={() => next && onOpen(next.id)}>
        <ChevronRight className="size-4" aria-hidden />
      </IconButton>
    </nav>
  );
}
