import { Link } from '@tanstack/react-router';
import type { HitContext, HitStatus } from '../../api/hits.ts';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/hits.ts';
import { Section } from '../../ui/section.tsx';
import { ExactTime } from '../../ui/time.tsx';
import { StatusLabel } from './statuses.tsx';

type Entry = HitContext['timeline'][number];

/** From the first event to the last delivery, oldest first. */
export function Timeline({ timeline }: Pick<HitContext, 'timeline'>) {
  return (
    <Section title={texts.timeline}>
      <ol className="flex flex-col gap-1.5 text-12">
        {timeline.map((entry, index) => (
          <li key={`${index} ${entry.at}`} className="flex gap-3">
            <span className="w-36 shrink-0 text-muted">
              <ExactTime time={entry.at} />
            </span>
            <span className="min-w-0 break-words">
              <What entry={entry} />
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function What({ entry: { kind, detail, runId, actor } }: { entry: Entry }) {
  if (kind === 'status') {
    const [status = '', reason] = splitOnce(detail ?? '', ': ');
    return (
      <>
        {Object.hasOwn(texts.status, status) ? <StatusLabel status={status as HitStatus} /> : status}
        {actor !== null && <span className="text-muted"> {common.by(actor)}</span>}
        {reason && <span className="block text-muted">{reason}</span>}
      </>
    );
  }
  if (kind === 'seen' && runId !== null)
    return (
      <Link to="/runs/$id" params={{ id: runId }} className="underline-offset-2 hover:underline">
        {texts.moments.seen}
      </Link>
    );
  return (
    <>
      {texts.moments[kind]}
      {detail && kind !== 'raised' && <span className="block text-muted">{detail}</span>}
    </>
  );
}

function splitOnce(text: string, by: string): [string, string?] {
  const at = text.indexOf(by);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + by.length)];
}
