import { TextSearch } from 'lucide-react';
import { texts } from '../../../texts/feed.ts';
import { IconButton } from '../../../ui/button.tsx';
import type { PassageProps } from '../../../ui/evidence/marked-pieces.tsx';

/** Shows where the text mentions a subject, or hides it again. */
export function PassageButton({ subject, label, shown, onShow }: PassageProps & { subject: string; label: string }) {
  const isShown = shown === subject;
  return (
    <IconButton
      label={texts.showPassage(label)}
      aria-pressed={isShown}
      onClick={() => onShow(isShown ? undefined : subject)}
      className={isShown ? 'bg-selected text-ink' : ''}
    >
      <TextSearch className="size-3.5" aria-hidden />
    </IconButton>
  );
}
