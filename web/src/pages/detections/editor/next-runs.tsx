import { Cron } from 'croner';
import { toString as toSentence } from 'cronstrue';
import { useId } from 'react';
import { formatLocal } from '../../../lib/time.ts';
import { texts } from '../../../texts/editor.ts';
import { ExactTime } from '../../../ui/time.tsx';

type Schedule = { sentence: string; next: Date[] };

/** Reads a cron expression of five fields. Null if it is not valid or the time zone is unknown. */
function readSchedule(cron: string, timezone: string): Schedule | null {
  try {
    const job = new Cron(cron.trim(), { mode: '5-part', timezone: timezone.trim() || 'UTC', paused: true });
    return { sentence: toSentence(cron.trim(), { use24HourTimeFormat: true }), next: job.nextRuns(5) };
  } catch {
    return null;
  }
}

/** A schedule in words, with its next five runs in the viewer's time zone. */
export default function NextRuns({ cron, timezone }: { cron: string; timezone: string }) {
  const label = useId();
  const schedule = readSchedule(cron, timezone);
  if (!schedule) return <p className="text-12 text-bad">{texts.badCron}</p>;
  return (
    <div className="flex flex-col gap-1.5 text-12">
      <p>
        {schedule.sentence} ({timezone.trim() || 'UTC'})
      </p>
      <p id={label} className="text-muted">
        {texts.nextRuns}
      </p>
      <ol className="flex flex-wrap gap-1.5" aria-labelledby={label}>
        {schedule.next.map((time) => (
          <li key={formatLocal(time.toISOString())} className="rounded-small border px-1.5">
            <ExactTime time={time.toISOString()} />
          </li>
        ))}
      </ol>
    </div>
  );
}
