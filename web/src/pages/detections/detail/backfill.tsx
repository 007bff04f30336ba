import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { estimateBackfill, startBackfill } from '../../../api/detections.ts';
import { ApiProblem } from '../../../api/problem.ts';
import { formatMoney, formatNumber } from '../../../lib/text.ts';
import { texts } from '../../../texts/detection.ts';
import { Button } from '../../../ui/button.tsx';
import { ExactTime } from '../../../ui/time.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import type { TimeRange } from './timeline.tsx';

type Props = { id: string; range: TimeRange; onDone: () => void };

/** Says what a backfill of the selected time would examine, and starts it. */
export function Backfill({ id, range, onDone }: Props) {
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
        <ExactTime time={range.from} /> – <ExactTime time={range.to} />
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
