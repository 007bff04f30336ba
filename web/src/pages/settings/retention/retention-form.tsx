import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { changeRetention, retentionKinds, retentionQuery, type Retention } from '../../../api/access.ts';
import { texts as common } from '../../../texts/common.ts';
import { texts as all } from '../../../texts/settings.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/overlays/dialog.tsx';
import { findFieldError, FormError, TextField } from '../../../ui/forms/field.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import { RestoredDraft, useDraft } from '../../../ui/forms/use-draft.tsx';

const texts = all.retention;

type Props = { retention: Retention; onClose: () => void };

/** Changes how long the organization keeps its data. An empty field is as long as the operator allows. */
export default function RetentionForm({ retention: { allowed, own, ...keep }, onClose }: Props) {
  const client = useQueryClient();
  const [days, setDays, draft] = useDraft('retention', own);
  const [seen] = useState(keep);
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => changeRetention(seen, days),
    onSuccess: (changed) => {
      client.setQueryData(retentionQuery.queryKey, changed);
      draft.reset();
      toasts.add({ title: texts.changed });
      onClose();
    },
  });
  const deletes = retentionKinds.some((kind) => (days[kind] ?? allowed[kind]) < keep[kind]);
  return (
    <Dialog title={texts.change} description={texts.changeBody} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        {retentionKinds.map((kind) => (
          <TextField
            key={kind}
            label={texts.kinds[kind]}
            hint={texts.atMost(allowed[kind])}
            error={findFieldError(error, `/${kind}`)}
            type="number"
            step={1}
            className="tabular"
            placeholder={String(allowed[kind])}
            value={days[kind] ?? ''}
            onChange={({ target }) => setDays({ ...days, [kind]: target.value === '' ? null : target.valueAsNumber })}
          />
        ))}
        <FormError error={error} shown={retentionKinds.map((kind) => `/${kind}`)} />
        <RestoredDraft draft={draft} />
        <DialogActions>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" kind={deletes ? 'danger' : 'primary'} disabled={isPending}>
            {deletes ? texts.saveAndDelete : common.save}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
