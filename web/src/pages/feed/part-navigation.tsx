import { ChevronLeft, ChevronRight } from 'lucide-react';
import type { FeedItem } from '../../api/feed.ts';
import { texts } from '../../texts/feed.ts';
import { IconButton } from '../../ui/button.tsx';
import { readPart, type FeedEntry } from './list/fold-parts.ts';

type Props = { entry: FeedEntry; item: FeedItem; onOpen: (id: string) => void };

/** Leads through the parts of a long document that the list shows as one row. */
export function PartNavigation({ entry: { items, document }, item, onOpen }: Props) {
  const part = readPart(item);
  if (!document || !part) return null;
  const index = items.findIndex(({ id }) => id === item.id);
  const previous = items[index - 1];
  const next = items[index + 1];
  return (
    <nav aria-label={texts.parts.label} className="flex items-center gap-1 border-b px-4 py-1 text-12 text-muted">
      <span className="tabular mr-auto">{texts.parts.one(part.number, document.count)}</span>
      <IconButton label={texts.parts.previous} disabled={!previous} onClick={() => previous && onOpen(previous.id)}>
        <ChevronLeft className="size-4" aria-hidden />
      </IconButton>
      <IconButton label={texts.parts.next} disabled={!next} onClick={() => next && onOpen(next.id)}>
        <ChevronRight className="size-4" aria-hidden />
      </IconButton>
    </nav>
  );
}
