import { ChevronRight, Menu as MenuIcon } from 'lucide-react';
import { useEffect } from 'react';
import { classes } from '../lib/text.ts';
import { texts } from '../texts/common.ts';
import { IconButton } from '../ui/button.tsx';
import { useShell } from './shell-context.ts';

type Props = {
  title: string;
  /** A link to the page above this one. */
  parent?: React.ReactNode;
  children?: React.ReactNode;
  /** Links to the pages beside this one. */
  links?: React.ReactNode;
  actions?: React.ReactNode;
};

/**
 * The top of a page: its title, then filters, then links and actions at the right. In a window below 1024 px the filters, and below 768 px
 * the links, have a line of their own. It also sets the title of the browser's tab.
 */
export function PageHeader({ title, parent, children, links, actions }: Props) {
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
      <h1
        className={classes(
          'mr-1 min-w-0 truncate text-15 font-strong',
          children ? 'max-lg:grow max-lg:basis-0 lg:max-w-96' : 'grow basis-0',
        )}
      >
        {title}
      </h1>
      {children && (
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1.5 max-lg:order-3 max-lg:w-full">
          {children}
        </div>
      )}
      {links && <div className="ml-auto max-md:order-2 max-md:w-full">{links}</div>}
      {actions && (
        <div className={classes('flex items-center gap-2', links ? 'max-md:order-1 max-md:ml-auto' : 'ml-auto')}>
          {actions}
        </div>
      )}
    </header>
  );
}
