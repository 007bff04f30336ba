import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { itemQuery, splitItem, type ItemDetail } from '../../../api/feed.ts';
import { itemStoryQuery } from '../../../api/stories.ts';
import { texts } from '../../../texts/feed.ts';
import { texts as stories } from '../../../texts/stories.ts';
import { Button } from '../../../ui/button.tsx';
import { Section } from '../../../ui/section.tsx';
import { SeverityMark } from '../../../ui/labels/severity.tsx';
import { Skeleton } from '../../../ui/states.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import { severityOf, statusOf } from '../item-fields.ts';

const shownMax = 20;

/** Other reports of the same event, and items that share an indicator, vulnerability or actor. */
export function ItemGroup({ item }: { item: ItemDetail }) {
  const client = useQueryClient();
  const { mutate: split, isPending } = useMutation({
    mutationFn: () => splitItem(item.id),
    onSuccess: () => {
      toasts.add({ title: texts.splitDone, description: item.event.title });
      return client.invalidateQueries({ queryKey: ['feed'] });
    },
    onError: (error) => toasts.add({ title: texts.notSaved, description: error.message, isError: true }),
  });
  const duplicates = [...(item.duplicateOf ? [item.duplicateOf] : []), ...item.duplicates];
  return (
    <>
      {statusOf(item) !== 'retracted' && <ItemStory id={item.id} />}
      {duplicates.length > 0 && (
        <Section
          title={texts.group}
          count={duplicates.length}
          actions={
            item.duplicateOf && (
              <Button kind="quiet" disabled={isPending} onClick={() => split()}>
                {texts.split}
              </Button>
            )
          }
        >
          <ItemLinks ids={duplicates} />
        </Section>
      )}
      {item.related.length > 0 && (
        <Section title={texts.related} count={item.related.length}>
          <ItemLinks ids={item.related} />
        </Section>
      )}
    </>
  );
}

/** Leads to the story of an item, if other reports belong to it. */
function ItemStory({ id }: { id: string }) {
  const { data } = useQuery(itemStoryQuery(id));
  if (!data || data.items.length < 2) return null;
  return (
    <Section title={stories.inStory} count={data.items.length}>
      <p className="flex flex-wrap items-center gap-x-2">
        {data.sources.map(({ publisher }) => publisher).join(' · ')}
        <Link to="/stories" search={{ story: data.id }} className="text-accent hover:underline">
          {stories.open}
        </Link>
      </p>
    </Section>
  );
}

const ItemLinks = ({ ids }: { ids: readonly string[] }) => (
  <ul className="-mx-2 flex flex-col">
    {ids.slice(0, shownMax).map((id) => (
      <li key={id}>
        <ItemLink id={id} />
      </li>
    ))}
  </ul>
);

function ItemLink({ id }: { id: string }) {
  const { data, error } = useQuery({ ...itemQuery(id), staleTime: 60_000 });
  if (error) return null;
  return (
    <Link
      to="/feed/$id"
      params={{ id }}
      className="flex h-8 items-center gap-2.5 rounded-control px-2 hover:bg-hover"
      aria-label={data?.event.title}
    >
      {data ? (
        <>
          <SeverityMark severity={severityOf(data)} />
          <span className="truncate">{data.event.title}</span>
          <span className="ml-auto flex shrink-0 gap-3 text-12 text-muted">
            {data.source.publisher}
            <RelativeTime time={data.source.publishTime ?? data.addedToFeedAt} />
          </span>
        </>
      ) : (
        <Skeleton className="h-3 w-3/4" />
      )}
    </Link>
  );
}
