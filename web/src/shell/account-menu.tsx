import { Menu } from '@base-ui/react/menu';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Check, ChevronsUpDown, LogOut } from 'lucide-react';
import { sessionQuery, signOut } from '../api/session.ts';
import { setTheme, themes, useTheme, type Theme } from '../lib/theme.ts';
import { texts } from '../texts/common.ts';

const item = 'flex h-7 items-center justify-between gap-4 rounded-small px-2 outline-none data-highlighted:bg-hover';

/** The organization that is open, the theme, and the way out. */
export function AccountMenu() {
  const theme = useTheme();
  const { data: session } = useQuery(sessionQuery);
  const { mutate: leave } = useMutation({
    mutationFn: signOut,
    // Loads the page anew, so that nothing of the session stays in memory.
    onSettled: () => location.assign('/console/sign-in'),
  });
  return (
    <Menu.Root>
      <Menu.Trigger className="flex h-8 w-full items-center justify-between rounded-control px-2 hover:bg-hover">
        <span className="truncate">{session?.organization.name}</span>
        <ChevronsUpDown className="size-3.5 text-faint" aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner side="top" align="start" sideOffset={4}>
          <Menu.Popup className="min-w-48 rounded-control bg-raised p-1 shadow-float outline-none">
            <Menu.RadioGroup value={theme} onValueChange={(value: Theme) => setTheme(value)}>
              <Menu.Group>
                <Menu.GroupLabel className="px-2 py-1 text-12 text-faint">{texts.theme.label}</Menu.GroupLabel>
                {themes.map((name) => (
                  <Menu.RadioItem key={name} value={name} className={item}>
                    {texts.theme[name]}
                    <Menu.RadioItemIndicator>
                      <Check className="size-3.5 text-accent" aria-hidden />
                    </Menu.RadioItemIndicator>
                  </Menu.RadioItem>
                ))}
              </Menu.Group>
            </Menu.RadioGroup>
            {session?.sessionId && (
              <>
                <Menu.Separator className="my-1 border-t" />
                <Menu.Item className={item} onClick={() => leave()}>
                  {texts.signOut}
                  <LogOut className="size-3.5 text-faint" aria-hidden />
                </Menu.Item>
              </>
            )}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
