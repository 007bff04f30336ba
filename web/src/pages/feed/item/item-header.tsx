import { ExternalLink } from 'lucide-react';
import { Link } from '@tanstack/react-router';
import type { FeedItem } from '../../../api/feed.ts';
import { platformName } from '../../../texts/platforms.ts';
import { classes } from '../../../lib/text.ts';
import { texts } from '../../../texts/feed.ts';
import { SeverityLabel } from '../../../ui/labels/severity.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import type { PassageProps } from '../../../ui/evidence/marked-pieces.tsx';
import { FootnotedText } from './statements.tsx';
import { severityOf, statusOf, webAddress } from '../item-fields.ts';

/** The title of an item, where it comes from, and its summary. */
export function ItemHeader({ item, shown, onShow }: PassageProps & { item: FeedItem }) {
  const { source, event, tldr, summary, classification } = item;
  const status = statusOf(item);
  const address = webAddress(source.url);
  const body = summary ?? item.abstract;
  const lead = tldr && !body?.includes(tldr) ? tldr : undefined;
  return (
    <header className="flex flex-col gap-2">
      <h2 className={classes('text-15 font-strong break-words text-balance', status === 'retracted' && 'line-through')}>
        {event.title}
      </h2>
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
