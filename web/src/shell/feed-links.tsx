import { Link } from '@tanstack/react-router';
import { texts } from '../texts/feed.ts';

const links = [
  { to: '/feed', label: texts.sections.items },
  { to: '/entities', label: texts.sections.entities },
  { to: '/indicators', label: texts.sections.indicators },
  { to: '/sources', label: texts.sections.sources },
] as const;

/** Leads between the pages that belong to the feed. */
export function FeedLinks() {
  return (
    <nav aria-label={texts.sections.label} className="flex items-center gap-0.5 max-md:-ml-2.5">
      {links.map(({ to, label }) => (
        <Link
          key={to}
          to={to}
          className="inline-flex h-7 items-center rounded-control px-2.5 text-muted hover:bg-hover hover:text-ink aria-[current=page]:bg-selected aria-[current=page]:text-ink"
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
