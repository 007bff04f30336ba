import type { UseQueryResult } from '@tanstack/react-query';
import { useRowFocus } from '../../lib/focus-return.ts';
import { classes } from '../../lib/text.ts';
import { ErrorState, Skeleton } from '../states.tsx';

/** Rows in a frame. */
export function Rows({ label, children }: { label: string; children: React.ReactNode }) {
  const rowFocus = useRowFocus();
  return (
    <ul aria-label={label} {...rowFocus} className="divide-y rounded-control border">
      {children}
    </ul>
  );
}

type RowProps = {
  title: React.ReactNode;
  badge?: React.ReactNode;
  detail?: React.ReactNode;
  isDimmed?: boolean;
  actions?: React.ReactNode;
  children?: React.ReactNode;
};

export function Row({ title, badge, detail, isDimmed, actions, children }: RowProps) {
  return (
    <li className="px-3 py-2.5">
      <div className="flex items-center gap-3">
        <div className={classes('min-w-0 grow', isDimmed && 'text-muted')}>
          <p className="flex min-w-0 flex-wrap items-center gap-x-2">
            <span className="min-w-0 truncate font-strong">{title}</span>
            {badge}
          </p>
          {detail && <p className="text-12 break-words text-muted">{detail}</p>}
        </div>
        {actions && <div className="flex shrink-0 items-center gap-1">{actions}</div>}
      </div>
      {children}
    </li>
  );
}

export function Badge({ children, isBad }: { children: React.ReactNode; isBad?: boolean }) {
  return (
    <span
      className={classes(
        'shrink-0 rounded-small border px-1.5 text-12 leading-4.5',
        isBad ? 'border-bad text-bad' : 'text-muted',
      )}
    >
      {children}
    </span>
  );
}

/** Shows an answer, or that it is loading or failed. */
export function Loaded<Data>({ query, children }: LoadedProps<Data>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  return (
    <div className="divide-y rounded-control border" aria-hidden>
      {['w-40', 'w-56', 'w-32'].map((width) => (
        <div key={width} className="flex h-15 flex-col justify-center gap-2 px-3">
          <Skeleton className={`h-3 ${width}`} />
          <Skeleton className="h-2.5 w-1/2" />
        </div>
      ))}
    </div>
  );
}
type LoadedProps<Data> = {
  query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch'>;
  children: (data: Data) => React.ReactNode;
};
