import { classes } from '../../lib/text.ts';
import { EmptyState, ErrorState } from '../states.tsx';
import { LoadMore } from './load-more.tsx';
import { TableSkeleton } from './table-skeleton.tsx';

export type Entry = {
  id: string;
  icon: React.ReactNode;
  title: string;
  detail: string;
  /** Two short lines at the right. */
  end: readonly [React.ReactNode, React.ReactNode];
};

type Props = {
  label: string;
  query: React.ComponentProps<typeof LoadMore>['query'] & { error: Error | null; refetch: () => unknown };
  /** Undefined until they are loaded. */
  entries: readonly Entry[] | undefined;
  openId: string | undefined;
  /** What is shown without entries. */
  empty: React.ComponentProps<typeof EmptyState>;
  onOpen: (id: string) => void;
};

/** A list of entries of two lines, of which one can be open beside it. */
export function EntryList({ label, query, entries, openId, empty, onOpen }: Props) {
  if (!entries)
    return query.error ? <ErrorState error={query.error} onRetry={() => void query.refetch()} /> : <TableSkeleton />;
  if (entries.length === 0) return <EmptyState {...empty} />;
  return (
    <ul className="h-full overflow-y-auto" aria-label={label}>
      {entries.map(({ id, icon, title, detail, end: [first, second] }) => (
        <li key={id}>
          <button
            type="button"
            aria-current={id === openId}
            onClick={() => onOpen(id)}
            className={classes(
              'grid h-13 w-full grid-cols-[auto_1fr_auto] items-center gap-x-3 border-b pr-row-end pl-4 text-left -outline-offset-2',
              id === openId ? 'bg-selected' : 'hover:bg-hover',
            )}
          >
            {icon}
            <span className="min-w-0">
              <span className="block truncate font-strong">{title}</span>
              <span className="block truncate text-12 text-muted">{detail}</span>
            </span>
            <span className="flex flex-col items-end gap-px text-12 text-muted">
              {first}
              <span>{second}</span>
            </span>
          </button>
        </li>
      ))}
      {query.hasNextPage && (
        <li className="flex justify-center p-3">
          <LoadMore query={query} className="" />
        </li>
      )}
    </ul>
  );
}
