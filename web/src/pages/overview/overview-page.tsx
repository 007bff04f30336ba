import { useQuery } from '@tanstack/react-query';
import { overviewQuery, type Overview } from '../../api/overview.ts';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts } from '../../texts/overview.ts';
import { ErrorState, Skeleton } from '../../ui/states.tsx';
import { Activity } from './activity.tsx';
import { Attention } from './attention.tsx';
import { DetectionCounts, FeedCounts } from './counts.tsx';
import { FirstSteps } from './first-steps.tsx';
import { Month } from './month.tsx';
import { OpenHits } from './open-hits.tsx';

/** The work that needs a person now, the findings of 30 days, and the current activity. */
export function OverviewPage() {
  const { data, error, refetch } = useQuery(overviewQuery);
  return (
    <>
      <PageHeader title={texts.title} />
      <div className="grow overflow-y-auto">
        <div className="grid max-w-7xl gap-x-12 gap-y-8 px-4 py-5 lg:grid-cols-[minmax(0,1fr)_18rem] lg:grid-rows-[auto_1fr] 2xl:max-w-[112rem] 2xl:grid-cols-[minmax(0,1fr)_18rem_24rem] 2xl:grid-rows-1">
          {data ? (
            <Content overview={data} />
          ) : error ? (
            <div className="col-span-full">
              <ErrorState error={error} onRetry={() => void refetch()} />
            </div>
          ) : (
            <Loading />
          )}
        </div>
      </div>
    </>
  );
}

function Content({ overview }: { overview: Overview }) {
  const { hits, feed, detections, runs, days } = overview;
  const isNew = detections.total === 0 || days.every((day) => day.runs === 0);
  return (
    <>
      <div className="flex min-w-0 flex-col gap-8">
        {isNew && <FirstSteps overview={overview} />}
        {hits && !(isNew && hits.open === 0) && <OpenHits hits={hits} />}
        <Attention overview={overview} />
        {!isNew && <Month days={days} />}
      </div>
      <div className="flex min-w-0 flex-col gap-8 empty:hidden lg:row-span-2 2xl:row-span-1">
        {detections.total > 0 && <DetectionCounts detections={detections} runs={runs} />}
        {feed && feed.items > 0 && <FeedCounts feed={feed} />}
      </div>
      <div className="min-w-0 lg:col-start-1 2xl:col-start-3 2xl:-mt-1.5">
        <Activity />
      </div>
    </>
  );
}

function Loading() {
  return (
    <>
      <div className="flex flex-col gap-8">
        <Skeleton className="h-40" />
        <Skeleton className="h-32" />
        <Skeleton className="h-28" />
      </div>
      <div className="flex flex-col gap-8">
        <Skeleton className="h-40" />
        <Skeleton className="h-64" />
      </div>
    </>
  );
}
