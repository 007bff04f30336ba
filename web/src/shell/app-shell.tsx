import { Outlet, useNavigate } from '@tanstack/react-router';
import { Fragment, lazy, Suspense, useState, useCallback, useSyncExternalStore } from 'react';
import { useQueryClient, type Query, type QueryClient } from '@tanstack/react-query';
import { useHotkeys } from '../lib/hotkeys.ts';
import { texts } from '../texts/common.ts';
import { ShellContext } from './shell-context.ts';
import { pages } from './navigation.ts';
import { Palette } from './palette.tsx';
import { Sidebar } from './sidebar.tsx';
import { isSignedOut } from '../api/problem.ts';
import { Button } from '../ui/button.tsx';
import { useLiveUpdates } from '../ui/live.tsx';
import { useTimeZone } from '../lib/time.ts';
import { RelativeTime } from '../ui/time.tsx';

const Drawer = lazy(() => import('./drawer.tsx'));
const ShortcutSheet = lazy(() => import('./shortcut-sheet.tsx'));

/** The frame of every page: the sidebar, or a drawer in a narrow window, the command palette and the sheet of shortcuts. */
export function AppShell() {
  const navigate = useNavigate();
  const [open, setOpen] = useState<'drawer' | 'palette' | 'shortcuts' | null>(null);
  const isCollapsed = useIsSidebarCollapsed();
  const timeZone = useTimeZone();
  useLiveUpdates();
  const close = (): void => setOpen(null);
  useHotkeys({
    '$mod+k': () => setOpen('palette'),
    '[': toggleSidebar,
    'Shift+?': () => setOpen('shortcuts'),
    ...Object.fromEntries(pages.map(({ path, key }) => [`g ${key}`, () => void navigate({ to: path })])),
  });
  return (
    <ShellContext value={{ openDrawer: () => setOpen('drawer') }}>
      <a href="#main" className="absolute -top-10 left-2 z-50 rounded-control bg-raised px-3 py-1 focus:top-2">
        {texts.skip}
      </a>
      <div className="flex h-full">
        <div className="max-md:hidden">
          <Sidebar isCollapsed={isCollapsed} onSearch={() => setOpen('palette')} onToggle={toggleSidebar} />
        </div>
        <main id="main" className="flex min-w-0 grow flex-col bg-surface md:border-l">
          {/* Every time on the page is written anew for another zone. */}
          <Fragment key={timeZone}>
            <Outlet />
          </Fragment>
          <StaleData />
        </main>
      </div>
      <Suspense>
        {open === 'drawer' && <Drawer onClose={close} onSearch={() => setOpen('palette')} />}
        {open === 'shortcuts' && <ShortcutSheet onClose={close} />}
      </Suspense>
      {open === 'palette' && <Palette onClose={close} />}
    </ShellContext>
  );
}

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
function StaleData() {
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

const storageKey = 'tocsin.sidebar';
/** From this width on, the sidebar is expanded unless somebody collapsed it. */
const isWide = matchMedia('(min-width: 64rem)');
const listeners = new Set<() => void>();

function readIsCollapsed(): boolean {
  const stored = localStorage.getItem(storageKey);
  return stored === null ? !isWide.matches : stored === 'collapsed';
}

/** Collapses the sidebar to icons, or expands it, and remembers the choice in this browser. */
function toggleSidebar(): void {
  localStorage.setItem(storageKey, readIsCollapsed() ? 'expanded' : 'collapsed');
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  isWide.addEventListener('change', listener);
  return () => {
    listeners.delete(listener);
    isWide.removeEventListener('change', listener);
  };
}

const useIsSidebarCollapsed = (): boolean => useSyncExternalStore(subscribe, readIsCollapsed);
