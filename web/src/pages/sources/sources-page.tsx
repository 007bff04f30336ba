import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Plus, X } from 'lucide-react';
import { useEffect } from 'react';
import { sourcesQuery, sourceWorthQuery } from '../../api/sources.ts';
import { useOpenKeys } from '../../lib/list-keys.ts';
import { FeedLinks } from '../../shell/section-links.tsx';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/sources.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { ListAndPanel } from '../../ui/lists/list-panel.tsx';
import { TableSkeleton } from '../../ui/lists/table-skeleton.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { AddSource } from './add-source.tsx';
import { EditSource } from './edit-source.tsx';
import { SourceActions } from './source-actions.tsx';
import { SourceTable } from './source-table.tsx';
import { SourceView } from './source-view.tsx';

const route = getRouteApi('/shell/sources');

/** Where the feed comes from: the sources with their health, and the open one or the catalog beside them. */
export function SourcesPage() {
  const { source: openId, edit } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(sourcesQuery);
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const { data: worth } = useQuery(sourceWorthQuery);
  const sources = data?.pages.flatMap((page) => page.sources).map((one) => ({ ...one, worth: worth?.get(one.id) }));
  const idle = sources?.filter((one) => one.worth?.addsNothing).length ?? 0;
  const index = sources?.findIndex(({ id }) => id === openId) ?? -1;
  const opened = sources?.[index];
  const open = (source: string | undefined, isEdited?: boolean): void =>
    void navigate({
      search: { source, edit: isEdited ? 'yes' : undefined },
      replace: openId !== undefined,
      resetScroll: false,
    });
  const addition = openId === 'new' || openId === 'own' ? openId : undefined;
  const isEdited = edit !== undefined && opened?.own === true;
  const close = (): void => open(isEdited ? openId : undefined);
  useOpenKeys({ rows: sources, index, onOpen: ({ id }) => open(id), onClose: close });
  const add = (
    <Button kind="primary" onClick={() => open('new')}>
      <Plus className="size-3.5" aria-hidden />
      {texts.add}
    </Button>
  );
  return (
    <>
      <PageHeader title={texts.title} links={<FeedLinks />} actions={sources?.length === 0 ? undefined : add}>
        {idle > 0 && <p className="text-12 text-muted">{texts.idle(idle, sources!.length)}</p>}
      </PageHeader>
      <ListAndPanel
        list={
          error && !sources ? (
            <ErrorState error={error} onRetry={() => void refetch()} />
          ) : !sources ? (
            <TableSkeleton />
          ) : sources.length === 0 ? (
            <EmptyState title={texts.empty} action={add}>
              {texts.emptyBody}
            </EmptyState>
          ) : (
            <SourceTable sources={sources} openId={openId} onOpen={open} />
          )
        }
        panel={
          addition || opened ? (
            <>
              <div className="flex min-h-11 items-center gap-2 border-b px-4 py-1.5">
                {opened && !isEdited && (
                  <SourceActions
                    key={opened.id}
                    source={opened}
                    onEdit={() => open(opened.id, true)}
                    onDelete={() => open(undefined)}
                  />
                )}
                <IconButton label={common.close} onClick={close} className="ml-auto self-start">
                  <X className="size-4" aria-hidden />
                </IconButton>
              </div>
              <div
                className="min-h-0 grow overflow-y-auto"
                key={opened?.id ?? 'new'}
                data-scroll-restoration-id={openId}
              >
                {opened && isEdited ? (
                  <EditSource source={opened} onSaved={() => open(opened.id)} />
                ) : opened ? (
                  <SourceView source={opened} />
                ) : (
                  addition && <AddSource form={addition} sources={sources ?? []} onForm={open} onAdd={open} />
                )}
              </div>
            </>
          ) : null
        }
      />
    </>
  );
}
