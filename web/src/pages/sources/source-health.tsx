import { CheckCircle2, CircleDashed, Pause, TriangleAlert, VolumeX } from 'lucide-react';
import type { Source } from '../../api/sources.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/sources.ts';

type State = keyof typeof texts.states;

const looks: Record<State, { icon: typeof CheckCircle2; color: string }> = {
  healthy: { icon: CheckCircle2, color: 'text-good' },
  failing: { icon: TriangleAlert, color: 'text-bad' },
  silent: { icon: VolumeX, color: 'text-high' },
  disabled: { icon: Pause, color: 'text-faint' },
  waiting: { icon: CircleDashed, color: 'text-muted' },
};

function stateOf({ enabled, failures, silentSince, lastPullAt }: Source): State {
  if (!enabled) return 'disabled';
  if (failures > 0) return 'failing';
  if (silentSince !== null) return 'silent';
  return lastPullAt === null ? 'waiting' : 'healthy';
}

/** Shows whether a source delivers. Silent: its pulls work, and nothing new has come for unusually long. */
export function SourceHealth({ source }: { source: Source }) {
  const state = stateOf(source);
  const { icon: Icon, color } = looks[state];
  return (
    <span className="inline-flex items-center gap-1.5 align-top whitespace-nowrap">
      <Icon className={classes('size-3.5', color)} aria-hidden />
      {texts.states[state]}
    </span>
  );
}
