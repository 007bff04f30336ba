import { Link } from '@tanstack/react-router';
import type { RehearsalRun } from '../../api/coverage.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/coverage.ts';
import { RelativeTime } from '../time.tsx';

type Result = Omit<RehearsalRun['indicators'][number], 'kind'> & Partial<RehearsalRun['rehearsals'][number]>;

/** The results of a rehearsal, for a technique or a kind of indicator. */
export function Rehearsed({ name, result }: { name: string; result: Result }) {
  const { state, at, events, datasets, sources = [], firedBy, mutedBy } = result;
  return (
    <div className="flex flex-col gap-0.5 border-b py-1.5">
      <span className="flex items-center gap-3">
        <span className={classes('grow', state === 'did_not_fire' && 'text-high')}>{texts.rehearsed[state]}</span>
        <span className="font-mono text-12 text-muted">{name}</span>
        {at !== undefined && (
          <span className="text-12 text-muted">
            <RelativeTime time={at} />
          </span>
        )}
      </span>
      <span className="text-12 text-muted">
        {state === 'no_data' ? texts.noData(sources) : texts.synthetic(events, datasets)}
      </span>
      {firedBy.length > 0 && <DetectionNames title={texts.firedBy} detections={firedBy} />}
      {mutedBy.length > 0 && <DetectionNames title={texts.mutedBy} detections={mutedBy} />}
    </div>
  );
}

const DetectionNames = ({ title, detections }: { title: string; detections: { id: string; name: string }[] }) => (
  <span className="text-12">
    {title}:{' '}
    {detections.map(({ id, name }, n) => (
      <span key={id}>
        {n > 0 && ', '}
        <Link to="/detections/$id" params={{ id }} className="hover:underline">
          {name}
        </Link>
      </span>
    ))}
  </span>
);
