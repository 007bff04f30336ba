import { X } from 'lucide-react';
import { texts } from '../../texts/common.ts';
import { IconButton } from '../button.tsx';

type Props = { id: string; actions: React.ReactNode; onClose: () => void; children: React.ReactNode };

/** The panel beside a list: what can be done with the open entry, and the entry, which scrolls. */
export function OpenPanel({ id, actions, onClose, children }: Props) {
  return (
    <>
      <div className="flex min-h-11 shrink-0 items-center gap-1 border-b px-2 py-1.5">
        {actions}
        <span className="ml-auto flex self-start">
          <IconButton label={texts.close} onClick={onClose}>
            <X className="size-4" aria-hidden />
          </IconButton>
        </span>
      </div>
      <div className="min-h-0 grow overflow-y-auto" key={id} data-scroll-restoration-id={id}>
        {children}
      </div>
    </>
  );
}
