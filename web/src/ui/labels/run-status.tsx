import { Ban, CircleCheck, CircleX, Clock, Loader } from 'lucide-react';
import type { Run } from '../../api/runs.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/runs.ts';

const looks: Record<Run['status'], { icon: typeof Ban; color: string }> = {
  queued: { icon: Clock, color: 'text-faint' },
  running: { icon: Loader, color: 'text-accent' },
  completed: { icon: CircleCheck, color: 'text-good' },
  failed: { icon: CircleX, color: 'text-bad' },
  cancelled: { icon: Ban, color: 'text-faint' },
};

/** Shows the status of a run, and of a running one what it does. */
export function RunStatusLabel({ run: { status, phase } }: { run: Pick<Run, 'status' | 'phase'> }) {
  const { icon: Icon, color } = looks[status];
  return (
    <span className="inline-flex items-center gap-1.5 align-top">
      <Icon className={classes('size-3.5 shrink-0', color)} aria-hidden />
      {phase === null ? texts.status[status] : texts.phase[phase]}
    </span>
  );
}
