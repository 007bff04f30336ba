import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { CircleCheck, CircleDashed } from 'lucide-react';
import { connectionsQuery } from '../../api/connections.ts';
import { datasetsQuery } from '../../api/logs.ts';
import type { Overview } from '../../api/overview.ts';
import { texts as page } from '../../texts/overview.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Section } from '../../ui/section.tsx';

const texts = page.start;

/** The first steps of a new organization. */
export function FirstSteps({ overview }: { overview: Overview }) {
  const { data: logs } = useQuery(datasetsQuery);
  const { data: connections } = useQuery(connectionsQuery);
  const hasLogs = (logs?.datasets.length ?? 0) > 0 || (connections?.some(({ kind }) => kind !== 'local') ?? false);
  const steps: { text: (typeof texts)['logs']; isDone: boolean; link: LinkProps }[] = [
    { text: texts.logs, isDone: hasLogs, link: { to: '/settings/sources' } },
    {
      text: texts.detections,
      isDone: overview.detections.total > 0,
      link: { to: '/rule-sources', search: { source: 'new' } },
    },
    { text: texts.feed, isDone: (overview.feed?.items ?? 0) > 0, link: { to: '/sources', search: { source: 'new' } } },
  ];
  return (
    <Section level={2} title={texts.title}>
      <p className="text-muted">{texts.intro}</p>
      <ol className="divide-y rounded-control border">
        {steps.map(({ text, isDone, link }) => (
          <li key={text.title} className="flex flex-wrap items-center gap-x-3 gap-y-2 px-3 py-2.5">
            {isDone ? (
              <CircleCheck className="size-4 text-good" role="img" aria-label={texts.done} />
            ) : (
              <CircleDashed className="size-4 text-faint" aria-hidden />
            )}
            <div className="min-w-0 grow basis-60">
              <p className="font-strong">{text.title}</p>
              <p className="text-muted">{text.body}</p>
            </div>
            <Link {...link} className={buttonClass('secondary')}>
              {text.action}
            </Link>
          </li>
        ))}
      </ol>
    </Section>
  );
}
