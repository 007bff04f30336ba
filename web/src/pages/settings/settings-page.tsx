import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useCurrentInView } from '../../lib/use-current-in-view.ts';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts } from '../../texts/settings.ts';

const sections = Object.entries(texts.sections) as [keyof typeof texts.sections, string][];

/** The settings: a list of sections, and the open one beside it. */
export function SettingsPage() {
  const { pathname } = useLocation();
  const row = useCurrentInView<HTMLElement>(pathname);
  const title = sections.find(([section]) => pathname.endsWith(section))?.[1] ?? texts.title;
  return (
    <>
      <PageHeader title={texts.title} />
      <div className="flex min-h-0 grow max-lg:flex-col">
        <nav
          ref={row}
          aria-label={texts.title}
          className="flex shrink-0 gap-px p-2 max-lg:overflow-x-auto max-lg:border-b lg:w-48 lg:flex-col lg:border-r"
        >
          {sections.map(([section, label]) => (
            <Link
              key={section}
              to={`/settings/${section}`}
              className="flex h-7 shrink-0 items-center rounded-control px-2 whitespace-nowrap text-muted hover:bg-hover hover:text-ink aria-[current=page]:bg-selected aria-[current=page]:text-ink"
            >
              {label}
            </Link>
          ))}
        </nav>
        <div
          className="min-h-0 min-w-0 grow overflow-y-auto"
          tabIndex={0}
          role="region"
          aria-label={`${texts.title}: ${title}`}
        >
          <div className="mx-auto flex max-w-[56rem] flex-col gap-6 px-4 py-6 md:px-8">
            <Outlet />
          </div>
        </div>
      </div>
    </>
  );
}
