import { useQuery } from '@tanstack/react-query';
import { backtestQuery, type Suggestion } from '../../api/suggestions.ts';
import { formatNumber } from '../../lib/text.ts';
import { formatUtc } from '../../lib/time.ts';
import { texts } from '../../texts/suggestions.ts';
import { Button } from '../../ui/button.tsx';
import { BarChart } from '../../ui/charts/bar-chart.tsx';
import { countHits } from '../../texts/counts.ts';

type Props = { suggestion: Suggestion; isChanged: boolean };

/** The hits that the suggestion would have raised on the organization's own logs: the estimate that came with it, and a backtest on demand. */
export function ExpectedNoise({ suggestion, isChanged }: Props) {
  const { id, updatedAt, estimate } = suggestion;
  const { data, error, isFetching, refetch } = useQuery({ ...backtestQuery(id, updatedAt), enabled: false });
  const version = data?.versions[0];
  const shown = data && version ? { ...data, ...version } : estimate;
  return (
    <section className="flex flex-col gap-3">
      <div className="flex min-h-7 items-center justify-between gap-2">
        <h3 className="text-12 font-strong text-muted">{texts.noise}</h3>
        <Button disabled={isFetching} onClick={() => void refetch()}>
          {isFetching ? texts.backtesting : texts.backtest}
        </Button>
      </div>
      {error && (
        <p role="alert" className="break-words text-bad">
          {`${texts.backtestFailed} ${error.message}`}
        </p>
      )}
      {shown ? (
        <>
          <dl className="flex flex-wrap gap-x-10 gap-y-3">
            {(
              [
                [texts.figures.hits, shown.hits],
                [texts.figures.candidates, shown.candidates],
                [texts.figures.rows, shown.rowsTotal],
                [texts.figures.windows, shown.windows],
              ] as const
            ).map(([label, value]) => (
              <div key={label} className="flex flex-col-reverse">
                <dt className="text-12 text-muted">{label}</dt>
                <dd className="tabular text-20">{formatNumber(value)}</dd>
              </div>
            ))}
          </dl>
          {version && (
            <BarChart
              label={texts.hitsPerDay}
              say={countHits}
              bars={version.hitsPerDay.map(({ day, hits }) => ({
                at: `${day}T00:00:00.000Z`,
                value: hits,
                label: day,
              }))}
            />
          )}
          <p className="text-12 text-muted">
            {texts.noiseBody(formatUtc(shown.from).slice(0, 10), formatUtc(shown.to).slice(0, 10))}
            {!shown.complete && ` ${texts.incomplete}`}
            {isChanged && ` ${texts.changedNoise}`}
          </p>
        </>
      ) : (
        <p className="text-muted">{texts.noEstimate}</p>
      )}
    </section>
  );
}
