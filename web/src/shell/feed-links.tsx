import { Link } from '@tanstack/react-router';
import { texts } from '../texts/feed.ts';
import { feedPages } from './navigation.ts';

/** Leads between the pages that belong to the feed. */
export function FeedLinks() {
  return (
    <nav aria-label={texts.sections.label} className="flex items-center gap-0.5 max-md:-ml-2.5">
      {feedPages.map(({ path, label }) => (
        <Link
          key={path}
          to={path}
          className="inline-flex h-7 items-center rounded-control px-2.5 text-muted hover:bg-hover hover:text-ink aria-[current=page]:bg-selected aria-[current=page]:text-ink"
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}
