import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { hitEntitiesQuery, hitGroupsQuery, type HitFilter } from '../../api/hits.ts';
import { useListKeys } from '../../lib/list-keys.ts';
import { classes, countOf } from '../../lib/text.ts';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/hits.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { SeverityMark, type Severity } from '../../ui/labels/severity.tsx';
import { TableSkeleton } from '../../ui/lists/table-skeleton.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { Link } from '@tanstack/react-router';

export type Grouping = 'wave' | 'entity';
type Group = { key: string; severity: Severity; title: string; detail: string; open: number; hits: number; at: string };
type Props = {
  by: Grouping;
  filter: Pick<HitFilter, 'status' | 'detection'>;
  /** Called with the ID of a wave, or the name of an entity. */
  onOpen: (key: string) => void;
};

const namedMax = 8;

/** Hits by what they have in common: waves that one detection raised in one window, or entities. */
export function GroupList({ by, filter, onOpen }: Props) {
  return by === 'wave' ? <Waves filter={filter} onOpen={onOpen} /> : <Entities filter={filter} onOpen={onOpen} />;
}

function Waves({ filter, onOpen }: Omit<Props, 'by'>) {
  const query = useInfiniteQuery(hitGroupsQuery(filter));
  const groups = useMemo(
    () =>
      query.data?.pages
        .flatMap((page) => page.groups)
        .map(({ id, severity, headline, entities, hits, statuses, lastSeenAt }) => ({
          key: id,
          severity,
          title: headline,
          detail: listNames(
            entities.map(({ entity }) => entity),
            hits,
          ),
          open: statuses.open ?? 0,
          hits,
          at: lastSeenAt,
        })),
    [query.data],
  );
  return <Groups query={query} groups={groups} empty={texts.groups.noWaves} onOpen={onOpen} />;
}

function Entities({ filter, onOpen }: Omit<Props, 'by'>) {
  const query = useInfiniteQuery(hitEntitiesQuery(filter));
  const groups = useMemo(
    () =>
      query.data?.pages
        .flatMap((page) => page.entities)
        .map(({ entity, entityType, severity, hits, open, detectionIds, lastSeenAt }) => ({
          key: entity,
          severity,
          title: entity,
          detail: `${entityType} · ${countOf(detectionIds.length, 'detection')}`,
          open,
          hits,
          at: lastSeenAt,
        })),
    [query.data],
  );
  return <Groups query={query} groups={groups} empty={texts.groups.noEntities} onOpen={onOpen} />;
}

function listNames(names: readonly string[], total: number): string {
  const shown = names.slice(0, namedMax);
  return shown.join(', ') + (total > shown.length ? ` ${texts.groups.others(total - shown.length)}` : '');
}

type GroupsProps = {
  query: {
    error: Error | null;
    refetch: () => unknown;
    hasNextPage: boolean;
    fetchNextPage: () => unknown;
    isFetchingNextPage: boolean;
  };
  groups: Group[] | undefined;
  empty: string;
  onOpen: (key: string) => void;
};

function Groups({ query, groups, empty, onOpen }: GroupsProps) {
  const active = useListKeys(groups ?? [], ({ key }) => key, { onOpen: ({ key }) => onOpen(key) });
  if (!groups)
    return query.error ? <ErrorState error={query.error} onRetry={() => void query.refetch()} /> : <TableSkeleton />;
  if (groups.length === 0)
    return (
      <EmptyState
        title={texts.groups.none}
        action={
          <Link to="/hits" className={buttonClass('primary')}>
            {common.nextStep.allHits}
          </Link>
        }
      >
        {empty}
      </EmptyState>
    );
  return (
    <ul className="h-full overflow-y-auto" aria-label={texts.groups.label}>
      {groups.map(({ key, severity, title, detail, open, hits, at }) => (
        <li key={key}>
          <button
            type="button"
            onClick={() => onOpen(key)}
            className={classes(
              'grid h-13 w-full grid-cols-[auto_1fr_auto] items-center gap-x-3 border-b pr-row-end pl-4 text-left -outline-offset-2',
              key === active ? 'bg-selected' : 'hover:bg-hover',
            )}
          >
            <SeverityMark severity={severity} />
            <span className="min-w-0">
              <span className="block truncate font-strong">{title}</span>
              <span className="block truncate text-12 text-muted">{detail}</span>
            </span>
            <span className="tabular flex flex-col items-end gap-px text-12 text-muted">
              <RelativeTime time={at} />
              <span>{texts.groups.open(open, hits)}</span>
            </span>
          </button>
        </li>
      ))}
      {query.hasNextPage && (
        <li className="flex justify-center p-3">
          <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {common.loadMore}
          </Button>
        </li>
      )}
    </ul>
  );
}
