import { CheckCircle2, CircleArrowUp, CircleDashed, Pause, TriangleAlert } from 'lucide-react';
import { isWaiting, type RuleSource } from '../../../api/rule-sources.ts';
import { classes } from '../../../lib/text.ts';
import { texts } from '../../../texts/rule-sources.ts';

type State = keyof typeof texts.states;

const looks: Record<State, { icon: typeof CheckCircle2; color: string }> = {
  current: { icon: CheckCircle2, color: 'text-good' },
  update: { icon: CircleArrowUp, color: 'text-accent' },
  failing: { icon: TriangleAlert, color: 'text-bad' },
  disabled: { icon: Pause, color: 'text-faint' },
  waiting: { icon: CircleDashed, color: 'text-muted' },
};

function stateOf(source: RuleSource): State {
  if (source.failure !== null) return 'failing';
  if (isWaiting(source)) return 'waiting';
  if (source.available !== null && source.available !== source.version) return 'update';
  return source.enabled ? 'current' : 'disabled';
}

/** Shows whether a source has a version that was not imported yet, or cannot be read. */
export function RuleSourceState({ source }: { source: RuleSource }) {
  const state = stateOf(source);
  const { icon: Icon, color } = looks[state];
  return (
    <span className="inline-flex items-center gap-1.5 align-top whitespace-nowrap">
      <Icon className={classes('size-3.5', color)} aria-hidden />
      {texts.states[state]}
    </span>
  );
}
