import { Dialog as Base } from '@base-ui/react/dialog';
import { classes } from '../../lib/text.ts';
import { Modal } from './modal.tsx';

type Props = {
  title: string;
  description?: React.ReactNode;
  isWide?: boolean;
  onClose: () => void;
  children: React.ReactNode;
};

/** A dialog in the middle of the window, and over all of a narrow one's width. Load it with `lazy`. */
export function Dialog({ title, description, isWide, onClose, children }: Props) {
  return (
    <Modal
      onClose={onClose}
      className={classes(
        'fixed top-1/2 left-1/2 flex max-h-[calc(100dvh-2rem)] -translate-x-1/2 -translate-y-1/2 flex-col overflow-y-auto rounded-control bg-raised p-5 shadow-float outline-none',
        isWide ? 'w-[min(44rem,calc(100vw-2rem))]' : 'w-[min(30rem,calc(100vw-2rem))]',
      )}
    >
      <Base.Title className="text-15 font-strong break-words">{title}</Base.Title>
      {description && <Base.Description className="pt-1 text-muted">{description}</Base.Description>}
      <div className="pt-4">{children}</div>
    </Modal>
  );
}

/** The buttons at the end of a dialog. */
export function DialogActions({ children }: { children: React.ReactNode }) {
  return <div className="flex flex-wrap justify-end gap-2 pt-2">{children}</div>;
}
