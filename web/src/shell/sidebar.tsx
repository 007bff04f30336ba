import { Link } from '@tanstack/react-router';
import { texts } from '../texts/common.ts';
import { AccountMenu } from './account-menu.tsx';
import { Logo } from '../ui/logo.tsx';
import { modifierKey } from '../lib/modifier-key.ts';
import { Key } from '../ui/key.tsx';
import { pages } from './navigation.ts';

type Props = { onNavigate?: () => void; onSearch: () => void };

/** Where everything is. It fills its container: the left column, or the drawer of a narrow window. */
export function Sidebar({ onNavigate, onSearch }: Props) {
  return (
    <header className="flex h-full w-52 flex-col gap-1 p-2">
      <div className="flex h-9 items-center gap-2 px-2 text-15 font-strong">
        <Logo className="size-4.5" />
        {texts.product}
      </div>
      <button
        onClick={onSearch}
        className="mb-2 flex h-7 items-center justify-between rounded-control border border-line bg-surface px-2 text-faint hover:text-muted"
      >
        {texts.searchShort}
        <span className="flex gap-0.5" aria-hidden>
          <Key>{modifierKey}</Key>
          <Key>K</Key>
        </span>
      </button>
      <nav aria-label={texts.pageList} className="flex flex-col gap-px">
        {pages.map(({ path, label, icon: Icon }) => (
          <Link
            key={path}
            to={path}
            activeOptions={{ includeSearch: false, exact: path === '/' }}
            {...(onNavigate ? { onClick: onNavigate } : {})}
            className="flex h-7 items-center gap-2.5 rounded-control px-2 text-muted hover:bg-hover hover:text-ink aria-[current=page]:bg-selected aria-[current=page]:font-strong aria-[current=page]:text-ink"
          >
            <Icon className="size-4" strokeWidth={1.75} aria-hidden />
            {label}
          </Link>
        ))}
      </nav>
      <div className="mt-auto">
        <AccountMenu />
      </div>
    </header>
  );
}
