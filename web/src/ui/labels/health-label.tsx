import { CheckCircle2, CircleAlert, CircleDashed, CircleOff, CirclePause, OctagonX, TriangleAlert } from 'lucide-react';
import type { DetectionHealth } from '../../api/detections.ts';
import { texts } from '../../texts/detections.ts';
import { IconLabel, type Look } from './icon-label.tsx';

const looks: Record<DetectionHealth, Look> = {
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
  return (
    <IconLabel look={looks[health]} title={texts.healthMeaning[health]}>
      {texts.health[health]}
    </IconLabel>
  );
}
