import type { ExcerptSegment } from '../../../lib/excerpt.ts';

/** A text of a search result, with what matches highlighted. Segments are plain text, whatever markup they contain. */
export function MatchLine({ segments }: { segments: readonly ExcerptSegment[] }) {
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
