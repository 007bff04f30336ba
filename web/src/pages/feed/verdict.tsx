import { CircleCheck, CircleSlash, Radar } from 'lucide-react';
import type { Relevance } from '../../api/feed.ts';
import { texts } from '../../texts/feed.ts';
import { IconLabel, type Look } from '../../ui/labels/icon-label.tsx';

type Verdict = Relevance['verdict'];

const looks: Record<Verdict, Look> = {
  exposed: { icon: Radar, color: 'text-bad' },
  relevant: { icon: CircleCheck, color: 'text-accent' },
  irrelevant: { icon: CircleSlash, color: 'text-faint' },
};

export function VerdictLabel({ verdict }: { verdict: Verdict }) {
  return (
    <IconLabel look={looks[verdict]} className="whitespace-nowrap">
      {texts.verdict[verdict]}
    </IconLabel>
  );
}
