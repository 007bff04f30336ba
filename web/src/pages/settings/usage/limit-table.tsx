import type { Quotas, QuotaName } from '../../../api/usage.ts';
import { classes } from '../../../lib/text.ts';
import { formatQuota, quotaLabels, texts } from '../../../texts/usage.ts';
import { RelativeTime } from '../../../ui/time.tsx';
import { Table, type TableColumn } from '../../../ui/lists/table.tsx';

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
export function LimitTable({ quotas: { quotas, states } }: { quotas: Quotas }) {
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
