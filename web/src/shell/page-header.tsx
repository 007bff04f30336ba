import { Menu as MenuIcon } from 'lucide-react';
import { useEffect } from 'react';
import { texts } from '../texts/common.ts';
import { IconButton } from '../ui/button.tsx';
import { useShell } from './shell-context.ts';

type Props = { title: string; children?: React.ReactNode; actions?: React.ReactNode };

/** The top line of a page: its title, then filters, then its actions at the right. It also names the browser's tab. */
export function PageHeader({ title, children, actions }: Props) {
  const { openDrawer } = useShell();
  useEffect(() => {
    document.title = `${title} · ${texts.product}`;
  }, [title]);
  return (
    <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b px-4 py-2">
      <IconButton label={texts.menu} onClick={openDrawer} className="-ml-2 md:hidden">
        <MenuIcon className="size-4" aria-hidden />
      </IconButton>
      <h1 className="mr-1 text-15 font-strong">{title}</h1>
      {children}
      {actions && <div className="ml-auto flex items-center gap-2">{actions}</div>}
    </header>
  );
}
