import { useQueryClient, type Query, type QueryClient } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { isSignedOut } from '../api/problem.ts';
import { texts } from '../texts/common.ts';
import { Button } from '../ui/button.tsx';
import { RelativeTime } from '../ui/time.tsx';

/** Returns whether a query on the page still shows earlier data because reading it again failed. */
const isStale = (query: Query): boolean =>
  query.isActive() &&
  query.state.data !== undefined &&
  query.state.status === 'error' &&
  !isSignedOut(query.state.error);

const findStale = (client: QueryClient): Query | undefined =>
  client
    .getQueryCache()
    .findAll({ predicate: isStale })
    .toSorted((a, b) => a.state.dataUpdatedAt - b.state.dataUpdatedAt)[0];

/** Says below the page since when its data is not up to date, why, and reads it again on demand. */
export function StaleData() {
  const client = useQueryClient();
  const subscribe = useCallback((notify: () => void) => client.getQueryCache().subscribe(notify), [client]);
  const hash = useSyncExternalStore(subscribe, () => findStale(client)?.queryHash);
  const query = hash === undefined ? undefined : client.getQueryCache().get(hash);
  if (!query) return null;
  const { dataUpdatedAt, error } = query.state;
  return (
    <div role="status" className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-t px-4 py-1.5 text-12">
      <span>
        {texts.staleSince} <RelativeTime time={new Date(dataUpdatedAt).toISOString()} />
      </span>
      <span className="min-w-0 text-muted">{error?.message}</span>
      <Button className="ml-auto" onClick={() => void client.refetchQueries({ predicate: isStale })}>
        {texts.retry}
      </Button>
    </div>
  );
}
