import { Command } from 'cmdk';
import { Dialog } from '@base-ui/react/dialog';
import { useNavigate } from '@tanstack/react-router';
import { setTheme, themes } from '../lib/theme.ts';
import { texts } from '../texts/common.ts';
import { pages } from './navigation.ts';

const item = 'flex h-8 items-center gap-2.5 rounded-small px-2 data-[selected=true]:bg-selected';
const group =
  '[&>[cmdk-group-heading]]:px-2 [&>[cmdk-group-heading]]:py-1.5 [&>[cmdk-group-heading]]:text-12 [&>[cmdk-group-heading]]:text-faint';

/** Finds pages and actions by typing. */
export default function CommandPalette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const choose = (action: () => void) => () => {
    onClose();
    action();
  };
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 bg-scrim" />
        <Dialog.Popup
          aria-label={texts.search}
          className="fixed top-[14vh] left-1/2 w-[min(36rem,calc(100vw-2rem))] -translate-x-1/2 rounded-control bg-raised shadow-float"
        >
          <Command loop>
            <Command.Input
              autoFocus
              placeholder={texts.search}
              className="h-11 w-full border-b bg-transparent px-4 text-15 outline-none placeholder:text-faint"
            />
            <Command.List className="max-h-80 overflow-y-auto p-1.5">
              <Command.Empty className="p-6 text-center text-muted">{texts.nothingFound}</Command.Empty>
              <Command.Group heading={texts.goTo} className={group}>
                {pages.map(({ path, label, icon: Icon }) => (
                  <Command.Item key={path} className={item} onSelect={choose(() => void navigate({ to: path }))}>
                    <Icon className="size-4 text-muted" strokeWidth={1.75} aria-hidden />
                    {label}
                  </Command.Item>
                ))}
              </Command.Group>
              <Command.Group heading={texts.theme.label} className={group}>
                {themes.map((theme) => (
                  <Command.Item key={theme} className={item} onSelect={choose(() => setTheme(theme))}>
                    {`${texts.theme.label}: ${texts.theme[theme]}`}
                  </Command.Item>
                ))}
              </Command.Group>
            </Command.List>
          </Command>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
