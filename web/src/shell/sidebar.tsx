import { useQuery, useMutation } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { PanelLeftClose, PanelLeftOpen, Search, ChevronsUpDown, CircleUser, Clock, LogOut } from 'lucide-react';
import { overviewQuery } from '../api/overview.ts';
import { classes, formatNumber } from '../lib/text.ts';
import { texts } from '../texts/common.ts';
import { Logo } from '../ui/logo.tsx';
import { modifierKey } from '../lib/modifier-key.ts';
import { Key } from '../ui/key.tsx';
import { isWithin, pages } from './navigation.ts';
import { SidebarLabel } from './sidebar-label.tsx';
import { sessionQuery, signOut } from '../api/session.ts';
import { basePath } from '../lib/base-path.ts';
import { formatOffset, ownTimeZone, setTimeZone, useTimeZone } from '../lib/time.ts';
import { forgetDrafts } from '../ui/forms/use-draft.tsx';
import { setTheme, themes, useTheme, type Theme } from '../lib/theme.ts';
import { MenuButton } from '../ui/overlays/menu-button.tsx';

type Props = { isCollapsed?: boolean; onNavigate?: () => void; onSearch: () => void; onToggle?: () => void };

const row =
  'group relative flex h-7 items-center gap-2.5 rounded-control px-2 text-muted hover:bg-hover hover:text-ink';

/** Where everything is. It fills its container: the left column, which collapses to icons, or the drawer of a narrow window. */
export function Sidebar({ isCollapsed = false, onNavigate, onSearch, onToggle }: Props) {
  // A key without the scope for it has no count.
  const { data: overview } = useQuery(overviewQuery);
  const openHits = overview?.hits?.open ?? 0;
  const { pathname } = useLocation();
  const Toggle = isCollapsed ? PanelLeftOpen : PanelLeftClose;
  return (
    <header className={classes('flex h-full flex-col gap-1 p-2', isCollapsed ? 'w-12' : 'w-52')}>
      <div className="flex h-9 items-center gap-2 px-1.75 text-15 font-strong">
        <Logo className="size-4.5 shrink-0" />
        {!isCollapsed && texts.product}
      </div>
      <button
        onClick={onSearch}
        className={classes(
          'group relative mb-2 flex h-7 items-center justify-between rounded-control border border-line bg-surface text-faint hover:text-muted',
          isCollapsed ? 'px-1.75' : 'px-2',
        )}
      >
        {isCollapsed && <Search className="size-4" strokeWidth={1.75} aria-hidden />}
        <SidebarLabel isTooltip={isCollapsed} keys={[modifierKey, 'K']}>
          {texts.searchShort}
        </SidebarLabel>
        {!isCollapsed && (
          <span className="flex gap-0.5" aria-hidden>
            <Key>{modifierKey}</Key>
            <Key>K</Key>
          </span>
        )}
      </button>
      <nav aria-label={texts.pageList} className="flex flex-col gap-px">
        {pages.map(({ path, label, icon: Icon, key }) => (
          <Link
            key={path}
            to={path}
            activeOptions={{ includeSearch: false, exact: path === '/' }}
            {...(onNavigate ? { onClick: onNavigate } : {})}
            className={classes(
              row,
              'aria-[current=page]:bg-selected aria-[current=page]:font-strong aria-[current=page]:text-ink',
              isWithin(pathname, path) && 'bg-selected font-strong text-ink',
            )}
          >
            <Icon className="size-4 shrink-0" strokeWidth={1.75} aria-hidden />
            <SidebarLabel isTooltip={isCollapsed} keys={['g', key]}>
              {label}
            </SidebarLabel>
            {path === '/hits' && openHits > 0 && !isCollapsed && (
              <span className="tabular ml-auto text-12 font-normal text-muted" title={texts.openHits(openHits)}>
                {formatNumber(openHits)}
              </span>
            )}
          </Link>
        ))}
      </nav>
      <div className="mt-auto flex flex-col gap-px">
        {onToggle && (
          <button className={row} onClick={onToggle}>
            <Toggle className="size-4 shrink-0" strokeWidth={1.75} aria-hidden />
            <SidebarLabel isTooltip={isCollapsed} keys={['[']}>
              {isCollapsed ? texts.expandSidebar : texts.collapseSidebar}
            </SidebarLabel>
          </button>
        )}
        <TimeZoneMenu isCollapsed={isCollapsed} />
        <AccountMenu isCollapsed={isCollapsed} />
      </div>
    </header>
  );
}

/** The zone in which all times are shown. The command palette knows every zone. */
function TimeZoneMenu({ isCollapsed }: { isCollapsed: boolean }) {
  const zone = useTimeZone();
  return (
    <MenuButton
      side="top"
      className={classes(row, 'w-full')}
      entries={[
        {
          kind: 'choice',
          label: texts.timeZone.label,
          value: zone,
          options: [...new Set([ownTimeZone, 'UTC', zone])].map((value) => ({
            value,
            label: `${value} (${formatOffset(value)})`,
          })),
          onSelect: (value) => setTimeZone(value),
        },
      ]}
    >
      <Clock className="size-4 shrink-0" strokeWidth={1.75} aria-hidden />
      <span className="sr-only">{texts.timeZone.shown}</span>
      <SidebarLabel isTooltip={isCollapsed}>{zone}</SidebarLabel>
      {!isCollapsed && <span className="tabular ml-auto text-12 text-faint">{formatOffset(zone)}</span>}
    </MenuButton>
  );
}

/** The organization that is open, the theme, and the way out. */
function AccountMenu({ isCollapsed }: { isCollapsed: boolean }) {
  const theme = useTheme();
  const { data: session } = useQuery(sessionQuery);
  const { mutate: leave } = useMutation({
    mutationFn: signOut,
    // Loads the page anew, so that nothing of the session stays in memory.
    onSettled: () => {
      forgetDrafts({ everything: true });
      location.assign(`${basePath}/console/sign-in`);
    },
  });
  return (
    <MenuButton
      side="top"
      className="group relative flex h-8 w-full items-center justify-between rounded-control px-2 hover:bg-hover"
      entries={[
        {
          kind: 'choice',
          label: texts.theme.label,
          value: theme,
          options: themes.map((value) => ({ value, label: texts.theme[value] })),
          onSelect: (value) => setTheme(value as Theme),
        },
        { kind: 'separator' },
        {
          kind: 'action',
          label: texts.signOut,
          mark: <LogOut className="size-3.5 text-faint" aria-hidden />,
          onSelect: () => leave(),
        },
      ]}
    >
      {isCollapsed && <CircleUser className="size-4 text-muted" strokeWidth={1.75} aria-hidden />}
      <SidebarLabel isTooltip={isCollapsed}>{session?.organization.name ?? texts.menu}</SidebarLabel>
      {!isCollapsed && <ChevronsUpDown className="size-3.5 text-faint" aria-hidden />}
    </MenuButton>
  );
}
