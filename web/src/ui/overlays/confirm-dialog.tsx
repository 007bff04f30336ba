import { useMutation } from '@tanstack/react-query';
import { texts } from '../../texts/common.ts';
import { Button } from '../button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { FormError } from '../forms/field.tsx';

type Props = {
  title: string;
  children: React.ReactNode;
  /** The verb on the button. */
  action: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
};

/** Asks before something that cannot be undone. It stays open, with the reason, if the request fails. */
export default function ConfirmDialog({ title, children, action, onConfirm, onClose }: Props) {
  const { mutate, error, isPending } = useMutation({ mutationFn: onConfirm, onSuccess: onClose });
  return (
    <Dialog title={title} description={children} onClose={onClose}>
      <FormError error={error} />
      <DialogActions>
        <Button onClick={onClose}>{texts.cancel}</Button>
        <Button kind="danger" disabled={isPending} onClick={() => mutate()}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
