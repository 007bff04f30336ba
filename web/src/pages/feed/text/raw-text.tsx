import { useState } from 'react';
import type { Mark } from '../../../lib/passages.ts';
import { formatNumber } from '../../../lib/text.ts';
import { texts } from '../../../texts/feed.ts';
import { MarkedPieces, type PassageProps } from '../../../ui/evidence/marked-pieces.tsx';

const shownFirst = 20_000;

type Props = PassageProps & { text: string; marks: readonly Mark[] };

/** The text of an item as it is stored. */
export function RawText({ text, marks, shown, onShow }: Props) {
  const [showsAll, setShowsAll] = useState(false);
  const isHidden = (marks.find(({ key }) => key === shown)?.start ?? 0) >= shownFirst;
  const limit = showsAll || isHidden ? Infinity : shownFirst;
  return (
    <>
      <div className="max-w-[72ch] break-words whitespace-pre-wrap">
        <MarkedPieces text={text} marks={marks} limit={limit} shown={shown} onShow={onShow} />
      </div>
      {limit < text.length && (
        <p className="flex gap-3 text-12 text-muted">
          {texts.longText(formatNumber(shownFirst), formatNumber(text.length))}
          <button type="button" onClick={() => setShowsAll(true)} className="text-accent hover:underline">
            {texts.showAll}
          </button>
        </p>
      )}
    </>
  );
}
