import { Link, type LinkProps } from '@tanstack/react-router';
import type { Overview } from '../../api/overview.ts';
import { formatNumber } from '../../lib/text.ts';
import { texts as page } from '../../texts/overview.ts';
import { HealthLabel, healthStates } from '../../ui/labels/health-label.tsx';
import { Section } from '../../ui/section.tsx';
import { severities, SeverityLabel } from '../../ui/labels/severity.tsx';

/** How many detections are in each state of health. */
export function DetectionCounts({ detections, runs }: Pick<Overview, 'detections' | 'runs'>) {
  const texts = page.detections;
  return (
    <Section level={2} title={texts.title} count={detections.total}>
      {detections.total === 0 && <p className="py-1.5 text-muted">{texts.none}</p>}
      <ul>
        {healthStates.map((health) => (
          <Count
            key={health}
            count={detections.byHealth[health] ?? 0}
            link={{ to: '/detections', search: { health } }}
            isOptional
          >
            <HealthLabel health={health} />
          </Count>
        ))}
        <Count count={runs.running} link={{ to: '/detections', search: { sort: '-lastRunAt' } }} isOptional>
          {texts.running}
        </Count>
        <Count count={runs.queued} link={{ to: '/detections', search: { sort: 'nextRunAt' } }} isOptional>
          {texts.queued}
        </Count>
      </ul>
    </Section>
  );
}

/** The items of the feed by severity, and what is new. */
export function FeedCounts({ feed }: { feed: NonNullable<Overview['feed']> }) {
  const texts = page.feed;
  return (
    <Section level={2} title={texts.title} count={feed.items}>
      <ul>
        {severities.map((severity) => (
          <Count key={severity} count={feed.bySeverity[severity] ?? 0} link={{ to: '/feed', search: { severity } }}>
            <SeverityLabel severity={severity} />
          </Count>
        ))}
      </ul>
      <ul className="border-t pt-2">
        <Count count={feed.newToday} link={{ to: '/feed' }}>
          {texts.newToday}
        </Count>
        <Count count={feed.exposedThisWeek} link={{ to: '/feed', search: { relevancyMode: 'relevant' } }}>
          {texts.exposed}
        </Count>
        <Count count={feed.sources} link={{ to: '/sources' }}>
          {texts.sources}
        </Count>
      </ul>
    </Section>
  );
}

type CountProps = { count: number; link: LinkProps; isOptional?: boolean; children: React.ReactNode };

/** A number that leads to its list. An optional one is left out while it is zero. */
function Count({ count, link, isOptional, children }: CountProps) {
  if (isOptional && count === 0) return null;
  return (
    <li>
      <Link
        {...link}
        className="-mx-2 flex h-7 items-center justify-between gap-3 rounded-control px-2 text-12 hover:bg-hover"
      >
        <span className="min-w-0 truncate">{children}</span>
        <span className={`tabular ${count === 0 ? 'text-faint' : ''}`}>{formatNumber(count)}</span>
      </Link>
    </li>
  );
}
