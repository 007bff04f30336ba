import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { itemQuery, type FeedItem } from '../../../api/feed.ts';
import { texts } from '../../../texts/feed.ts';
import { Section } from '../../../ui/section.tsx';
import { ErrorState, Skeleton } from '../../../ui/states.tsx';
import { ItemGroup } from './item-group.tsx';
import { ItemHeader } from './item-header.tsx';
import { ItemText } from '../text/item-text.tsx';
import { Readers } from './readers.tsx';
import { RelevanceReasons } from './relevance-reasons.tsx';
import { SeverityBasis } from './severity-basis.tsx';
import { Sightings } from './sightings.tsx';
import { ItemIndicators } from './item-indicators.tsx';
import { AdviceList, AttackPath } from './statements.tsx';
import { PrintedRules } from './printed-rules.tsx';
import { NameList } from './name-list.tsx';
import { TechniqueList } from './technique-list.tsx';
import { Versions } from './versions.tsx';

type Props = {
  id: string;
  /** The item of the list, shown until the details arrive. */
  listed: FeedItem | undefined;
  /** Shows the text beside the details rather than below them. */
  isWide?: boolean;
};

/** In a wide window the text and the details scroll on their own, so that a passage is visible beside what was read from it. */
const column = 'flex min-w-0 flex-col gap-6 px-4 py-5 lg:overflow-y-auto';

/** Everything about an item of the feed. */
export function ItemView({ id, listed, isWide = false }: Props) {
  const { data, error, refetch } = useQuery(itemQuery(id));
  const [shown, setShown] = useState<string>();
  const item = data ?? listed;
  if (error && !item) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!item) return <ItemSkeleton />;
  const details = (
    <>
      <AdviceList item={item} shown={shown} onShow={setShown} />
      {data && <SeverityBasis item={data} shown={shown} onShow={setShown} />}
      <AttackPath item={item} shown={shown} onShow={setShown} />
      <TechniqueList item={item} shown={shown} onShow={setShown} />
      <ItemIndicators item={item} shown={shown} onShow={setShown} />
      <NameList item={item} predictions={data?.predictions} shown={shown} onShow={setShown} />
      {data && <PrintedRules id={id} version={data.version} />}
      {data && <Readers id={id} version={data.version} />}
    </>
  );
  const others = (
    <>
      <Sightings id={id} />
      {data ? (
        <>
          <ItemGroup item={data} />
          <Versions item={data} />
        </>
      ) : (
        <Section title={texts.versions}>
          <Skeleton className="h-12" />
        </Section>
      )}
    </>
  );
  const text = <ItemText item={item} shown={shown} onShow={setShown} />;
  return (
    <article
      className={
        isWide
          ? 'grid lg:h-full lg:grid-cols-[minmax(0,1fr)_28rem] 2xl:grid-cols-[56rem_36rem] lg:grid-rows-[minmax(0,1fr)]'
          : 'flex flex-col gap-6 px-4 py-5'
      }
    >
      {isWide ? (
        <>
          <div className={column}>
            <ItemHeader item={item} shown={shown} onShow={setShown} />
            {text}
          </div>
          <div className={`${column} lg:border-l`}>
            <RelevanceReasons item={item} />
            {details}
            {others}
          </div>
        </>
      ) : (
        <>
          <ItemHeader item={item} shown={shown} onShow={setShown} />
          <RelevanceReasons item={item} />
          {details}
          {others}
          {text}
        </>
      )}
    </article>
  );
}

function ItemSkeleton() {
  return (
    <div className="flex flex-col gap-3 px-4 py-5">
      <Skeleton className="h-5 w-3/4" />
      <Skeleton className="h-4 w-1/2" />
      <Skeleton className="h-16" />
      <Skeleton className="h-28" />
    </div>
  );
}
