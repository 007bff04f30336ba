import { useQuery } from '@tanstack/react-query';
import { quotasQuery, usageQuery, type Quotas, type QuotaName, type UsageDay } from '../../../api/usage.ts';
import { texts as all } from '../../../texts/settings.ts';
import { texts, formatQuota, quotaLabels } from '../../../texts/usage.ts';
import { Section } from '../../../ui/section.tsx';
import { Loaded } from '../../../ui/lists/rows.tsx';
import { SettingsSection } from '../section.tsx';
import { classes, formatBytes, formatMoney, formatNumber } from '../../../lib/text.ts';
import { RelativeTime } from '../../../ui/time.tsx';
import { Table, type TableColumn } from '../../../ui/lists/table.tsx';
import { countEvents, countRuns } from '../../../texts/counts.ts';
import { BarChart } from '../../../ui/charts/bar-chart.tsx';
import { Figures } from '../../../ui/charts/figures.tsx';
import { LastHours } from '../../../ui/time.tsx';

/** Shows the usage of the organization and its limits. */
export function UsageSection() {
  const quotas = useQuery(quotasQuery);
  const usage = useQuery(usageQuery);
  return (
    <SettingsSection title={all.sections.usage} description={texts.description}>
      <div className="flex flex-col gap-8 pt-2">
        <Section level={3} title={texts.limits}>
          <Loaded query={quotas}>{(data) => <LimitTable quotas={data} />}</Loaded>
        </Section>
        <Loaded query={usage}>
          {({ days }) => (
            <>
              <UsageToday days={days} />
              <UsageDays days={days} />
            </>
          )}
        </Loaded>
      </div>
    </SettingsSection>
  );
}

type State = Quotas['states'][number];
/** A limit. `state` is missing for what each process counts for itself. */
type Limit = { quota: QuotaName; limit: number; state: State | undefined };

const looks: Record<State['level'], string> = { free: '', nearing: 'text-medium', reached: 'text-bad' };
const bars: Record<State['level'], string> = { free: 'bg-accent', nearing: 'bg-medium', reached: 'bg-bad' };

const columns: TableColumn<Limit>[] = [
  { header: texts.columns.quota, cell: ({ quota }) => quotaLabels[quota] },
  {
    header: texts.columns.used,
    isFigure: true,
    cell: ({ quota, state }) =>
      state ? <span className={looks[state.level]}>{formatQuota(quota, state.used)}</span> : <None />,
  },
  { header: texts.columns.limit, isFigure: true, cell: ({ quota, limit }) => formatQuota(quota, limit) },
  {
    header: texts.columns.share,
    isFigure: true,
    cell: ({ state }) => (state ? <Share share={state.share} level={state.level} /> : <None />),
  },
  {
    header: texts.columns.resets,
    isFigure: true,
    cell: ({ state }) => (state?.resetsAt ? <RelativeTime time={state.resetsAt} /> : <None />),
  },
];

/** The limits of the organization, and how much of each is used. */
function LimitTable({ quotas: { quotas, states } }: { quotas: Quotas }) {
  const limits = (Object.keys(quotaLabels) as QuotaName[]).flatMap((quota): Limit[] => {
    const limit = quotas[quota];
    return limit === null ? [] : [{ quota, limit, state: states.find((state) => state.quota === quota) }];
  });
  if (limits.length === 0) return <p className="text-muted">{texts.noLimits}</p>;
  return <Table label={texts.limits} columns={columns} rows={limits} rowKey={({ quota }) => quota} />;
}

const None = () => <span className="text-faint">–</span>;

function Share({ share, level }: Pick<State, 'share' | 'level'>) {
  return (
    <span className="inline-flex items-center gap-3">
      <span className="h-1 w-24 overflow-hidden rounded-full bg-line max-md:hidden" aria-hidden>
        <span className={classes('block h-full', bars[level])} style={{ width: `${Math.min(share, 1) * 100}%` }} />
      </span>
      <span className={classes('w-12', looks[level])}>{texts.percent(share)}</span>
    </span>
  );
}

type Props = { days: readonly UsageDay[] };

/** Shows the usage of the organization since midnight UTC. */
function UsageToday({ days }: Props) {
  const today = days.at(-1);
  if (!today) return null;
  const { logEvents, logBytes, runs, modelCostUsd, requests } = today;
  return (
    <Section level={3} title={texts.today}>
      <Figures
        figures={[
          { label: texts.logEvents, value: formatNumber(logEvents) },
          { label: texts.logBytes, value: formatBytes(logBytes) },
          { label: texts.runs, value: formatNumber(runs) },
          { label: texts.modelCost, value: formatMoney(modelCostUsd) },
          { label: texts.requests, value: formatNumber(requests) },
        ]}
      />
    </Section>
  );
}

/** Shows a chart of the usage by day for each figure. */
function UsageDays({ days }: Props) {
  const barsOf = (valueOf: (day: UsageDay) => number) =>
    days.map((day) => ({ at: day.day, label: day.day, value: valueOf(day) }));
  const sayRequests = ({ requests, refusedRequests }: Pick<UsageDay, 'requests' | 'refusedRequests'>): string =>
    [formatNumber(requests), ...(refusedRequests > 0 ? [texts.refused(refusedRequests)] : [])].join(' · ');
  const sumOf = (valueOf: (day: UsageDay) => number): number => days.reduce((sum, day) => sum + valueOf(day), 0);
  return (
    <Section level={3} title={texts.days} actions={<LastHours hours={30 * 24} />}>
      <div className="grid gap-x-8 gap-y-6 md:grid-cols-2">
        <BarChart label={texts.logEvents} say={countEvents} bars={barsOf((day) => day.logEvents)} />
        <BarChart label={texts.logBytes} say={formatBytes} bars={barsOf((day) => day.logBytes)} />
        <BarChart
          label={texts.logBytesStored}
          say={formatBytes}
          bars={barsOf((day) => day.logBytesStored)}
          summary={formatBytes(days.at(-1)?.logBytesStored ?? 0)}
        />
        <BarChart label={texts.runs} say={countRuns} bars={barsOf((day) => day.runs)} />
        <BarChart label={texts.modelCost} say={formatMoney} bars={barsOf((day) => day.modelCostUsd)} />
        <BarChart
          label={texts.requests}
          say={formatNumber}
          bars={days.map((day) => ({ at: day.day, label: day.day, value: day.requests, note: sayRequests(day) }))}
          summary={sayRequests({
            requests: sumOf((day) => day.requests),
            refusedRequests: sumOf((day) => day.refusedRequests),
          })}
        />
      </div>
    </Section>
  );
}
