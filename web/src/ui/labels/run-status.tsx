import { Ban, CircleCheck, CircleX, Clock, Loader } from 'lucide-react';
import type { Run } from '../../api/runs.ts';
import { texts } from '../../texts/runs.ts';
import { IconLabel, type Look } from './icon-label.tsx';

const looks: Record<Run['status'], Look> = {
  queued: { icon: Clock, color: 'text-faint' },
  running: { icon: Loader, color: 'text-accent' },
  completed: { icon: CircleCheck, color: 'text-good' },
  failed: { icon: CircleX, color: 'text-bad' },
  cancelled: { icon: Ban, color: 'text-faint' },
};

/** Shows the status of a run, and of a running one what it does. */
export function RunStatusLabel({ run: { status, phase } }: { run: Pick<Run, 'status' | 'phase'> }) {
  return <IconLabel look={looks[status]}>{phase === null ? texts.status[status] : texts.phase[phase]}</IconLabel>;
}
