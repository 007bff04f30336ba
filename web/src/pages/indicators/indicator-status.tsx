import { Ban, CircleDot, CircleHelp, Clock, Undo2 } from 'lucide-react';
import type { IndicatorLookup } from '../../api/indicators.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/indicators.ts';
import { IconLabel, type Look } from '../../ui/labels/icon-label.tsx';

type Status = IndicatorLookup['status'];

const looks: Record<Status, Look> = {
  active: { icon: CircleDot, color: 'text-bad' },
  expired: { icon: Clock, color: 'text-muted' },
  revoked: { icon: Undo2, color: 'text-muted' },
  false_positive: { icon: Ban, color: 'text-muted' },
  unknown: { icon: CircleHelp, color: 'text-faint' },
};

export function IndicatorStatus({ status }: { status: Status }) {
  return (
    <IconLabel look={looks[status]} className={classes('whitespace-nowrap', status === 'unknown' && 'text-muted')}>
      {texts.statuses[status]}
    </IconLabel>
  );
}
