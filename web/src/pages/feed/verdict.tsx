import { CircleCheck, CircleSlash, Radar } from 'lucide-react';
import type { Relevance } from '../../api/feed.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/feed.ts';

type Verdict = Relevance['verdict'];

const looks: Record<Verdict, { icon: typeof Radar; color: string }> = {
  exposed: { icon: Radar, color: 'text-bad' },
  relevant: { icon: CircleCheck, color: 'text-accent' },
  irrelevant: { icon: CircleSlash, color: 'text-faint' },
};

export function VerdictLabel({ verdict }: { verdict: Verdict }) {
  const { icon: Icon, color } = looks[verdict];
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      <Icon className={classes('size-3.5', color)} aria-hidden />
      {texts.verdict[verdict]}
    </span>
  );
}
