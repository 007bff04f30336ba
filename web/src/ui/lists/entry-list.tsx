import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/common.ts';
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
  /** Set if entries can be selected, for a change of several. */
  selection?: { chosen: ReadonlySet<string>; onToggle: (id: string) => void };
};

/** A list of entries of two lines, of which one can be open beside it. */
export function EntryList({ label, query, entries, openId, empty, onOpen, selection }: Props) {
  if (!entries)
    return query.error ? <ErrorState error={query.error} onRetry={() => void query.refetch()} /> : <TableSkeleton />;
  if (entries.length === 0) return <EmptyState {...empty} />;
  return (
    <ul className="h-full overflow-y-auto" aria-label={label}>
      {entries.map(({ id, icon, title, detail, end: [first, second] }) => (
        <li
          key={id}
          className={classes(
            'group grid grid-cols-[auto_minmax(0,1fr)] border-b',
            id === openId ? 'bg-selected' : selection?.chosen.has(id) ? 'bg-hover' : 'hover:bg-hover',
          )}
        >
          {selection ? (
            <SelectMark
              label={texts.select(title)}
              isChosen={selection.chosen.has(id)}
              onToggle={() => selection.onToggle(id)}
            >
              {icon}
            </SelectMark>
          ) : (
            <span className="flex items-center pl-4">{icon}</span>
          )}
          <button
            type="button"
            aria-current={id === openId}
            onClick={() => onOpen(id)}
            className={classes(
              'grid h-13 grid-cols-[1fr_auto] items-center gap-x-3 pr-row-end text-left -outline-offset-2',
              !selection && 'pl-3',
            )}
          >
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

type MarkProps = { label: string; isChosen: boolean; onToggle: () => void; children: React.ReactNode };

/** A box in the place of an icon. It appears under the pointer, with the focus, and while it is checked. */
function SelectMark({ label, isChosen, onToggle, children }: MarkProps) {
  return (
    <label className="relative flex w-11 items-center justify-center">
      <span
        className={classes(isChosen ? 'invisible' : 'group-hover:invisible group-has-[input:focus-visible]:invisible')}
      >
        {children}
      </span>
      <input
        type="checkbox"
        aria-label={label}
        checked={isChosen}
        onChange={onToggle}
        className={classes(
          'absolute size-3.5 accent-(--color-accent)',
          !isChosen && 'opacity-0 group-hover:opacity-100 focus-visible:opacity-100',
        )}
      />
    </label>
  );
}
