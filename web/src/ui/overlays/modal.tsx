import { Dialog as Base } from '@base-ui/react/dialog';
import { useReturnTarget } from '../../lib/focus-return.ts';

type Props = {
  /** The accessible name, if there is no title. */
  label?: string;
  className: string;
  /** Where the focus goes afterwards, if that is not where it is when this first renders. */
  returnTarget?: () => HTMLElement | null;
  onClose: () => void;
  children: React.ReactNode;
};

/** Something over the page that has the focus until it closes. The focus then returns to where it was. */
export function Modal({ label, className, returnTarget, onClose, children }: Props) {
  const own = useReturnTarget();
  return (
    <Base.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-30 bg-scrim" />
        <Base.Popup aria-label={label} finalFocus={returnTarget ?? own} className={`z-30 ${className}`}>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
