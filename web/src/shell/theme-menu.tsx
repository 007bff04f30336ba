import { Menu } from '@base-ui/react/menu';
import { Check, Monitor, Moon, Sun } from 'lucide-react';
import { setTheme, themes, useTheme, type Theme } from '../lib/theme.ts';
import { texts } from '../texts/common.ts';

const icons = { system: Monitor, light: Sun, dark: Moon };

export function ThemeMenu() {
  const theme = useTheme();
  const Icon = icons[theme];
  return (
    <Menu.Root>
      <Menu.Trigger className="flex h-7 w-full items-center gap-2.5 rounded-control px-2 text-muted hover:bg-hover hover:text-ink">
        <Icon className="size-4" strokeWidth={1.75} aria-hidden />
        {texts.theme.label}
        <span className="ml-auto text-12 text-faint">{texts.theme[theme]}</span>
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner side="top" align="start" sideOffset={4}>
          <Menu.Popup className="min-w-40 rounded-control bg-raised p-1 shadow-float">
            <Menu.RadioGroup value={theme} onValueChange={(value: Theme) => setTheme(value)}>
              {themes.map((name) => (
                <Menu.RadioItem
                  key={name}
                  value={name}
                  className="flex h-7 items-center justify-between rounded-small px-2 data-highlighted:bg-hover"
                >
                  {texts.theme[name]}
                  <Menu.RadioItemIndicator>
                    <Check className="size-3.5 text-accent" aria-hidden />
                  </Menu.RadioItemIndicator>
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
