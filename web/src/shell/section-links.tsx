import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { incidentInboxQuery } from '../api/incidents.ts';
import { sessionQuery } from '../api/session.ts';
import { texts } from '../texts/common.ts';
import { detectionPages, feedPages, hitPages } from './navigation.ts';

type Props = {
  label: string;
  pages: typeof feedPages | typeof hitPages | typeof detectionPages;
  /** What waits for the reader, by the address of the page. */
  waiting?: Readonly<Record<string, number>>;
};

/** Leads between the pages that belong together. */
function SectionLinks({ label, pages, waiting = {} }: Props) {
  return (
    <nav aria-label={label} className="flex min-w-0 items-center gap-0.5 overflow-x-auto max-md:-ml-2 max-md:gap-0">
      {pages.map(({ path, label: text }) => (
        <Link
          key={path}
          to={path}
          className="inline-flex h-7 shrink-0 items-center rounded-control px-2.5 text-muted max-md:px-2 hover:bg-hover hover:text-ink aria-[current=page]:bg-selected aria-[current=page]:text-ink"
        >
          {text}{' '}
          {(waiting[path] ?? 0) > 0 && <span className="tabular ml-1.5 text-12 text-accent">{waiting[path]}</span>}
        </Link>
      ))}
    </nav>
  );
}

export const FeedLinks = () => <SectionLinks label={texts.sections.feed} pages={feedPages} />;

/** The pages of hits, with the number of incidents that mention the reader. */
export function HitLinks() {
  const { data: session } = useQuery(sessionQuery);
  const canRead = session?.scopes.includes('hits:read') ?? false;
  const { data: inbox } = useQuery({ ...incidentInboxQuery, enabled: canRead });
  return (
    <SectionLinks label={texts.sections.hits} pages={hitPages} waiting={{ '/incidents': inbox?.mentioned ?? 0 }} />
  );
}

export const DetectionLinks = () => <SectionLinks label={texts.sections.detections} pages={detectionPages} />;
