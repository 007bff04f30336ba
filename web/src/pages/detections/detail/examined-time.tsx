import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { detectionWindowsQuery } from '../../../api/detections.ts';
import { texts } from '../../../texts/detection.ts';
import { Section } from '../../../ui/section.tsx';
import { SegmentedControl } from '../../../ui/forms/segmented-control.tsx';
import { ErrorState, Skeleton } from '../../../ui/states.tsx';
import { Backfill } from './backfill.tsx';
import { Timeline, type TimeRange } from './timeline.tsx';
import { GapList } from './gap-list.tsx';

const route = getRouteApi('/shell/detections/$id');

type Props = { id: string; days: string };

/** The time line of a detection, and the backfill of what was not examined. */
export function ExaminedTime({ id, days }: Props) {
  const navigate = route.useNavigate();
  const [selected, setSelected] = useState<TimeRange | null>(null);
  const { data, error, refetch } = useQuery(detectionWindowsQuery(id, Number(days)));
  const gaps = data?.windows.filter(({ state }) => state === 'gap') ?? [];
  return (
    <Section
      level={2}
      title={texts.timeline.title}
      actions={
        <SegmentedControl
          label={texts.timeline.range}
          options={texts.timeline.ranges}
          value={days}
          onChange={(range) => {
            setSelected(null);
            void navigate({ search: (search) => ({ ...search, days: range }), replace: true });
          }}
        />
      }
    >
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Skeleton className="h-20" />
      ) : data.coverageFrom === null ? (
        <p className="text-muted">{texts.timeline.never}</p>
      ) : (
        <>
          <Timeline
            range={data}
            windows={data.windows}
            coverageFrom={data.coverageFrom}
            selected={selected}
            onSelect={setSelected}
          />
          <p className="text-12 text-muted">
            {texts.timeline.summary(gaps.length)} {!data.isComplete && texts.timeline.incomplete}{' '}
            {gaps.length > 0 && !selected && texts.timeline.select}
          </p>
          {selected && <Backfill id={id} range={selected} onDone={() => setSelected(null)} />}
          {gaps.length > 0 && <GapList gaps={gaps} selected={selected} onSelect={setSelected} />}
        </>
      )}
    </Section>
  );
}
