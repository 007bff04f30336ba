import type { UsageDay } from '../../../api/usage.ts';
import { formatBytes, formatMoney, formatNumber } from '../../../lib/text.ts';
import { countEvents, countRuns } from '../../../texts/counts.ts';
import { texts } from '../../../texts/usage.ts';
import { BarChart } from '../../../ui/charts/bar-chart.tsx';
import { Figures } from '../../../ui/charts/figures.tsx';
import { Section } from '../../../ui/section.tsx';

type Props = { days: readonly UsageDay[] };

/** Shows the usage of the organization since midnight UTC. */
export function UsageToday({ days }: Props) {
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
export function UsageDays({ days }: Props) {
  const barsOf = (valueOf: (day: UsageDay) => number) =>
    days.map((day) => ({ at: day.day, label: day.day, value: valueOf(day) }));
  const sayRequests = ({ requests, refusedRequests }: Pick<UsageDay, 'requests' | 'refusedRequests'>): string =>
    [formatNumber(requests), ...(refusedRequests > 0 ? [texts.refused(refusedRequests)] : [])].join(' · ');
  const sumOf = (valueOf: (day: UsageDay) => number): number => days.reduce((sum, day) => sum + valueOf(day), 0);
  return (
    <Section level={3} title={texts.days}>
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
