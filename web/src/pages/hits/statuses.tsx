import { Ban, Check, CircleDot, CircleSlash, Clock } from 'lucide-react';
import type { HitStatus } from '../../api/hits.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/hits.ts';

/** The statuses in the order of their keys: `1` to `5`. */
export const statusKeys: readonly HitStatus[] = ['true_positive', 'false_positive', 'benign', 'outdated', 'open'];

const looks: Record<HitStatus, { icon: typeof Check; color: string }> = {
  open: { icon: CircleDot, color: 'text-accent' },
  true_positive: { icon: Check, color: 'text-bad' },
  false_positive: { icon: Ban, color: 'text-muted' },
  benign: { icon: CircleSlash, color: 'text-good' },
  outdated: { icon: Clock, color: 'text-faint' },
};

export function StatusLabel({ status }: { status: HitStatus }) {
  const { icon: Icon, color } = looks[status];
  return (
    <span className="inline-flex items-center gap-1.5">
      <Icon className={classes('size-3.5', color)} aria-hidden />
      {texts.status[status]}
    </span>
  );
}
