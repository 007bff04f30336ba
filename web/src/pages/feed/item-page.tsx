import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { itemQuery } from '../../api/feed.ts';
import { useHotkeys } from '../../lib/hotkeys.ts';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts } from '../../texts/feed.ts';
import { ItemView } from './item/item-view.tsx';
import { RelevanceBar } from './relevance-bar.tsx';
import { useOverride } from './use-override.ts';

const route = getRouteApi('/shell/feed/$id');

/** One item of the feed as a page of its own, with its text beside what was read from it. */
export function ItemPage() {
  const { id } = route.useParams();
  const { data: item } = useQuery(itemQuery(id));
  const [pending, setPending] = useState<'relevant' | 'irrelevant' | null>(null);
  const { judge, undo } = useOverride();
  useHotkeys({
    Escape: () => history.back(),
    1: () => item && setPending('relevant'),
    2: () => item && setPending('irrelevant'),
    u: undo,
  });
  return (
    <>
      <PageHeader
        title={texts.one}
        tabTitle={item?.event.title}
        parent={
          <Link to="/feed" className="text-muted hover:text-ink">
            {texts.title}
          </Link>
        }
      >
        {item && <RelevanceBar item={item} pending={pending} onChoose={setPending} onSave={judge} />}
      </PageHeader>
      <div className="min-h-0 grow overflow-y-auto" key={id}>
        <ItemView id={id} listed={undefined} isWide />
      </div>
    </>
  );
}
