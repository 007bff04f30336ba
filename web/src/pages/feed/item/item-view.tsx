import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ExternalLink } from 'lucide-react';
import { Link } from '@tanstack/react-router';
import { itemQuery, type FeedItem, sightingsQuery } from '../../../api/feed.ts';
import { texts } from '../../../texts/feed.ts';
import { translatedTexts } from '../../../texts/reading.ts';
import { Section } from '../../../ui/section.tsx';
import { ErrorState, Skeleton } from '../../../ui/states.tsx';
import { ItemGroup } from './item-group.tsx';
import { ItemRehearsal } from './item-rehearsal.tsx';
import { ItemText } from '../text/item-text.tsx';
import { Readers } from './readers.tsx';
import { RelevanceReasons } from './relevance-reasons.tsx';
import { SeverityBasis } from './severity-basis.tsx';
import { AdviceList, AttackPath, FootnotedText } from './statements.tsx';
import { PrintedRules } from './printed-rules.tsx';
import { NameList } from './name-list.tsx';
import { TechniqueList } from './technique-list.tsx';
import { Versions } from './versions.tsx';
import { platformName } from '../../../texts/platforms.ts';
import { classes } from '../../../lib/text.ts';
import { SeverityLabel } from '../../../ui/labels/severity.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import type { PassageProps } from '../../../ui/evidence/marked-pieces.tsx';
import { severityOf, statusOf, webAddress, indicatorsOf } from '../item-fields.ts';
import { enrichmentsMax, enrichmentsQuery } from '../../../api/enrichers.ts';
import { texts as enrichers } from '../../../texts/enrichers.ts';
import { Button } from '../../../ui/button.tsx';
import { IndicatorTable } from '../../../ui/indicators/indicator-table.tsx';
import { PassageButton } from './passage-button.tsx';
import { Sighting } from '../../../ui/evidence/sighting.tsx';

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
      {data && <ItemRehearsal item={data} />}
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

/** The title of an item, where it comes from, and its summary. */
function ItemHeader({ item, shown, onShow }: PassageProps & { item: FeedItem }) {
  const { source, event, tldr, summary, classification } = item;
  const { readBy } = item.provenance;
  const status = statusOf(item);
  const address = webAddress(source.url);
  const body = summary ?? item.abstract;
  const lead = tldr && !body?.includes(tldr) ? tldr : undefined;
  return (
    <header className="flex flex-col gap-2">
      <h2 className={classes('text-15 font-strong break-words text-balance', status === 'retracted' && 'line-through')}>
        {event.title}
      </h2>
      {readBy?.title && (
        <p className="break-words text-muted">
          <span lang={readBy.language}>{readBy.title}</span> ({translatedTexts.byModel})
        </p>
      )}
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-12 text-muted">
        <SeverityLabel severity={severityOf(item)} />
        {status !== 'active' && <span className="font-strong text-ink">{texts.status[status]}</span>}
        <Link to="/feed" search={{ source: source.publisher }} className="hover:text-ink hover:underline">
          {source.publisher}
        </Link>
        <RelativeTime time={source.publishTime ?? item.addedToFeedAt} />
        <span>TLP:{source.tlp}</span>
        {classification.platforms.length > 0 && <span>{classification.platforms.map(platformName).join(', ')}</span>}
        {address && (
          <a
            href={address}
            target="_blank"
            rel="noopener noreferrer"
            className="inline-flex items-center gap-1 text-accent hover:underline"
          >
            {texts.openReport}
            <ExternalLink className="size-3" aria-hidden />
          </a>
        )}
      </div>
      {lead && (
        <p className="max-w-[72ch] font-strong break-words">
          <FootnotedText item={item} field="tldr" text={lead} shown={shown} onShow={onShow} />
        </p>
      )}
      {body && (
        <p className="max-w-[72ch] break-words whitespace-pre-line">
          <FootnotedText item={item} field="summary" text={body} shown={shown} onShow={onShow} />
        </p>
      )}
    </header>
  );
}

/** The indicators of an item. Each shows where the text mentions it. What enrichers know of them is looked up on request, because it may cost something. */
function ItemIndicators({ item, shown, onShow }: PassageProps & { item: FeedItem }) {
  const rows = indicatorsOf(item);
  const values = rows.flatMap(({ type, normalizedValue }) => (enrichable.test(type) ? [normalizedValue] : []));
  const first = [...new Set(values)].slice(0, enrichmentsMax);
  const { data, error, isFetching, refetch } = useQuery({ ...enrichmentsQuery(first), enabled: false });
  return (
    <>
      <IndicatorTable
        rows={rows.map(({ correction, ...indicator }) => ({
          ...indicator,
          detail: correction && texts.correction(correction),
        }))}
        fileName={`indicators-${item.id}`}
        renderEnd={({ normalizedValue, value }) => (
          <PassageButton subject={`indicator:${normalizedValue}`} label={value} shown={shown} onShow={onShow} />
        )}
      />
      {first.length > 0 && data === undefined && (
        <Button className="self-start" disabled={isFetching} onClick={() => void refetch()}>
          {enrichers.lookUp(first.length)}
        </Button>
      )}
      {error && <p className="text-12 text-bad">{error.message}</p>}
      {data?.length === 0 && <p className="text-12 text-muted">{enrichers.unknown}</p>}
      {data?.map(({ enricher, value, fields, at }) => (
        <p key={`${enricher} ${value}`} className="text-12 break-words">
          <span className="font-mono">{value}</span> {Object.values(fields).join(', ')}{' '}
          <span className="text-muted">
            {enricher} · {enrichers.asOf} <RelativeTime time={at} />
          </span>
        </p>
      ))}
    </>
  );
}

/** The types of indicators that enrichers look up. */
const enrichable = /^(?:ip|domain|hash|md5|sha)/;

/** The rows of the organization's logs that contain an indicator of the item. */
function Sightings({ id }: { id: string }) {
  const { data, error } = useQuery(sightingsQuery(id));
  return (
    <Section title={texts.sightings} count={data?.sightings.length || undefined}>
      {error ? (
        <p className="text-muted">{error.message}</p>
      ) : !data ? (
        <Skeleton className="h-8" />
      ) : data.sightings.length === 0 ? (
        <p className="text-muted">{texts.noSightings}</p>
      ) : (
        <ul className="flex flex-col text-12">
          {data.sightings.map((sighting, index) => (
            <Sighting key={index} sighting={sighting} showsValue />
          ))}
        </ul>
      )}
      <p className="mt-2 text-12 text-muted">{texts.sightingsNote}</p>
    </Section>
  );
}
