import { useQuery } from '@tanstack/react-query';
import { continuousQuery } from '../../../api/detections.ts';
import { useNow } from '../../../lib/now.ts';
import { formatNumber } from '../../../lib/text.ts';
import { texts as detection } from '../../../texts/detection.ts';
import { Figures } from '../../../ui/charts/figures.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Section } from '../../../ui/section.tsx';
import { ErrorState } from '../../../ui/states.tsx';
import { RelativeTime } from '../../../ui/time.tsx';

const texts = detection.continuous;
/** Events that wait longer mean that the matcher cannot keep up. */
const lagMs = 60_000;

/** How events are matched when they arrive, or why not. */
export function ContinuousFigures({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(continuousQuery(id));
  const now = useNow();
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return null;
  const { latencyMs, matchedAt, waitingSince } = data;
  const lags = waitingSince !== null && now - Date.parse(waitingSince) > lagMs;
  return (
    <Section level={2} title={texts.title}>
      {data.reason !== null && (
        <Notice kind="warning" title={texts.states[data.state]}>
          {data.reason}
        </Notice>
      )}
      {lags && (
        <Notice kind="warning" title={texts.lags}>
          {texts.lagsHint}
        </Notice>
      )}
      {data.missed > 0 && <Notice kind="warning" title={texts.missed(data.missed)} />}
      {data.expensive && <p className="text-12 text-muted">{texts.expensive}</p>}
      <Figures
        figures={[
          { label: texts.figures.events, value: formatNumber(data.events) },
          {
            label: texts.figures.latency,
            value: latencyMs === null ? '–' : texts.seconds(latencyMs / 1000),
            hint: texts.figures.latencyHint,
          },
          { label: texts.figures.matchedAt, value: matchedAt === null ? '–' : <RelativeTime time={matchedAt} /> },
          {
            label: texts.figures.waiting,
            value: waitingSince === null ? texts.nothingWaits : <RelativeTime time={waitingSince} />,
          },
        ]}
      />
    </Section>
  );
}
