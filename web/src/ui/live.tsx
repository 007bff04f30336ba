import { useQuery, useQueryClient, type Query, type QueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { eventTypesQuery, type EventTypeEntry } from '../api/destinations.ts';
import type { LiveEvent } from '../api/overview.ts';
import { basePath } from '../lib/base-path.ts';
import { classes } from '../lib/text.ts';
import { texts } from '../texts/common.ts';

/** What an event makes stale, as the beginnings of the keys of queries, by the part of its type before the dot. */
const staleAfter: Readonly<Record<string, readonly string[]>> = {
  hit: ['hits', 'incidents', 'detections', 'overview'],
  incident: ['incidents', 'overview'],
  hunt: ['hunts'],
  review: ['review', 'overview'],
  run: ['runs', 'detections', 'agents', 'hits', 'overview'],
  detection: ['detections', 'agents', 'coverage', 'overview'],
  gap: ['coverage', 'detections', 'overview'],
  dataset: ['logs', 'coverage', 'overview'],
  suggestion: ['suggestions', 'overview'],
  continuous: ['detections', 'overview'],
  connection: ['connections', 'overview'],
  model: ['models', 'overview'],
  quota: ['usage', 'quotas', 'overview'],
  feed: ['feed', 'sources', 'entities', 'indicators', 'overview'],
};
/** What no event announces, because people change it: the first or the first two parts of the keys of queries. */
const polled = new Set([
  'agent-settings',
  'agents calls',
  'agents one',
  'agents triggers',
  'audit',
  'connections list',
  'destinations deliveries',
  'destinations list',
  'destinations one',
  'detections exceptions',
  'detections tests',
  'enrichers',
  'feed item',
  'hits comments',
  'hits profile',
  'hunts list',
  'keys',
  'models',
  'persons',
  'relevance',
  'retention',
  'rule-sources list',
  'sessions',
  'skills list',
  'sources list',
  'value-lists',
  'views',
]);
const pollMs = 2000;
/** Queries whose repetition costs somebody something, or that grow with the events themselves. */
const costly = new Set(['backtest', 'check', 'events', 'fields', 'histogram', 'kinds', 'search', 'update']);
/** Time from an event to the reading of what it changed, and between two such readings while events go on. */
const refreshMs = 200;
const burstMs = 1500;
/** Time until a stream that the service refused is tried again. */
const retryMs = 15_000;

const isCheap = ({ queryKey }: Pick<Query, 'queryKey'>): boolean => !costly.has(String(queryKey[1]));

/** Returns how often a query on the page is read again: what no event announces, every two seconds while the page is in view and one page of it is loaded. */
export function pollOf(query: Query): number | false {
  const { queryKey, state } = query;
  const pages = (state.data as { pages?: readonly unknown[] } | undefined)?.pages ?? [];
  const isPolled = [1, 2].some((length) => polled.has(queryKey.slice(0, length).join(' ')));
  return isPolled && state.status === 'success' && pages.length < 2 ? pollMs : false;
}

type Listener = (event: LiveEvent) => void;
const eventListeners = new Set<Listener>();
const stateListeners = new Set<() => void>();
/** Undefined without the right to read events. */
let state: boolean | undefined;

function setState(next: boolean | undefined): void {
  state = next;
  for (const listener of stateListeners) listener();
}

function subscribe(listener: () => void): () => void {
  stateListeners.add(listener);
  return () => stateListeners.delete(listener);
}

export const useIsLive = (): boolean | undefined => useSyncExternalStore(subscribe, () => state);

/** The labels of the types that are stored for clients that listen. */
export const streamedLabelsQuery = {
  ...eventTypesQuery,
  select: (all: EventTypeEntry[]): ReadonlyMap<string, string> =>
    new Map(all.flatMap(({ type, label, isStreamed }) => (isStreamed ? [[type, label]] : []))),
};

/** Calls a function for each event as it happens. It must not change from one rendering to the next. */
export function useLiveEvents(listener: Listener): void {
  useEffect(() => {
    eventListeners.add(listener);
    return () => void eventListeners.delete(listener);
  }, [listener]);
}

/** Keeps every page up to date with one stream of events for all of them. It is closed while the page is out of view. Used once. */
export function useLiveUpdates(): void {
  const client = useQueryClient();
  const { data: labels } = useQuery(streamedLabelsQuery);
  const types = [...(labels?.keys() ?? [])].join(',');
  useEffect(() => (types === '' ? undefined : followEvents(client, types)), [client, types]);
}

/** Opens the stream whenever the page is in view. Returns a function that ends that. */
function followEvents(client: QueryClient, types: string): () => void {
  let source: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let hasMissed = false;
  const refresh = createRefresh(client);
  const receive = ({ data }: MessageEvent<string>): void => {
    const event = JSON.parse(data) as LiveEvent;
    refresh.add(staleAfter[event.type.split('.')[0]!] ?? []);
    for (const listener of eventListeners) listener(event);
  };
  const close = (): void => {
    clearTimeout(retry);
    source?.close();
    source = undefined;
  };
  const open = (): void => {
    close();
    source = new EventSource(`${basePath}/api/events?types=${types}`);
    source.addEventListener('open', () => {
      setState(true);
      if (hasMissed) refresh.add(Object.values(staleAfter).flat());
      hasMissed = true;
    });
    source.addEventListener('error', () => {
      setState(false);
      if (source?.readyState === EventSource.CLOSED) retry = setTimeout(open, retryMs);
    });
    for (const type of types.split(',')) source.addEventListener(type, receive);
  };
  const follow = (): void => (document.visibilityState === 'hidden' ? close() : open());
  follow();
  document.addEventListener('visibilitychange', follow);
  return () => {
    document.removeEventListener('visibilitychange', follow);
    close();
    refresh.stop();
    setState(undefined);
  };
}

/** Collects what is stale, and reads it again where it is on the page. */
function createRefresh(client: QueryClient) {
  const stale = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let readAt = -burstMs;
  const run = (): void => {
    timer = undefined;
    readAt = performance.now();
    const names = new Set(stale);
    stale.clear();
    void client.invalidateQueries({
      predicate: (query) => names.has(String(query.queryKey[0])) && isCheap(query),
    });
  };
  return {
    add: (names: readonly string[]): void => {
      for (const name of names) stale.add(name);
      timer ??= setTimeout(run, Math.max(refreshMs, readAt + burstMs - performance.now()));
    },
    stop: () => clearTimeout(timer),
  };
}

/** Says whether the page grows as things happen. */
export function LiveLabel() {
  const isLive = useIsLive();
  if (isLive === undefined) return null;
  return (
    <span className="flex items-center gap-1.5 text-12 text-muted" role="status">
      <span className={classes('size-1.5 rounded-full', isLive ? 'bg-good' : 'bg-line-strong')} aria-hidden />
      {isLive ? texts.live : texts.offline}
    </span>
  );
}
