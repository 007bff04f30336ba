import { Ban, CircleDot, CircleHelp, Clock, Undo2 } from 'lucide-react';
import type { IndicatorLookup } from '../../api/indicators.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/indicators.ts';

type Status = IndicatorLookup['status'];

const looks: Record<Status, { icon: typeof Ban; color: string }> = {
  active: { icon: CircleDot, color: 'text-bad' },
  expired: { icon: Clock, color: 'text-muted' },
  revoked: { icon: Undo2, color: 'text-muted' },
  false_positive: { icon: Ban, color: 'text-muted' },
  unknown: { icon: CircleHelp, color: 'text-faint' },
};

export function IndicatorStatus({ status }: { status: Status }) {
  const { icon: Icon, color } = looks[status];
  return (
    <span
      className={classes(
        'inline-flex items-center gap-1.5 align-top whitespace-nowrap',
        status === 'unknown' && 'text-muted',
      )}
    >
      <Icon className={classes('size-3.5', color)} aria-hidden />
      {texts.statuses[status]}
    </span>
  );
}
