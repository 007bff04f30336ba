import { Link } from '@tanstack/react-router';
import type { Run } from '../../api/runs.ts';
import { texts as all } from '../../texts/agents.ts';
import { texts as common } from '../../texts/common.ts';
import { texts as runs } from '../../texts/runs.ts';
import { Section } from '../../ui/section.tsx';

const texts = all.response;

/** What a response agent was started with, and where its proposals are. */
export function ResponseEvent({ run }: { run: Run }) {
  const { event, customInstructions: question } = run;
  const inputs = Object.entries(event?.inputs ?? {});
  const pairs: [string, React.ReactNode][] = [
    [texts.startedBy, all.sources[event?.source ?? 'manual'] + (run.actor === null ? '' : ` ${common.by(run.actor)}`)],
    [
      texts.about,
      event?.hitId && (
        <Link to="/hits/$id" params={{ id: event.hitId }} className="underline underline-offset-2">
          {texts.theHit}
        </Link>
      ),
    ],
    [
      texts.of,
      event?.incidentId && (
        <Link to="/incidents/$id" params={{ id: event.incidentId }} className="underline underline-offset-2">
          {texts.theIncident}
        </Link>
      ),
    ],
    [texts.question, question],
    ...inputs.map(([name, value]): [string, React.ReactNode] => [name, String(value)]),
  ];
  return (
    <Section
      level={2}
      title={texts.title}
      actions={
        <Link to="/approvals" search={{ agent: run.detectionId }} className="text-12 text-muted hover:text-ink">
          {texts.proposals}
        </Link>
      }
    >
      <dl aria-label={runs.columns.trigger} className="grid grid-cols-[8rem_minmax(0,1fr)] gap-x-3 gap-y-1.5">
        {pairs
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="wrap-anywhere text-muted">{name}</dt>
              <dd className="min-w-0 max-w-[72ch] wrap-anywhere whitespace-pre-wrap">{value}</dd>
            </div>
          ))}
      </dl>
    </Section>
  );
}
