import { classes } from '../../lib/text.ts';
import { texts as page } from '../../texts/overview.ts';
import { Section } from '../../ui/section.tsx';
import { SeverityMark } from '../../ui/labels/severity.tsx';
import { LiveLabel } from '../../ui/live/live-label.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { toEventRows } from './event-rows.ts';
import { LinkRow } from './link-row.tsx';
import { useLiveEvents } from './use-live-events.ts';

const texts = page.activity;

/** Current and recent activity. */
export function Activity() {
  const { events, labels, isLive } = useLiveEvents();
  return (
    <Section level={2} title={texts.title} actions={<LiveLabel isLive={isLive} />}>
      {events === null ? (
        <div className="flex flex-col gap-3 py-1.5">
          <Skeleton className="h-8" />
          <Skeleton className="h-8" />
        </div>
      ) : events.length === 0 ? (
        <p className="text-muted">{texts.none}</p>
      ) : (
        <ul>
          {toEventRows(events, labels).map(({ key, title, detail, at, severity, isBad, link }) => (
            <LinkRow
              key={key}
              link={link}
              icon={
                <span className="flex w-3 justify-center">
                  {severity ? (
                    <SeverityMark severity={severity} />
                  ) : (
                    <span
                      className={classes('size-1.5 rounded-full', isBad ? 'bg-bad' : 'bg-line-strong')}
                      aria-hidden
                    />
                  )}
                </span>
              }
              title={title}
              detail={detail}
              end={<RelativeTime time={at} />}
            />
          ))}
        </ul>
      )}
    </Section>
  );
}
