import { lazy, Suspense, useId, useRef, useState } from 'react';
import type { MenuEntry } from './menu-popup.tsx';

const MenuPopup = lazy(() => import('./menu-popup.tsx'));

type Props = {
  /** The accessible name, if the content of the button cannot serve as one. */
  label?: string;
  entries: readonly MenuEntry[];
  side?: 'top' | 'bottom';
  align?: 'start' | 'end';
  className?: string;
  disabled?: boolean;
  children: React.ReactNode;
};

/** Whether a click in a row was on a menu or its button, and so does not open the row. The events of a menu reach the row although it is elsewhere in the page. */
export const isFromMenu = ({ target, currentTarget }: React.MouseEvent): boolean =>
  !currentTarget.contains(target as Node) || (target as Element).closest('[aria-haspopup=menu]') !== null;

/** A button that opens a menu of actions or choices. The code of menus is loaded when the first one opens. */
export function MenuButton({ label, entries, side = 'bottom', align = 'start', className, disabled, children }: Props) {
  const [isOpen, setIsOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  return (
    <>
      <button
        ref={button}
        id={id}
        type="button"
        disabled={disabled}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={label}
        className={className}
        onClick={() => setIsOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          setIsOpen(true);
        }}
      >
        {children}
      </button>
      <Suspense>
        {isOpen && (
          <MenuPopup anchor={button} labelId={id} onClose={() => setIsOpen(false)} {...{ entries, side, align }} />
        )}
      </Suspense>
    </>
  );
}
