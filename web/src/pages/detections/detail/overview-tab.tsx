import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { detectionDaysQuery, type Detection, type DetectionDays } from '../../../api/detections.ts';
import { openHitsQuery } from '../../../api/hits.ts';
import { formatMoney, formatNumber } from '../../../lib/text.ts';
import { texts } from '../../../texts/detection.ts';
import { BarChart } from '../../../ui/charts/bar-chart.tsx';
import { Figures } from '../../../ui/charts/figures.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Section } from '../../../ui/section.tsx';
import { SeverityMark } from '../../../ui/labels/severity.tsx';
import { Table, type TableColumn } from '../../../ui/lists/table.tsx';
import { ErrorState, Skeleton } from '../../../ui/states.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { ContinuousFigures } from './continuous-figures.tsx';
import { ExaminedTime } from './examined-time.tsx';
import { PackOrigin } from './pack-origin.tsx';
import { countHits } from '../../../texts/counts.ts';
import { dismissalsQuery } from '../../../api/detection-parts.ts';
import { texts as review } from '../../../texts/review.ts';

type Props = { detection: Detection; days: string };

/** The findings of a detection, and whether it saw everything. */
export function OverviewTab({ detection, days }: Props) {
  return (
    <div className="flex max-w-6xl flex-col gap-8 px-4 py-5">
      {detection.description !== '' && <p className="max-w-[72ch] break-words">{detection.description}</p>}
      <Notices detection={detection} />
      <PackOrigin id={detection.id} />
      {detection.continuous && <ContinuousFigures id={detection.id} />}
      <DayFigures detection={detection} />
      <ExaminedTime id={detection.id} days={days} />
      <OpenHits id={detection.id} />
      <DismissalAudit id={detection.id} />
    </div>
  );
}

function Notices({ detection }: { detection: Detection }) {
  const { deletedAt, disabledReason, warnings = [] } = detection;
  if (!deletedAt && !disabledReason && warnings.length === 0) return null;
  return (
    <div className="flex flex-col gap-2">
      {deletedAt && (
        <Notice kind="warning" title={texts.deleted}>
          {texts.deletedHint}
        </Notice>
      )}
      {disabledReason && (
        <Notice kind="error" title={texts.stopped}>
          {disabledReason}
        </Notice>
      )}
      {warnings.map(({ code, field, detail }) => (
        <Notice key={`${code} ${field}`} kind="warning" title={texts.warning}>
          {detail}
        </Notice>
      ))}
    </div>
  );
}

function DayFigures({ detection }: { detection: Detection }) {
  const { data, error, refetch } = useQuery(detectionDaysQuery(detection.id));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  const bars = data?.days.map(({ day, hits, runs }) => ({
    at: day,
    label: day,
    value: hits,
    note: texts.dayNote(hits, runs),
  }));
  const hits = data?.days.reduce((sum, day) => sum + day.hits, 0);
  const costs = data?.aliases.map(({ costUsd }) => costUsd);
  const { reviews, avgEvalScore30d, runs30d } = detection;
  return (
    <>
      <Figures
        figures={[
          { label: texts.figures.runs, value: formatNumber(runs30d) },
          { label: texts.figures.hits, value: hits === undefined ? '–' : formatNumber(hits) },
          {
            label: texts.figures.precision,
            value: reviews ? `${Math.round(reviews.precision * 100)} %` : '–',
            hint: texts.figures.precisionHint,
          },
          { label: texts.figures.score, value: avgEvalScore30d ?? '–', hint: texts.figures.scoreHint },
          { label: texts.figures.cost, value: costs === undefined ? '–' : formatMoney(sumCosts(costs)) },
        ]}
      />
      <Section level={2} title={texts.days}>
        {bars ? <BarChart label={texts.lastDays} say={countHits} bars={bars} /> : <Skeleton className="h-24" />}
      </Section>
      {data && data.aliases.length > 0 && (
        <Section level={2} title={texts.spend.title}>
          <Table label={texts.spend.title} columns={spendColumns} rows={data.aliases} rowKey={({ alias }) => alias} />
        </Section>
      )}
    </>
  );
}

type Spend = DetectionDays['aliases'][number];

/** What models cost by alias. */
const spendColumns: TableColumn<Spend>[] = [
  { header: texts.spend.alias, cell: ({ alias }) => alias },
  { header: texts.spend.calls, isFigure: true, cell: ({ calls }) => formatNumber(calls) },
  { header: texts.spend.tokens, isFigure: true, cell: ({ tokens }) => formatNumber(tokens) },
  { header: texts.spend.cost, isFigure: true, cell: ({ costUsd }) => formatMoney(costUsd) },
];

const sumCosts = (costs: readonly (number | null)[]): number | null =>
  costs.reduce((sum, cost) => (sum === null || cost === null ? null : sum + cost), 0);

function OpenHits({ id }: { id: string }) {
  const { data } = useQuery(openHitsQuery(id));
  return (
    <Section
      level={2}
      title={texts.openHits}
      actions={
        <Link to="/hits" search={{ detection: id }} className="text-12 text-muted hover:text-ink">
          {texts.allHits}
        </Link>
      }
    >
      {data?.hits.length === 0 && <p className="text-muted">{texts.noOpenHits}</p>}
      <ul className="-mx-2 flex flex-col">
        {data?.hits.map((hit) => (
          <li key={hit.id}>
            <Link
              to="/hits"
              search={{ detection: id, hit: hit.id }}
              className="flex h-8 items-center gap-2.5 rounded-control px-2 hover:bg-hover"
            >
              <SeverityMark severity={hit.severity} />
              <span className="truncate">{hit.headline}</span>
              <span className="ml-auto shrink-0 text-12 text-muted">
                <RelativeTime time={hit.lastSeenAt} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** How many dismissals of a detection were wrong at most, by the audit. Nothing without dismissals. */
function DismissalAudit({ id }: { id: string }) {
  const { data } = useQuery(dismissalsQuery(id));
  if (!data || data.dismissals + data.sampled === 0) return null;
  const { statement, dismissals, sampled, open, days, verifiedBy } = data;
  return (
    <Section
      level={2}
      title={review.dismissals.title}
      actions={
        open > 0 && (
          <Link to="/review" search={{ kind: 'audit', detection: id }} className="text-12 text-muted hover:text-ink">
            {review.dismissals.waiting(open)}
          </Link>
        )
      }
    >
      <p>{statement}</p>
      <p className="max-w-[72ch] text-muted">
        {review.dismissals.sample(dismissals, sampled, days)}{' '}
        {verifiedBy === null ? review.dismissals.byPeople : review.dismissals.byAlias(verifiedBy)}
      </p>
    </Section>
  );
}
