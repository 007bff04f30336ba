import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import { fieldsQuery, histogramQuery, searchQuery } from '../../api/logs.ts';
import { formatLocal } from '../../lib/time.ts';
import { texts } from '../../texts/logs.ts';
import { Skeleton } from '../../ui/states.tsx';
import { BarChart } from '../../ui/charts/bar-chart.tsx';
import { FieldList } from './field-list.tsx';
import { Results } from './results.tsx';
import { addCondition, buildQuery, readCondition, toCondition, toDetectionQuery } from './simple-query.ts';
import { countEvents } from '../../texts/counts.ts';
import { Button } from '../../ui/button.tsx';
import { CodeEditor } from '../../ui/code/code-editor.tsx';
import type { QueryNames } from '../../ui/code/complete-names.ts';
import { type Draft, RestoredDraft, useDraft } from '../../ui/forms/use-draft.tsx';

type Props = {
  dataset: string;
  window: { from: string; to: string };
  /** The query of the address. Without it, the newest events are shown. */
  query: string | undefined;
  onRun: (query: string | undefined) => void;
  /** Runs the same query again. */
  onRepeat: () => void;
  onSelectTime: (from: string, to: string) => void;
  /** Looks in the longest range. */
  onWiden: () => void;
};

/** The fields at the left; at the right the events over time, the query and its rows. */
export function Explorer({ dataset, window, query, onRun, onRepeat, onSelectTime, onWiden }: Props) {
  const all = buildQuery(dataset);
  const ran = query ?? all;
  const [{ edited }, setEdited, kept] = useDraft(`query ${dataset}`, {
    edited: null as { of: string; text: string } | null,
  });
  // Another query that was run, from a field or by going back, replaces the typed text.
  const draft = edited?.of === ran ? edited.text : ran;
  const where = readCondition(ran) ?? undefined;
  const scope = { ...window, where };
  const histogram = useQuery({ ...histogramQuery(dataset, scope), placeholderData: (previous) => previous });
  const search = useQuery(searchQuery(ran, window));
  const { data: statistics, isPending } = useQuery(fieldsQuery(dataset, scope));
  const names = useMemo(
    () => (isPending ? undefined : { [dataset]: statistics?.fields ?? [] }),
    [dataset, isPending, statistics],
  );
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
          kept={kept}
          onChange={(text) => setEdited({ edited: { of: ran, text } })}
          onRun={() => (draft === ran ? onRepeat() : run(draft))}
          onReset={() => {
            kept.reset();
            run('');
          }}
        />
        <Results
          search={search}
          onWiden={onWiden}
          onFilter={(name, value) => {
            const field = statistics?.fields.find((one) => one.name === name);
            return field && (() => run(addCondition(ran, dataset, toCondition(field, value))));
          }}
        />
      </div>
    </div>
  );
}

type QueryProps = {
  draft: string;
  /** The fields that completion offers. */
  names: QueryNames | undefined;
  isRunning: boolean;
  isReset: boolean;
  kept: Draft;
  onChange: (text: string) => void;
  onRun: () => void;
  onReset: () => void;
};

/** The query with completion of the dataset's fields. It runs with Ctrl or Cmd and Enter. */
function QueryBox({ draft, names, isRunning, isReset, kept, onChange, onRun, onReset }: QueryProps) {
  return (
    <form
      className="flex shrink-0 flex-col gap-2 border-b px-4 pt-2 pb-3"
      onSubmit={(event) => {
        event.preventDefault();
        onRun();
      }}
    >
      <CodeEditor label={texts.query} language="sql" names={names} value={draft} onChange={onChange} onSubmit={onRun} />
      <div className="flex flex-wrap items-center gap-2">
        <Button kind="primary" type="submit" disabled={isRunning || draft.trim() === ''}>
          <Play className="size-3.5" aria-hidden />
          {isRunning ? texts.running : texts.run}
        </Button>
        {!isReset && (
          <Button kind="quiet" onClick={onReset}>
            {texts.reset}
          </Button>
        )}
        <p className="text-12 text-faint max-md:hidden">{texts.queryHint}</p>
        <RestoredDraft draft={kept} />
        <Link
          to="/detections/new"
          search={{ query: toDetectionQuery(draft) }}
          className="ml-auto inline-flex h-7 items-center rounded-control border px-2.5 hover:bg-hover"
        >
          {texts.detect}
        </Link>
      </div>
    </form>
  );
}
