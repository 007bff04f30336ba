import { CheckCircle2, CircleAlert, CircleDashed, CircleOff, CirclePause, OctagonX, TriangleAlert } from 'lucide-react';
import type { DetectionHealth } from '../../api/detections.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/detections.ts';

const looks: Record<DetectionHealth, { icon: typeof OctagonX; color: string }> = {
  stopped: { icon: OctagonX, color: 'text-bad' },
  failing: { icon: CircleAlert, color: 'text-bad' },
  paused: { icon: CirclePause, color: 'text-medium' },
  gap: { icon: CircleDashed, color: 'text-high' },
  warning: { icon: TriangleAlert, color: 'text-medium' },
  healthy: { icon: CheckCircle2, color: 'text-good' },
  disabled: { icon: CircleOff, color: 'text-faint' },
};

export const healthStates = Object.keys(looks) as DetectionHealth[];

export function HealthLabel({ health }: { health: DetectionHealth }) {
  const { icon: Icon, color } = looks[health];
  return (
    <span className="inline-flex items-center gap-1.5 align-top" title={texts.healthMeaning[health]}>
      <Icon className={classes('size-3.5 shrink-0', color)} aria-hidden />
      {texts.health[health]}
    </span>
  );
}
