import { Link } from '@tanstack/react-router';
import { texts as agents } from '../texts/agents.ts';
import { texts as feed } from '../texts/feed.ts';
import { texts as hits } from '../texts/hits.ts';
import { detectionPages, feedPages, hitPages } from './navigation.ts';

type Props = { label: string; pages: typeof feedPages | typeof hitPages | typeof detectionPages };

/** Leads between the pages that belong together. */
function SectionLinks({ label, pages }: Props) {
  return (
    <nav aria-label={label} className="flex items-center gap-0.5 max-md:-ml-2.5">
      {pages.map(({ path, label: text }) => (
        <Link
          key={path}
          to={path}
          className="inline-flex h-7 items-center rounded-control px-2.5 text-muted hover:bg-hover hover:text-ink aria-[current=page]:bg-selected aria-[current=page]:text-ink"
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
