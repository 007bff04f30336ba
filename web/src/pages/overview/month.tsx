import { Link, type LinkProps } from '@tanstack/react-router';
import type { Overview } from '../../api/overview.ts';
import { texts as page } from '../../texts/overview.ts';
import { BarChart, type Bar } from '../../ui/charts/bar-chart.tsx';
import { Section } from '../../ui/section.tsx';
import { countHits, countRuns } from '../../texts/counts.ts';
import { LastHours } from '../../ui/time.tsx';

const texts = page.month;
type Day = Overview['days'][number];

const barsOf = (days: readonly Day[], valueOf: (day: Day) => number | null): Bar[] =>
  days.map((day) => ({ at: day.day, label: day.day, value: valueOf(day) }));

/** Runs, hits and precision per day. */
export function Month({ days }: { days: readonly Day[] }) {
  const readsHits = days.at(-1)?.hits !== null;
  const reviewed = days.reduce((sum, day) => sum + (day.reviewed ?? 0), 0);
  const right = days.reduce((sum, day) => sum + (day.precision ?? 0) * (day.reviewed ?? 0), 0);
  return (
    <Section level={2} title={texts.title} actions={<LastHours hours={30 * 24} />}>
      <div className="@container">
        <div className="grid gap-x-8 gap-y-5 @2xl:grid-cols-3">
          <ChartLink link={{ to: '/detections', search: { sort: '-lastRunAt' } }}>
            <BarChart label={texts.runs} say={countRuns} bars={barsOf(days, (day) => day.runs)} />
          </ChartLink>
          {readsHits && (
            <>
              <ChartLink link={{ to: '/hits' }}>
                <BarChart label={texts.hits} say={countHits} bars={barsOf(days, (day) => day.hits)} />
              </ChartLink>
              {reviewed === 0 ? (
                <NoPrecision />
              ) : (
                <ChartLink link={{ to: '/hits', search: { status: 'true_positive' } }}>
                  <BarChart
                    label={texts.precision}
                    bars={barsOf(days, (day) => day.precision)}
                    summary={texts.reviewed(right / reviewed, reviewed)}
                    say={texts.percent}
                  />
                </ChartLink>
              )}
            </>
          )}
        </div>
      </div>
    </Section>
  );
}

/** The place of the precision while no hit is judged. It leads to the hits that wait for it. */
function NoPrecision() {
  return (
    <ChartLink link={{ to: '/hits', search: { status: 'open' } }}>
      <p className="pb-1 text-12 text-muted">{texts.precision}</p>
      <p className="flex h-16 items-center border-b text-12 text-balance text-muted">{texts.noPrecision}</p>
    </ChartLink>
  );
}

/** A chart that leads to what it counts. */
function ChartLink({ link, children }: { link: LinkProps; children: React.ReactNode }) {
  return (
    <Link {...link} className="-m-2 block min-w-0 rounded-control p-2 hover:bg-hover">
      {children}
    </Link>
  );
}
