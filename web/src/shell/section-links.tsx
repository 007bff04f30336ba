import { Link } from '@tanstack/react-router';
import { texts as agents } from '../texts/agents.ts';
import { texts as feed } from '../texts/feed.ts';
import { texts as hits } from '../texts/hits.ts';
import { detectionPages, feedPages, hitPages } from './navigation.ts';

type Props = { label: string; pages: typeof feedPages | typeof hitPages | typeof detectionPages };

/** Leads between the pages that belong together. */
function SectionLinks({ label, pages }: Props) {
  return (
    <nav aria-label={label} className="flex min-w-0 items-center gap-0.5 overflow-x-auto max-md:-ml-2 max-md:gap-0">
      {pages.map(({ path, label: text }) => (
        <Link
          key={path}
          to={path}
          className="inline-flex h-7 shrink-0 items-center rounded-control px-2.5 text-muted max-md:px-2 hover:bg-hover hover:text-ink aria-[current=page]:bg-selected aria-[current=page]:text-ink"
        >
          {text}
        </Link>
      ))}
    </nav>
  );
}

export const FeedLinks = () => <SectionLinks label={feed.sections.label} pages={feedPages} />;
export const HitLinks = () => <SectionLinks label={hits.sections} pages={hitPages} />;
export const DetectionLinks = () => <SectionLinks label={agents.sections} pages={detectionPages} />;
