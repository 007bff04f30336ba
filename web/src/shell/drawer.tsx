import { Dialog } from '@base-ui/react/dialog';
import { texts } from '../texts/common.ts';
import { Sidebar } from './sidebar.tsx';

type Props = { onClose: () => void; onSearch: () => void };

/** The sidebar of a narrow window. */
export default function Drawer({ onClose, onSearch }: Props) {
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 bg-ink/30" />
        <Dialog.Popup aria-label={texts.menu} className="fixed inset-y-0 left-0 bg-ground shadow-float">
          <Sidebar onNavigate={onClose} onSearch={onSearch} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
