import { Ban, Check, CircleDot, CircleSlash, Clock } from 'lucide-react';
import type { HitStatus } from '../../api/hits.ts';
import { texts } from '../../texts/hits.ts';
import { IconLabel, type Look } from '../../ui/labels/icon-label.tsx';

/** The statuses in the order of their keys: `1` to `5`. */
export const statusKeys: readonly HitStatus[] = ['true_positive', 'false_positive', 'benign', 'outdated', 'open'];

const looks: Record<HitStatus, Look> = {
  open: { icon: CircleDot, color: 'text-accent' },
  true_positive: { icon: Check, color: 'text-bad' },
  false_positive: { icon: Ban, color: 'text-muted' },
  benign: { icon: CircleSlash, color: 'text-good' },
  outdated: { icon: Clock, color: 'text-faint' },
};

export function StatusLabel({ status }: { status: HitStatus }) {
  return <IconLabel look={looks[status]}>{texts.status[status]}</IconLabel>;
}
