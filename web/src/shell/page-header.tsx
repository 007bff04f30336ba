import { ChevronRight, Menu as MenuIcon } from 'lucide-react';
import { useEffect } from 'react';
import { showText } from '../lib/jsx/show-text.ts';
import { classes } from '../lib/text.ts';
import { texts } from '../texts/common.ts';
import { IconButton } from '../ui/button.tsx';
import { LiveLabel } from '../ui/live.tsx';
import { useShell } from './shell-context.ts';

type Props = {
  title: string;
  /** The title of the browser's tab, if it says more than that of the page. */
  tabTitle?: string | undefined;
  /** A link to the page above this one. */
  parent?: React.ReactNode;
  children?: React.ReactNode;
  /** Links to the pages beside this one. */
  links?: React.ReactNode;
  actions?: React.ReactNode;
};

/**
 * The top of a page: its title, then links and filters, then actions at the right. In a window below 1024 px, or 1920 px beside links, the
 * filters have a line of their own, and below 768 px the links. While a panel covers the list, its filters are hidden. It also sets the title
 * of the browser's tab.
 */
export function PageHeader({ title, tabTitle = title, parent, children, links, actions }: Props) {
  const { openDrawer } = useShell();
  useEffect(() => {
    document.title = showText(`${tabTitle} · ${texts.product}`);
  }, [tabTitle]);
  return (
    <header className="flex min-h-12 shrink-0 flex-wrap items-start gap-x-3 gap-y-1.5 border-b px-4 py-2">
      <IconButton label={texts.menu} onClick={openDrawer} className="-ml-2 md:hidden">
        <MenuIcon className="size-4" aria-hidden />
      </IconButton>
      {parent && (
        <span className="flex h-7 items-center gap-2 text-15 max-md:hidden">
          {parent}
          <ChevronRight className="-mr-1.5 size-3.5 text-faint" aria-hidden />
        </span>
      )}
      <h1
        className={classes(
          'mr-1 min-w-0 truncate text-15 leading-7 font-strong',
          links
            ? 'max-md:grow max-md:basis-0 md:min-w-20'
            : children
              ? 'max-lg:grow max-lg:basis-0 lg:max-w-96'
              : 'grow basis-0',
        )}
      >
        {title}
      </h1>
      {links && <div className="max-md:order-2 max-md:w-full">{links}</div>}
      {children && (
        <div
          className={classes(
            'flex min-h-7 min-w-0 flex-wrap items-center gap-x-2 gap-y-1.5 max-lg:[main:has([data-panel])_&]:hidden',
            links
              ? 'max-2xl:order-3 max-2xl:w-full 2xl:grow 2xl:basis-0'
              : 'max-lg:order-3 max-lg:w-full lg:grow lg:basis-0',
          )}
        >
          {children}
        </div>
      )}
      <div className={classes('ml-auto flex min-h-7 items-center gap-2', links !== undefined && 'max-md:order-1')}>
        <LiveLabel />
        {actions}
      </div>
    </header>
  );
}
