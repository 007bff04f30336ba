import { X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/common.ts';

type Action = { label: string; run: () => void };

export type ToastMessage = {
  id: number;
  title: string;
  description?: string;
  isError?: boolean;
  action?: Action;
  /** What one may like to do next, below the message. */
  next?: Action | undefined;
};

const shownMs = 8000;

type Props = { messages: readonly ToastMessage[]; onRemove: (id: number) => void };

/** The messages, the latest at the bottom. A message stays while the pointer or the focus is on it. */
export default function ToastList({ messages, onRemove }: Props) {
  return messages.map((message) => <Message key={message.id} message={message} onRemove={onRemove} />);
}

function Message({ message, onRemove }: { message: ToastMessage } & Pick<Props, 'onRemove'>) {
  const [isHeld, setIsHeld] = useState(false);
  const { id } = message;
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => onRemove(id), shownMs);
    return () => clearTimeout(timer);
  }, [id, isHeld, onRemove]);
  const { title, description, isError, action, next } = message;
  return (
    <div
      onPointerEnter={() => setIsHeld(true)}
      onPointerLeave={() => setIsHeld(false)}
      onFocus={() => setIsHeld(true)}
      onBlur={() => setIsHeld(false)}
      className="mt-2 grid animate-[appear_140ms] grid-cols-[1fr_auto_auto] items-center gap-x-3 rounded-control bg-raised p-3 shadow-float"
    >
      <p className={classes('font-strong', isError && 'text-bad')}>{title}</p>
      {action && <ActionButton action={action} onDone={() => onRemove(id)} />}
      <button aria-label={texts.close} onClick={() => onRemove(id)} className="col-start-3 text-faint hover:text-ink">
        <X className="size-3.5" aria-hidden />
      </button>
      {description && <p className="col-span-3 truncate text-12 text-muted">{description}</p>}
      {next && (
        <span className="col-span-3 pt-1">
          <ActionButton action={next} onDone={() => onRemove(id)} />
        </span>
      )}
    </div>
  );
}

function ActionButton({ action, onDone }: { action: Action; onDone: () => void }) {
  return (
    <button
      onClick={() => {
        action.run();
        onDone();
      }}
      className="font-strong text-accent"
    >
      {action.label}
    </button>
  );
}
