import { Outlet, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useHotkeys } from '../lib/hotkeys.ts';
import { toggleSidebar, useIsSidebarCollapsed } from '../lib/sidebar-state.ts';
import { texts } from '../texts/common.ts';
import { ShellContext } from './shell-context.ts';
import { pages } from './navigation.ts';
import { Palette } from './palette.tsx';
import { Sidebar } from './sidebar.tsx';
import { StaleData } from './stale-data.tsx';

const Drawer = lazy(() => import('./drawer.tsx'));
const ShortcutSheet = lazy(() => import('./shortcut-sheet.tsx'));

/** The frame of every page: the sidebar, or a drawer in a narrow window, the command palette and the sheet of shortcuts. */
export function AppShell() {
  const navigate = useNavigate();
  const [open, setOpen] = useState<'drawer' | 'palette' | 'shortcuts' | null>(null);
  const isCollapsed = useIsSidebarCollapsed();
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
          <Outlet />
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
