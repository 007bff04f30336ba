import { useQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import {
  detectionWindowsQuery,
  type TimelineWindow,
  estimateBackfill,
  startBackfill,
} from '../../../api/detections.ts';
import { texts } from '../../../texts/detection.ts';
import { Section } from '../../../ui/section.tsx';
import { SegmentedControl } from '../../../ui/forms/segmented-control.tsx';
import { ErrorState, Skeleton } from '../../../ui/states.tsx';
import { Timeline, type TimeRange } from './timeline.tsx';
import { classes, toWords, formatMoney, formatNumber } from '../../../lib/text.ts';
import { ExactTime, TimeRange as ShownRange } from '../../../ui/time.tsx';
import { ApiProblem } from '../../../api/problem.ts';
import { Button } from '../../../ui/button.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';

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

const shownMax = 50;
type GapProps = { gaps: readonly TimelineWindow[]; selected: TimeRange | null; onSelect: (range: TimeRange) => void };

/** The gaps as a table, the latest first. Choosing one selects its time. */
function GapList({ gaps, selected, onSelect }: GapProps) {
  return (
    <div className="overflow-x-auto rounded-control border">
      <table className="w-full text-12">
        <thead>
          <tr className="border-b text-left text-faint">
            <th className="h-8 px-3 font-normal">{texts.timeline.from}</th>
            <th className="h-8 px-3 font-normal">{texts.timeline.to}</th>
            <th className="h-8 w-full px-3 font-normal">{texts.timeline.reason}</th>
            <th className="h-8 px-3">
              <span className="sr-only">{texts.timeline.selected}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {gaps
            .toReversed()
            .slice(0, shownMax)
            .map(({ from, to, reason, detail }) => (
              <tr key={from} className={classes('border-b last:border-b-0', selected?.from === from && 'bg-selected')}>
                <td className="h-8 px-3">
                  <ExactTime time={from} />
                </td>
                <td className="h-8 px-3">
                  <ExactTime time={to} />
                </td>
                <td className="px-3" title={detail ?? undefined}>
                  {reason && toWords(reason)}
                  {detail && <span className="text-muted"> · {detail}</span>}
                </td>
                <td className="px-3 text-right">
                  <button
                    type="button"
                    onClick={() => onSelect({ from, to })}
                    className="whitespace-nowrap text-accent underline-offset-2 hover:underline"
                  >
                    {texts.timeline.estimate}
                  </button>
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}

type BackfillProps = { id: string; range: TimeRange; onDone: () => void };

/** Says what a backfill of the selected time would examine, and starts it. */
function Backfill({ id, range, onDone }: BackfillProps) {
  const client = useQueryClient();
  const { data, error, isFetching } = useQuery({
    queryKey: ['detections', 'backfill', id, range],
    queryFn: () => estimateBackfill(id, range),
    retry: false,
  });
  // The range has no gap.
  const isExamined = error instanceof ApiProblem && error.code === 'conflict';
  const { mutate, isPending } = useMutation({
    mutationFn: () => startBackfill(id, range),
    onSuccess: () => {
      toasts.add({ title: texts.timeline.started });
      void client.invalidateQueries({ queryKey: ['detections', 'windows', id] });
      onDone();
    },
    onError: ({ message }) => toasts.add({ title: texts.actions.failed, description: message, isError: true }),
  });
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-control border px-3 py-2" aria-live="polite">
      <span>
        <ShownRange from={range.from} to={range.to} />
      </span>
      <span className={error && !isExamined ? 'text-bad' : 'text-muted'}>
        {isExamined
          ? texts.timeline.nothing
          : error
            ? error.message
            : isFetching || !data
              ? '…'
              : data.windows === 0
                ? texts.timeline.nothing
                : [
                    texts.timeline.estimated(data.windows),
                    data.estimate &&
                      texts.timeline.estimatedRows(
                        formatNumber(data.estimate.rows),
                        formatNumber(data.estimate.candidates),
                        formatMoney(data.estimate.costUsd),
                      ),
                  ]
                    .filter(Boolean)
                    .join(': ')}
      </span>
      <span className="ml-auto flex gap-1.5">
        <Button kind="quiet" onClick={onDone}>
          {texts.timeline.cancel}
        </Button>
        <Button kind="primary" disabled={isPending || !data || data.windows === 0} onClick={() => mutate()}>
          {texts.timeline.start}
        </Button>
      </span>
    </div>
  );
}
