import { ChevronRight, Menu as MenuIcon } from 'lucide-react';
import { useEffect } from 'react';
import { texts } from '../texts/common.ts';
import { IconButton } from '../ui/button.tsx';
import { useShell } from './shell-context.ts';

type Props = {
  title: string;
  /** A link to the page above this one. */
  parent?: React.ReactNode;
  children?: React.ReactNode;
  actions?: React.ReactNode;
};

/** The top line of a page: its title, then filters, then its actions at the right. It also names the browser's tab. */
export function PageHeader({ title, parent, children, actions }: Props) {
  const { openDrawer } = useShell();
  useEffect(() => {
    document.title = `${title} · ${texts.product}`;
  }, [title]);
  return (
    <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-x-3 gap-y-1.5 border-b px-4 py-2">
      <IconButton label={texts.menu} onClick={openDrawer} className="-ml-2 md:hidden">
        <MenuIcon className="size-4" aria-hidden />
      </IconButton>
      {parent && (
        <span className="flex items-center gap-2 text-15 max-md:hidden">
          {parent}
          <ChevronRight className="-mr-1.5 size-3.5 text-faint" aria-hidden />
        </span>
      )}
      <h1 className="mr-1 min-w-0 truncate text-15 font-strong max-md:grow max-md:basis-0">{title}</h1>
      {children && (
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1.5 max-md:order-last max-md:w-full">
          {children}
        </div>
      )}
      {actions && <div className="ml-auto flex items-center gap-2">{actions}</div>}
    </header>
  );
}
