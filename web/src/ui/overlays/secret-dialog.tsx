import { CodeBlock } from '../code/code-block.tsx';
import { Button } from '../button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { texts } from '../../texts/settings.ts';

type Props = { title: string; hint: string; label: string; secret: string; onClose: () => void };

/** Shows a new secret, once. It is kept nowhere but in this dialog. */
export default function SecretDialog({ title, hint, label, secret, onClose }: Props) {
  return (
    <Dialog title={title} description={hint} onClose={onClose}>
      <CodeBlock text={secret} label={label} isWrapped />
      <DialogActions>
        <Button kind="primary" onClick={onClose}>
          {texts.keys.done}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
