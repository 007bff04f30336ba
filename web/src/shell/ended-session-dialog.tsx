import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { sessionQuery, signInMeta, signInWithKey, singleSignOnQuery } from '../api/session.ts';
import { texts } from '../texts/sign-in.ts';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/overlays/dialog.tsx';
import { TextField } from '../ui/forms/field.tsx';

type Props = { wasSending: boolean; onClose: () => void };

/** Signs in without leaving the page. With a key of another organization, the page is loaded anew. */
export default function EndedSessionDialog({ wasSending, onClose }: Props) {
  const client = useQueryClient();
  const [key, setKey] = useState('');
  const ssoUrl = useQuery(singleSignOnQuery).data?.url;
  const goOn = async (): Promise<void> => {
    const before = client.getQueryData(sessionQuery.queryKey)?.organization.id;
    const { organization } = await client.fetchQuery({ ...sessionQuery, staleTime: 0 });
    if (before !== organization.id) return location.reload();
    onClose();
    await client.invalidateQueries();
  };
  const { mutate, error, isPending } = useMutation({ mutationFn: signInWithKey, meta: signInMeta, onSuccess: goOn });
  useEffect(() => {
    // Single sign-on happens in another tab.
    const check = (): void => void goOn().catch(() => undefined);
    window.addEventListener('focus', check);
    return () => window.removeEventListener('focus', check);
  });
  return (
    <Dialog
      title={texts.ended.title}
      description={wasSending ? texts.ended.notSaved : texts.ended.description}
      onClose={onClose}
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          mutate(key.trim());
        }}
      >
        <TextField
          label={texts.keyLabel}
          hint={texts.keyHint}
          error={error?.message}
          type="password"
          autoComplete="off"
          required
          autoFocus
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
        <DialogActions>
          {ssoUrl && (
            <ButtonLink href={ssoUrl} target="_blank" rel="noreferrer">
              {texts.singleSignOn}
            </ButtonLink>
          )}
          <Button kind="primary" type="submit" disabled={isPending}>
            {isPending ? texts.working : texts.submit}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
