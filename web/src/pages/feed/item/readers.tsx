import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { itemReadingQuery, type ItemReader, type ReaderClaim } from '../../../api/feed.ts';
import { texts } from '../../../texts/reading.ts';
import { SegmentedControl } from '../../../ui/forms/segmented-control.tsx';
import { ShowMore } from '../../../ui/lists/show-more.tsx';
import { Section } from '../../../ui/section.tsx';

const claimsShown = 8;

/** What the lexicon and a model read in an item, side by side, each claim with its passage. Nothing if no model reads it. */
export function Readers({ id, version }: { id: string; version: number }) {
  const { data } = useQuery(itemReadingQuery(id, version));
  const [shown, setShown] = useState('both');
  if (!data || data.state === 'none') return null;
  const readers = data.readers.filter(({ reader }) => shown === 'both' || shown === reader);
  return (
    <Section
      title={texts.title}
      actions={<SegmentedControl label={texts.shownLabel} options={texts.shown} value={shown} onChange={setShown} />}
    >
      {texts.states[data.state] && (
        <p className="text-12 text-muted">
          {texts.states[data.state]} {data.problem}
        </p>
      )}
      <div className={readers.length > 1 ? 'grid gap-4 sm:grid-cols-2' : 'grid gap-4'}>
        {readers.map((reader) => (
          <ReaderClaims key={reader.reader} reader={reader} />
        ))}
      </div>
    </Section>
  );
}

function ReaderClaims({ reader: { reader, model, claims, dropped, unreadParts } }: { reader: ItemReader }) {
  const [isWhole, setIsWhole] = useState(false);
  const distinct = [...new Map(claims.map((claim) => [`${claim.field} ${claim.kind} ${claim.value}`, claim])).values()];
  const droppedCount = Object.values(dropped).reduce((sum, count) => sum + count, 0);
  return (
    <div className="flex min-w-0 flex-col gap-1 text-12">
      <p className="font-strong">
        {texts.names[reader]}
        {model && <span className="font-normal text-muted"> {model}</span>}
      </p>
      {claims.length === 0 && <p className="text-muted">{texts.nothing}</p>}
      <ul className="flex flex-col gap-1.5">
        {distinct.slice(0, isWhole ? undefined : claimsShown).map((claim) => (
          <ClaimEntry key={`${claim.field} ${claim.kind} ${claim.value}`} claim={claim} />
        ))}
      </ul>
      {!isWhole && distinct.length > claimsShown && (
        <ShowMore onClick={() => setIsWhole(true)}>{texts.more(distinct.length - claimsShown)}</ShowMore>
      )}
      {droppedCount > 0 && <p className="text-muted">{texts.dropped(droppedCount)}</p>}
      {unreadParts > 0 && <p className="text-muted">{texts.unread(unreadParts)}</p>}
    </div>
  );
}

function ClaimEntry({ claim: { field, value, kind, quote, decides } }: { claim: ReaderClaim }) {
  return (
    <li className="flex min-w-0 flex-col">
      <span className="break-words">
        <span className="text-muted">{texts.fields[field] ?? field}: </span>
        <span className={decides ? '' : 'line-through'}>{value}</span>
        {kind && <span className="text-muted"> ({kind})</span>}
        {!decides && <span className="text-muted"> {texts.overruled}</span>}
      </span>
      {quote.text !== value && <q className="line-clamp-2 break-words text-muted">{quote.text}</q>}
    </li>
  );
}
