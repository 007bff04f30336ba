import { useMutation, useQuery } from '@tanstack/react-query';
import { ChevronsUpDown, CircleUser, LogOut } from 'lucide-react';
import { sessionQuery, signOut } from '../api/session.ts';
import { basePath } from '../lib/base-path.ts';
import { setTheme, themes, useTheme, type Theme } from '../lib/theme.ts';
import { texts } from '../texts/common.ts';
import { SidebarLabel } from './sidebar-label.tsx';
import { MenuButton } from '../ui/overlays/menu-button.tsx';

/** The organization that is open, the theme, and the way out. */
export function AccountMenu({ isCollapsed }: { isCollapsed: boolean }) {
  const theme = useTheme();
  const { data: session } = useQuery(sessionQuery);
  const { mutate: leave } = useMutation({
    mutationFn: signOut,
    // Loads the page anew, so that nothing of the session stays in memory.
    onSettled: () => location.assign(`${basePath}/console/sign-in`),
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
