import { classes, countOf } from '../../../lib/text.ts';
import { texts } from '../../../texts/feed.ts';
import { SeverityMark } from '../../../ui/labels/severity.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { indicatorsOf, severityOf, statusOf, techniqueIdOf } from '../item-fields.ts';
import type { FeedEntry } from './fold-parts.ts';
import type { SearchMatches } from './search-matches.ts';
import { VerdictLabel } from '../verdict.tsx';
import type { ExcerptSegment } from '../../../lib/excerpt.ts';

export const feedRowHeight = 52;
/** The height of a row with an excerpt, in pixels. */
export const matchedRowHeight = 72;

type Props = {
  entry: FeedEntry;
  matches: SearchMatches | undefined;
  isSelected: boolean;
  isFirst: boolean;
  onOpen: () => void;
  onHover: () => void;
};

export function FeedRow({ entry, matches, isSelected, isFirst, onOpen, onHover }: Props) {
  const item = entry.items[0]!;
  const status = statusOf(item);
  const verdict = item.tenantOverrides?.relevance?.verdict;
  return (
    <button
      role="option"
      aria-selected={isSelected}
      tabIndex={isSelected || isFirst ? 0 : -1}
      onClick={onOpen}
      onPointerEnter={onHover}
      className={classes(
        'grid h-full w-full grid-cols-[auto_1fr_auto] items-center gap-x-3 border-b pr-row-end pl-4 text-left -outline-offset-2',
        isSelected ? 'bg-selected' : 'hover:bg-hover',
      )}
    >
      <SeverityMark severity={severityOf(item)} />
      <span className="min-w-0">
        <span className={classes('block truncate', status === 'retracted' && 'text-muted line-through')}>
          {matches?.title ? <MatchLine segments={matches.title} /> : (entry.document?.title ?? item.event.title)}
        </span>
        <span className="block truncate text-12 text-muted">{summarize(entry)}</span>
        {matches?.excerpt && (
          <span className="block truncate text-12 text-muted">
            <MatchLine segments={matches.excerpt} />
          </span>
        )}
      </span>
      <span className="flex flex-col items-end gap-px text-12 text-muted">
        <RelativeTime time={item.source.publishTime ?? item.addedToFeedAt} />
        {status !== 'active' ? (
          <span>{texts.status[status]}</span>
        ) : (
          verdict && verdict !== 'irrelevant' && <VerdictLabel verdict={verdict} />
        )}
      </span>
    </button>
  );
}

/** The line below the title: who published it, and what it contains. */
function summarize({ items, document }: FeedEntry): string {
  const item = items[0]!;
  const indicators = items.reduce((sum, one) => sum + indicatorsOf(one).length, 0);
  const techniques = item.classification.attack;
  return [
    item.source.publisher,
    ...(document ? [texts.parts.count(items.length, document.count)] : []),
    ...item.classification.actor.slice(0, 1).map(({ name }) => name),
    ...(indicators > 0 ? [countOf(indicators, 'indicator')] : []),
    ...(techniques.length === 1 ? [techniqueIdOf(techniques[0]!)] : []),
    ...(techniques.length > 1 ? [countOf(techniques.length, 'technique')] : []),
  ].join(' · ');
}

/** A text of a search result, with what matches highlighted. Segments are plain text, whatever markup they contain. */
function MatchLine({ segments }: { segments: readonly ExcerptSegment[] }) {
  return segments.map(({ text, isMatch }, index) =>
    isMatch ? (
      <mark key={index} className="rounded-small">
        {text}
      </mark>
    ) : (
      <span key={index}>{text}</span>
    ),
  );
}
