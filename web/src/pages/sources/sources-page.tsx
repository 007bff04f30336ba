import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useEffect, useState } from 'react';
import { sourcesQuery, sourceWorthQuery, changeSource, type Source } from '../../api/sources.ts';
import { useOpenKeys } from '../../lib/list-keys.ts';
import { FeedLinks } from '../../shell/section-links.tsx';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts } from '../../texts/sources.ts';
import { Button } from '../../ui/button.tsx';
import { ListAndPanel } from '../../ui/lists/list-panel.tsx';
import { OpenPanel } from '../../ui/lists/open-panel.tsx';
import { TableSkeleton } from '../../ui/lists/table-skeleton.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { AddSource } from './add-source.tsx';
import { SourceActions } from './source-actions.tsx';
import { SourceTable } from './source-table.tsx';
import { SourceView } from './source-view.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { toChange, toDraft, type SourceDraft } from './source-draft.ts';
import { SourceForm } from './source-form.tsx';
import type { Draft } from '../../ui/forms/use-draft.tsx';

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
            <OpenPanel
              id={opened?.id ?? 'new'}
              actions={
                opened &&
                !isEdited && (
                  <SourceActions
                    key={opened.id}
                    source={opened}
                    onEdit={() => open(opened.id, true)}
                    onDelete={() => open(undefined)}
                  />
                )
              }
              onClose={close}
            >
              {opened && isEdited ? (
                <EditSource source={opened} onSaved={() => open(opened.id)} />
              ) : opened ? (
                <SourceView source={opened} />
              ) : (
                addition && <AddSource form={addition} sources={sources ?? []} onForm={open} onAdd={open} />
              )}
            </OpenPanel>
          ) : null
        }
      />
    </>
  );
}

type Props = { source: Source; onSaved: () => void };

/** Changes the settings of a source. Its kind and visibility stay. */
function EditSource({ source, onSaved }: Props) {
  const [seen] = useState(source);
  const { mutate, isPending, error } = useChange({
    change: ({ draft }: { draft: SourceDraft; kept: Draft }) => changeSource(seen, toChange(draft)),
    refresh: [['sources', 'list']],
    done: (_source, { kept }) => {
      kept.reset();
      return texts.saved;
    },
  });
  return (
    <div className="flex flex-col gap-6 px-4 py-5">
      <h2 className="text-15 font-strong break-words">{texts.editTitle(source.name)}</h2>
      <SourceForm
        initial={toDraft(seen)}
        source={source}
        isPending={isPending}
        error={error}
        onSave={(draft, kept) => mutate({ draft, kept }, { onSuccess: onSaved })}
      />
    </div>
  );
}
