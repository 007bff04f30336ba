import { useMemo } from 'react';
import { cutSegments, type Mark } from '../../lib/passages.ts';

/** The passage that the reader wants to see in a text, by the key of its marks, and the function to call when the reader chooses another. */
export type PassageProps = { shown: string | undefined; onShow: (subject: string | undefined) => void };

/** `onShow` can be left out if all marks are of what is shown. */
type Props = {
  text: string;
  marks: readonly Mark[];
  /** Characters shown. */
  limit?: number;
  shown: string | undefined;
  onShow?: PassageProps['onShow'] | undefined;
};

/** A text in which what was read from it is underlined, and what the reader asked for is highlighted. */
export function MarkedPieces({ text, marks, limit = Infinity, shown, onShow }: Props) {
  const segments = useMemo(() => cutSegments(text, marks), [text, marks]);
  return segments
    .filter(({ start }) => start < limit)
    .map(({ text: piece, start, keys }) =>
      keys.length === 0 ? (
        <span key={start}>{start + piece.length > limit ? piece.slice(0, limit - start) : piece}</span>
      ) : shown !== undefined && keys.includes(shown) ? (
        <mark key={start} className="rounded-small box-decoration-clone px-0.5 -mx-0.5">
          {piece}
        </mark>
      ) : (
        <span
          key={start}
          // A click is a shortcut. The buttons beside the subjects do the same for the keyboard.
          onClick={() => onShow?.(keys.at(-1))}
          className="cursor-pointer underline decoration-line-strong decoration-dotted underline-offset-3"
        >
          {piece}
        </span>
      ),
    );
}
