import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useMemo } from 'react';
import { entitiesQuery, type Entity, type EntityType } from '../../api/entities.ts';
import { useOpenKeys } from '../../lib/list-keys.ts';
import { FeedLinks } from '../../shell/section-links.tsx';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/entities.ts';
import { Button, IconButton, buttonClass } from '../../ui/button.tsx';
import { FilterSelect } from '../../ui/forms/filter-select.tsx';
import { SearchField } from '../../ui/forms/search-field.tsx';
import { ListAndPanel } from '../../ui/lists/list-panel.tsx';
import { TableSkeleton } from '../../ui/lists/table-skeleton.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { EntityTable, entityKey } from './entity-table.tsx';
import { EntityView } from './entity-view.tsx';

const route = getRouteApi('/shell/entities');

const typeOptions = (Object.keys(texts.types) as EntityType[]).map((value) => ({ value, label: texts.types[value] }));

/** The actors, malware, tools and vulnerabilities of the feed, and everything known of the open one. */
export function EntitiesPage() {
  const { kind, name, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch, isPending, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    entitiesQuery(filter),
  );
  const entities = useMemo(() => data?.pages.flatMap((page) => page.entities) ?? [], [data]);
  const opened = kind !== undefined && name !== undefined ? { type: kind, name } : undefined;
  const openKey = opened && entityKey(opened);
  const open = (entity: Pick<Entity, 'type' | 'name'> | undefined): void =>
    void navigate({
      search: (search) => ({ ...search, kind: entity?.type, name: entity?.name }),
      replace: opened !== undefined,
      resetScroll: false,
    });
  const index = entities.findIndex((one) => entityKey(one) === openKey);
  useOpenKeys({ rows: entities, index, onOpen: open, onClose: () => open(undefined) });
  return (
    <>
      <PageHeader title={texts.title} links={<FeedLinks />}>
        <SearchField
          label={texts.search}
          value={filter.q}
          onChange={(q) => void navigate({ search: (search) => ({ ...search, q }) })}
        />
        <FilterSelect
          label={texts.type}
          value={filter.type}
          options={typeOptions}
          onChange={(type) => void navigate({ search: (search) => ({ ...search, type }) })}
        />
      </PageHeader>
      <ListAndPanel
        list={
          error && entities.length === 0 ? (
            <ErrorState error={error} onRetry={() => void refetch()} />
          ) : isPending ? (
            <TableSkeleton />
          ) : entities.length === 0 ? (
            <NoEntities isFiltered={Boolean(filter.q ?? filter.type)} onClear={() => void navigate({ search: {} })} />
          ) : (
            <EntityTable
              entities={entities}
              filter={filter}
              openKey={openKey}
              onOpen={open}
              onEnd={() => hasNextPage && !isFetchingNextPage && void fetchNextPage()}
            />
          )
        }
        panel={
          opened === undefined ? null : (
            <>
              <div className="flex min-h-11 items-center justify-end border-b px-4">
                <IconButton label={common.close} onClick={() => open(undefined)}>
                  <X className="size-4" aria-hidden />
                </IconButton>
              </div>
              <div className="min-h-0 grow overflow-y-auto" key={openKey} data-scroll-restoration-id={openKey}>
                <EntityView type={opened.type} name={opened.name} />
              </div>
            </>
          )
        }
      />
    </>
  );
}

function NoEntities({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (isFiltered)
    return <EmptyState title={texts.filtered} action={<Button onClick={onClear}>{texts.clear}</Button>} />;
  return (
    <EmptyState
      title={texts.empty}
      action={
        <Link to="/sources" search={{ source: 'new' }} className={buttonClass('primary')}>
          {common.nextStep.sources}
        </Link>
      }
    >
      {texts.emptyBody}
    </EmptyState>
  );
}
