import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { ChevronDown } from 'lucide-react';
import { datasetsQuery, type Dataset } from '../../api/logs.ts';
import { formatLocal } from '../../lib/time.ts';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts } from '../../texts/logs.ts';
import { buttonClass } from '../../ui/button.tsx';
import { MenuButton } from '../../ui/overlays/menu-button.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../ui/states.tsx';
import { Explorer } from './explorer.tsx';
import { TimeRange } from '../../ui/time.tsx';

const route = getRouteApi('/shell/logs');
const hourMs = 3_600_000;
const rangeMs = { '1h': hourMs, '24h': 24 * hourMs, '7d': 168 * hourMs, '30d': 720 * hourMs };
type Range = keyof typeof rangeMs;

/** Explores the logs of the built-in store: a dataset, its fields, its events over time, and a query. */
export function LogsPage() {
  const { data, error, refetch } = useQuery(datasetsQuery);
  if (error && !data)
    return (
      <>
        <PageHeader title={texts.title} />
        <ErrorState error={error} onRetry={() => void refetch()} />
      </>
    );
  if (!data)
    return (
      <>
        <PageHeader title={texts.title} />
        <Skeleton className="m-4 h-24" />
      </>
    );
  if (data.datasets.length === 0)
    return (
      <>
        <PageHeader title={texts.title} />
        <EmptyState
          title={texts.noLogs}
          action={
            <Link to="/settings/sources" className={buttonClass('primary')}>
              {texts.send}
            </Link>
          }
        >
          {texts.noLogsBody}
        </EmptyState>
      </>
    );
  return <Logs datasets={data.datasets} />;
}

function Logs({ datasets }: { datasets: readonly Dataset[] }) {
  const { dataset: named, range, from, to, q } = route.useSearch();
  const navigate = route.useNavigate();
  const [repeats, setRepeats] = useState(0);
  const largest = datasets.toSorted((a, b) => b.events - a.events)[0]!;
  const dataset = datasets.find(({ name }) => name === named) ?? largest;
  const chosen = useMemo(
    () => (from !== undefined && to !== undefined && range === undefined ? { from, to } : null),
    [from, to, range],
  );
  const length = rangeMs[range ?? '24h'];
  // A range ends when the query is run, so that a new query and a repeated one see the latest events.
  const window = useMemo(() => {
    if (chosen) return chosen;
    const now = Date.now();
    return { from: new Date(now - length).toISOString(), to: new Date(now).toISOString() };
  }, [chosen, length, dataset.name, q, repeats]);
  const setRange = (next: Range): void =>
    void navigate({ search: (search) => ({ ...search, range: next, from: undefined, to: undefined }) });
  return (
    <>
      <PageHeader title={texts.title}>
        <Picker
          label={texts.dataset}
          value={dataset.name}
          options={datasets.map(({ name }) => ({ value: name, label: <span className="font-mono">{name}</span> }))}
          onChange={(next) => void navigate({ search: (search) => ({ ...search, dataset: next, q: undefined }) })}
        />
        <Picker
          label={chosen ? texts.chosen : texts.range}
          value={chosen ? 'chosen' : (range ?? '24h')}
          options={[
            ...(chosen
              ? [{ value: 'chosen' as const, label: `${formatLocal(chosen.from)} – ${formatLocal(chosen.to)}` }]
              : []),
            ...(Object.entries(texts.ranges) as [Range, string][]).map(([value, label]) => ({ value, label })),
          ]}
          onChange={(next) => next !== 'chosen' && setRange(next)}
        />
        {!chosen && (
          <span className="text-12 text-faint max-sm:hidden">
            <TimeRange {...window} />
          </span>
        )}
      </PageHeader>
      <Explorer
        key={dataset.name}
        dataset={dataset.name}
        window={window}
        query={q}
        onRun={(query) => {
          void navigate({ search: (search) => ({ ...search, dataset: dataset.name, q: query }) });
        }}
        onWiden={() => setRange('30d')}
        onRepeat={() => setRepeats(repeats + 1)}
        onSelectTime={(first, last) =>
          void navigate({ search: (search) => ({ ...search, range: undefined, from: first, to: last }) })
        }
      />
    </>
  );
}

type Props<Value extends string> = {
  label: string;
  value: Value;
  options: readonly { value: Value; label: React.ReactNode }[];
  onChange: (value: Value) => void;
};

/** A choice that always has a value. */
function Picker<Value extends string>({ label, value, options, onChange }: Props<Value>) {
  return (
    <MenuButton
      entries={[{ kind: 'choice', label, value, options, onSelect: (next) => onChange(next as Value) }]}
      className="inline-flex h-7 min-w-0 items-center gap-1.5 rounded-control border bg-surface px-2 hover:bg-hover"
    >
      <span className="text-muted">{label}</span>
      <span className="truncate">{options.find((option) => option.value === value)?.label}</span>
      <ChevronDown className="size-3.5 shrink-0 text-faint" aria-hidden />
    </MenuButton>
  );
}
