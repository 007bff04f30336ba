import { texts } from '../texts/common.ts';
import { Modal } from '../ui/overlays/modal.tsx';
import { Sidebar } from './sidebar.tsx';

type Props = { onClose: () => void; onSearch: () => void };

/** The sidebar of a narrow window. */
export default function Drawer({ onClose, onSearch }: Props) {
  return (
    <Modal label={texts.menu} onClose={onClose} className="fixed inset-y-0 left-0 bg-ground shadow-float">
      <Sidebar onNavigate={onClose} onSearch={onSearch} />
    </Modal>
  );
}
