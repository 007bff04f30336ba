import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { fieldsQuery, histogramQuery, searchQuery } from '../../api/logs.ts';
import { formatLocal } from '../../lib/time.ts';
import { texts } from '../../texts/logs.ts';
import { Skeleton } from '../../ui/states.tsx';
import { BarChart } from '../../ui/charts/bar-chart.tsx';
import { FieldList } from './field-list.tsx';
import { QueryBox } from './query-box.tsx';
import { Results } from './results.tsx';
import { addCondition, buildQuery, readCondition, toCondition } from './simple-query.ts';
import { countEvents } from '../../texts/counts.ts';

type Props = {
  dataset: string;
  window: { from: string; to: string };
  /** The query of the address. Without it, the newest events are shown. */
  query: string | undefined;
  onRun: (query: string | undefined) => void;
  /** Runs the same query again. */
  onRepeat: () => void;
  onSelectTime: (from: string, to: string) => void;
};

/** The fields at the left; at the right the events over time, the query and its rows. */
export function Explorer({ dataset, window, query, onRun, onRepeat, onSelectTime }: Props) {
  const all = buildQuery(dataset);
  const ran = query ?? all;
  const [edited, setEdited] = useState<{ of: string; text: string } | null>(null);
  // Another query that was run, from a field or by going back, replaces the typed text.
  const draft = edited?.of === ran ? edited.text : ran;
  const where = readCondition(ran) ?? undefined;
  const scope = { ...window, where };
  const histogram = useQuery({ ...histogramQuery(dataset, scope), placeholderData: (previous) => previous });
  const search = useQuery(searchQuery(ran, window));
  const { data: statistics } = useQuery(fieldsQuery(dataset, scope));
  const names = useMemo(() => ({ [dataset]: statistics?.fields ?? [] }), [dataset, statistics]);
  const run = (text: string): void => onRun(text.trim() === '' || text === all ? undefined : text);
  return (
    <div className="flex min-h-0 grow">
      <FieldList
        dataset={dataset}
        scope={scope}
        onPick={(field, value) => run(addCondition(ran, dataset, toCondition(field, value)))}
      />
      <div className="flex min-w-0 grow flex-col">
        <div className="shrink-0 px-4 pt-3">
          {histogram.data ? (
            <BarChart
              label={texts.eventsOverTime}
              say={countEvents}
              bars={histogram.data.buckets.map(({ at, events }) => ({ at, value: events, label: formatLocal(at) }))}
              onSelect={(first, last) =>
                onSelectTime(first.at, new Date(Date.parse(last.at) + histogram.data.stepSeconds * 1000).toISOString())
              }
            />
          ) : histogram.error ? null : (
            <Skeleton className="h-26 w-full" />
          )}
        </div>
        <QueryBox
          draft={draft}
          names={names}
          isRunning={search.isFetching}
          isReset={query === undefined && draft === all}
          onChange={(text) => setEdited({ of: ran, text })}
          onRun={() => (draft === ran ? onRepeat() : run(draft))}
          onReset={() => {
            setEdited(null);
            run('');
          }}
        />
        <Results search={search} />
      </div>
    </div>
  );
}
